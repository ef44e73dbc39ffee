import { createHash } from 'node:crypto';
import type { CsvDialect } from '../files/reader.ts';
import { createMapper, type Mapper, type Mapping } from '../profiles/mapping.ts';
import type { ObjectStore } from './ports.ts';
import { openSource, readSource, type SourceItem, type SourceOf } from './source-reader.ts';

/** Longer identifiers are remembered by their hash, so that a million of them fit into memory. */
const MAX_KEPT_LENGTH = 24;

/** Of records with the same identifier, all but the first are defects. Keeps the identifiers of the file up to where it is. */
export class DuplicateFilter {
  readonly #idField: string;
  readonly #map: Mapper;
  readonly #header: readonly string[] | undefined;
  /** Line of the first record with an identifier. */
  readonly #lines = new Map<string, number>();

  constructor(mapping: Mapping, header: readonly string[] | undefined) {
    this.#idField = mapping.idField;
    this.#map = createMapper(mapping);
    this.#header = header;
  }

  apply(items: readonly SourceItem[]): SourceItem[] {
    return items.map((item) => this.#check(item));
  }

  #check(item: SourceItem): SourceItem {
    if (item.kind === 'defect') return item;
    const used = this.#map(item.fields, item.recordNo, this.#header) ?? item.fields;
    const id = used[this.#idField];
    // What is no identifier is for validation to say.
    if ((typeof id !== 'string' && typeof id !== 'number') || id === '') return item;
    const key = keyOf(String(id));
    const line = this.#lines.get(key);
    if (line === undefined) {
      this.#lines.set(key, item.line);
      return item;
    }
    const { fields: _fields, ...place } = item;
    return {
      ...place,
      kind: 'defect',
      reason: 'duplicate_record_id',
      defect: 'DUPLICATE_RECORD_ID',
      detail: `The record on line ${item.line} has the same ${this.#idField} as the one on line ${line}. Remove one of them, or submit the file without duplicates: reject_later.`,
    };
  }
}

const keyOf = (id: string): string =>
  id.length <= MAX_KEPT_LENGTH ? id : createHash('sha256').update(id).digest('base64').slice(0, MAX_KEPT_LENGTH);

/**
 * The filter as it is before record `from`: reads the file from its beginning. Undefined where duplicates are allowed.
 *
 * @throws what reading throws
 */
export async function duplicateFilterAt(
  deps: { objects: ObjectStore },
  submission: SourceOf,
  from: number,
  dialect: CsvDialect | undefined,
): Promise<DuplicateFilter | undefined> {
  const { mapping } = submission.terms;
  if (mapping?.duplicates !== 'reject_later') return undefined;
  const filter = new DuplicateFilter(mapping, dialect?.header);
  if (from <= 1) return filter;
  const { start } = await openSource(deps, submission);
  for await (const items of readSource(deps, submission, start, { dialect })) {
    filter.apply(items.filter(({ recordNo }) => recordNo < from));
    if ((items.at(-1)?.recordNo ?? 0) >= from - 1) break;
  }
  return filter;
}

/** The same items with later duplicates as defects; unchanged without a filter. */
export async function* withoutDuplicates(
  batches: AsyncIterable<readonly SourceItem[]>,
  filter: DuplicateFilter | undefined,
): AsyncGenerator<readonly SourceItem[], void, undefined> {
  for await (const items of batches) yield filter ? filter.apply(items) : items;
}
