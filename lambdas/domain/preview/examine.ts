import type { ReadItem } from '../files/reader.ts';
import { createMapper } from '../profiles/mapping.ts';
import type { ResolvedProfile } from '../profiles/profile.ts';
import type { RecordInspector } from '../records/inspection.ts';
import type { Table } from './table.ts';

/** Records that are shown. */
const SHOWN_RECORDS = 20;
/** Characters of them, so that an answer stays below what a function may answer with. */
const SHOWN_LENGTH = 500_000;
const MOST_FAULTS = 20;
const EXAMPLES = 3;
const MAX_EXAMPLE_LENGTH = 100;

/** What is wrong with several records in the same way. */
export interface Fault {
  /** Field of the record; absent where the row is no record. */
  field?: string;
  /** Code of a row that is no record. */
  defect?: string;
  detail: string;
  count: number;
  /** Lines of the first records that have it. */
  lines: number[];
  /** Values of the field there, shortened. */
  examples?: string[];
}

export interface ShownRecord {
  recordNo: number;
  line: number;
  record?: Readonly<Record<string, unknown>>;
  /** The fields that are checked and looked up, where they are not what was sent. */
  used?: Readonly<Record<string, unknown>>;
  /** What is wrong with it; absent for a valid one. */
  problems?: string[];
}

export interface Examination {
  examined: number;
  valid: number;
  invalid: number;
  faults: Fault[];
  /** Fields that no provider looks up by and that are not as the schema wants them. */
  warnings: Fault[];
  records: ShownRecord[];
  /** The fields of the valid records as they are looked up; of all records where that is asked for. */
  looked: readonly Readonly<Record<string, unknown>>[];
}

/** Checks the records of a table as a worker will, and keeps the first ones to be shown. */
export function examine(
  { items, dialect }: Pick<Table, 'items' | 'dialect'>,
  { mapping }: Pick<ResolvedProfile, 'mapping'>,
  inspect: RecordInspector,
  { all = false } = {},
): Examination {
  const map = createMapper(mapping);
  const faults = new Map<string, Fault>();
  const warnings = new Map<string, Fault>();
  const records: ShownRecord[] = [];
  const looked: Readonly<Record<string, unknown>>[] = [];
  let valid = 0;
  let shownLength = 0;
  for (const item of items) {
    const used = item.kind === 'record' ? map(item.fields, item.recordNo, dialect?.header) : undefined;
    const fields = item.kind === 'record' ? (used ?? item.fields) : {};
    const found = item.kind === 'record' ? inspect(fields) : { problems: [{ detail: item.detail }], warnings: [] };
    for (const problem of found.problems) note(faults, item, problem, fields);
    for (const warning of found.warnings) note(warnings, item, warning, fields);
    if (found.problems.length === 0) valid += 1;
    if (found.problems.length === 0 || all) looked.push(fields);
    if (records.length >= SHOWN_RECORDS || shownLength > SHOWN_LENGTH) continue;
    const shown: ShownRecord = {
      recordNo: item.recordNo,
      line: item.line,
      ...(item.kind === 'record' && { record: item.fields }),
      ...(used && { used }),
      ...(found.problems.length > 0 && { problems: found.problems.map(({ detail }) => detail) }),
    };
    shownLength += JSON.stringify(shown).length;
    if (shownLength <= SHOWN_LENGTH) records.push(shown);
  }
  return {
    examined: items.length,
    valid,
    invalid: items.length - valid,
    faults: mostFrequent(faults),
    warnings: mostFrequent(warnings),
    records,
    looked,
  };
}

const mostFrequent = (faults: ReadonlyMap<string, Fault>): Fault[] =>
  [...faults.values()].toSorted((a, b) => b.count - a.count).slice(0, MOST_FAULTS);

function note(
  faults: Map<string, Fault>,
  item: ReadItem,
  { field, detail }: { field?: string | undefined; detail: string },
  fields: Readonly<Record<string, unknown>>,
): void {
  const defect = item.kind === 'defect' ? item.defect : undefined;
  const key = defect ?? `${field ?? ''}\n${detail}`;
  const fault = faults.get(key) ?? {
    ...(field !== undefined && { field }),
    ...(defect !== undefined && { defect }),
    detail,
    count: 0,
    lines: [],
  };
  faults.set(key, fault);
  fault.count += 1;
  if (fault.lines.length >= EXAMPLES) return;
  fault.lines.push(item.line);
  const value = field === undefined ? undefined : fields[field];
  if (typeof value === 'string') (fault.examples ??= []).push(value.slice(0, MAX_EXAMPLE_LENGTH));
}
