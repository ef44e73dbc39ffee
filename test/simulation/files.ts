import type { RecordKind, SubmissionPlan } from './plan.ts';

/** Limit that submissions are accepted under: below that of every function. */
export const MAX_RECORD_BYTES = 2_000;

const COLUMNS = ['record_id', 'name', 'domain', 'country', 'postal_code'] as const;

/** Identifies a record across a run: where it stands, and what its provider keys begin with. */
export const recordName = (submission: number, recordNo: number): string => `s${submission}r${recordNo}`;

/** The file of a submission. What a provider is asked about a record says which record, and of which kind, it is. */
export function fileOf({ index, file, kinds }: SubmissionPlan): string {
  if (file === 'unreadable') return '\u0000\u0001\u0002 not a table\u0000';
  if (file === 'header_only') return `${COLUMNS.join(',')}\n`;
  const lines = kinds.map((kind, at) => lineOf(file, kind, recordName(index, at + 1)));
  return `${file === 'csv' ? `${COLUMNS.join(',')}\n` : ''}${lines.join('\n')}\n`;
}

function lineOf(file: 'csv' | 'ndjson', kind: RecordKind, name: string): string {
  if (kind === 'malformed') return file === 'csv' ? `${name},one cell too few` : `{"record_id": "${name}", `;
  const cells = cellsOf(kind, name);
  if (kind === 'oversize') cells[1] = 'x'.repeat(MAX_RECORD_BYTES);
  if (file === 'csv') return cells.join(',');
  return JSON.stringify(Object.fromEntries(COLUMNS.map((column, at) => [column, cells[at]])));
}

function cellsOf(kind: RecordKind, name: string): string[] {
  if (kind === 'keyless') return [name, `Name of ${name}`, '', '', ''];
  const domain = kind === 'invalid' ? 'not a domain' : `${name}.${kind}.example`;
  return [name, `Name of ${name}`, domain, 'DE', `${name} ${kind}`];
}
