import * as v from 'valibot';
import { positionAfter, type ReaderPosition } from '../files/reader.ts';
import type { Submission } from '../model.ts';
import { NotPreparedError } from '../prepare/not-prepared.ts';
import { createMapper } from '../profiles/mapping.ts';
import { contentOf, usedFieldsOf, type ContentOptions } from '../records/content.ts';
import { openSource, readSource, type SourceItem } from '../source/source-reader.ts';
import { UnreadableSourceError } from '../source/unreadable-source.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { TimeBudget } from '../time.ts';
import { ProblemError } from './problems.ts';
import type { RecordView } from './schemas.ts';

/** Where the next page begins to read. Whoever forges it reads another place of the same file. */
export const placeSchema = v.object({
  byteOffset: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  recordNo: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  line: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
});

/** Time that is kept for reading rows and answering. */
const ANSWER_RESERVE_MS = 8_000;
/** When a file that is being unpacked is asked for again. */
const RETRY_SECONDS = 5;
/** Codes of a file that is not there to be read: that says nothing about its records. */
const LOST: ReadonlySet<string> = new Set(['FILE_MISSING', 'FILE_CHANGED']);

/** Records of a file that have an identifier. */
export interface Identified {
  found: Pick<RecordView, 'recordNo' | 'line' | 'record' | 'used'>[];
  /** Where the file was left; undefined at its end. */
  next?: ReaderPosition;
}

/**
 * Finds records by their identifier, as the profile makes it. No table knows identifiers, so the file is read until there are enough or the
 * time is over; the next page continues there.
 *
 * @throws ProblemError `not_ready` while the file is being unpacked
 */
export async function findByIdentifier(
  deps: { objects: ObjectStore },
  submission: Submission,
  wanted: { recordId: string; from: ReaderPosition | undefined; limit: number },
  budget: TimeBudget,
): Promise<Identified> {
  const identified: Identified = { found: [] };
  try {
    const { start, dialect } = await openSource(deps, submission);
    const { mapping } = submission.terms;
    const content = { mapper: mapping && createMapper(mapping), header: dialect?.header };
    const options = { ...(dialect && { dialect }) };
    for await (const items of readSource(deps, submission, wanted.from ?? start, options)) {
      const isFull = collect(identified, items, content, { ...wanted, idField: mapping?.idField ?? 'record_id' });
      if (isFull) return identified;
      const last = items.at(-1);
      if (last && budget.remainingMs() < ANSWER_RESERVE_MS) return { ...identified, next: positionAfter(last) };
    }
    return identified;
  } catch (error) {
    if (error instanceof NotPreparedError) throw notPrepared(error);
    // Records behind the place from which a file cannot be read do not exist.
    if (error instanceof UnreadableSourceError && !LOST.has(error.code)) return identified;
    throw error;
  }
}

/** Adds the records of a batch that have the identifier; true when there are enough, and the rest of the file is for the next page. */
function collect(
  identified: Identified,
  items: readonly SourceItem[],
  options: ContentOptions,
  { idField, recordId, limit }: { idField: string; recordId: string; limit: number },
): boolean {
  for (const item of items) {
    const content = contentOf(item, options);
    const id = usedFieldsOf(content)?.[idField];
    if (content.kind === 'defect' || (typeof id !== 'string' && typeof id !== 'number') || String(id) !== recordId)
      continue;
    const { recordNo, line } = item;
    identified.found.push({
      recordNo,
      line,
      record: content.fields,
      ...(content.kind === 'mapped' && { used: content.used }),
    });
    if (identified.found.length < limit) continue;
    identified.next = positionAfter(item);
    return true;
  }
  return false;
}

const notPrepared = (cause: NotPreparedError): ProblemError =>
  new ProblemError('not_ready', 'The file is still being unpacked. Ask for the record again in a few seconds.', {
    retryAfterSeconds: RETRY_SECONDS,
    cause,
  });
