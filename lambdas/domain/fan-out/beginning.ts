import type { OpenedFile, ReadItem, ReaderPosition, CsvDialect } from '../files/reader.ts';
import { CHUNK_RECORDS, chunkOf, recordNoAt, type Lane } from '../model.ts';
import { duplicateFilterAt, withoutDuplicates } from '../source/duplicates.ts';
import { endWithDefect, openSource, readSource, unreadableItems, type SourceItem } from '../source/source-reader.ts';
import type { OnChunk } from '../source/chunk-checksums.ts';
import type { Terms } from '../submissions/terms.ts';
import { UnreadableSourceError } from '../source/unreadable-source.ts';
import type { Claimed, FanOutSettings } from './deps.ts';
import { EXAMINED_RECORDS, requireExpectedCount, requireValidRecord } from './early-stop.ts';

/** A submission that is being read: what comes next, from where, and where to it is sent. */
export interface Reading {
  lane: Lane;
  dialect: CsvDialect | undefined;
  from: ReaderPosition;
  batches: AsyncIterable<readonly SourceItem[]> | Iterable<readonly SourceItem[]>;
  /** CRC-32 of the chunks that were read to their end. */
  checksums: Map<number, number>;
}

/** Collects the checksums of chunks as they are read. */
function collect(): { checksums: Map<number, number>; onChunk: OnChunk } {
  const checksums = new Map<number, number>();
  return { checksums, onChunk: (chunk, crc) => void (crc !== undefined && checksums.set(chunk, crc)) };
}

/**
 * Begins a file of which nothing was sent: holds its beginning back until its lane is decided. Throws
 * {@link UnreadableSourceError} when the file is to be refused.
 */
export async function beginReading(claimed: Claimed): Promise<Reading> {
  const { deps, submission, owner } = claimed;
  const { settings } = deps;
  const { start, dialect } = await openSource(deps, submission);
  const { checksums, onChunk } = collect();
  const batches = readSource(deps, submission, start, { dialect, onChunk });
  const { items, ended } = await readBeginning(batches, submission.terms, settings);
  if (ended) requireExpectedCount(submission, items.length);
  await requireValidRecord(deps, submission, items, dialect?.header);
  const wanted = ended && items.length <= settings.smallLaneThreshold ? await laneOfSmallFile(claimed) : 'bulk';
  const lane = await deps.submissions.decideLane(submission.submissionId, owner, wanted);
  const sent = withoutDuplicates(rejoin(items, batches), await duplicateFilterAt(deps, submission, 1, dialect));
  return { lane, dialect, from: start, batches: endWithDefect(sent, start, () => 0), checksums };
}

/**
 * Continues behind the last checkpoint. `through` is the last record that may have been sent: where the source has become
 * unreadable, every record up to there must still get an outcome.
 */
export async function continueReading({ deps, submission }: Claimed, lane: Lane, through: number): Promise<Reading> {
  // What the file itself is to blame for ends it at the same record every time; only a lost file leaves sent records behind.
  const lastToAccountFor = ({ code }: UnreadableSourceError): number =>
    code === 'FILE_CHANGED' || code === 'FILE_MISSING' ? through : 0;
  try {
    const { start, dialect } = await placeToContinue(deps, submission);
    const { checksums, onChunk } = collect();
    const filter = await duplicateFilterAt(deps, submission, start.recordNo + 1, dialect);
    const batches = withoutDuplicates(readSource(deps, submission, start, { dialect, onChunk }), filter);
    return { lane, dialect, from: start, batches: endWithDefect(batches, start, lastToAccountFor), checksums };
  } catch (error) {
    if (!(error instanceof UnreadableSourceError)) throw error;
    const from = { byteOffset: 0, recordNo: submission.fanOut.records, line: 1 };
    const batches = unreadableItems(error, from, lastToAccountFor(error));
    return { lane, dialect: undefined, from, batches, checksums: new Map() };
  }
}

async function placeToContinue(
  deps: Claimed['deps'],
  submission: Claimed['submission'],
): Promise<Pick<OpenedFile, 'start' | 'dialect'>> {
  const { byteOffset, records, line, dialect } = submission.fanOut;
  if (records === 0) return openSource(deps, submission);
  return { start: { byteOffset, recordNo: records, line }, ...(dialect && { dialect }) };
}

async function readBeginning(
  batches: AsyncGenerator<ReadItem[], void, undefined>,
  { mapping }: Terms,
  settings: FanOutSettings,
): Promise<{ items: ReadItem[]; ended: boolean }> {
  const items: ReadItem[] = [];
  let bytes = 0;
  const wanted = Math.max(settings.smallLaneThreshold, mapping ? EXAMINED_RECORDS : 0);
  while (items.length <= wanted && bytes <= settings.smallLaneBytes) {
    const next = await batches.next();
    if (next.done) return { items, ended: true };
    for (const item of next.value) {
      items.push(item);
      bytes += item.endByteOffset - item.byteOffset;
    }
  }
  return { items, ended: false };
}

async function* rejoin(
  items: readonly ReadItem[],
  rest: AsyncGenerator<ReadItem[], void, undefined>,
): AsyncGenerator<readonly ReadItem[], void, undefined> {
  yield items;
  yield* rest;
}

/** A big file in many small pieces gains nothing: the tenant's open work in the small lane is bounded. */
async function laneOfSmallFile({ deps, submission }: Claimed): Promise<Lane> {
  const work = await deps.admission.openWork(submission.tenantId);
  const others = work.filter(({ lane, submissionId }) => lane === 'small' && submissionId !== submission.submissionId);
  const open = others.reduce((sum, { records }) => sum + records, 0);
  return open > deps.settings.smallLaneThreshold ? 'bulk' : 'small';
}

/**
 * The last record that may have been sent: a slice that died behind its last checkpoint had noted the start of every chunk that
 * it sent anything of. It had several under way, so there can be gaps within one checkpoint interval. Where the file ended in
 * the last chunk and nobody noted that, the answer is up to one chunk too high.
 */
export async function lastPossiblySent({ deps, submission }: Claimed): Promise<number> {
  const { records } = submission.fanOut;
  const interval = Math.ceil(deps.settings.checkpointRecords / CHUNK_RECORDS);
  let last = records;
  let unnoted = 0;
  for (let chunk = chunkOf(records + 1); unnoted < interval; chunk++) {
    const stored = await deps.ledger.get(submission.submissionId, chunk);
    unnoted = stored?.start ? 0 : unnoted + 1;
    if (stored?.start) last = recordNoAt(chunk, (stored.size ?? CHUNK_RECORDS) - 1);
  }
  return last;
}
