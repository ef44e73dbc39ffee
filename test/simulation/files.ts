import type { RecordKind, SubmissionPlan } from './plan.ts';

/** Limit that submissions are accepted under: below that of every function. */
export const MAX_RECORD_BYTES = 2_000;

const COLUMNS = ['record_id', 'name', 'domain', 'country', 'postal_code'] as const;

/** Identifies a record across a run: where it stands, and what its provider keys begin with. */
export const recordName = (submission: number, recordNo: number): string => `s${submission}r${recordNo}`;

/** Every other submission is accepted with a mapping: its columns are called otherwise, and its domains have blanks around them. */
export const isMapped = ({ index }: Pick<SubmissionPlan, 'index'>): boolean => index % 2 === 1;
const MAPPED_COLUMNS = COLUMNS.map((column) => column.toUpperCase().replace('_', ' '));

/** The file of a submission. What a provider is asked about a record says which record, and of which kind, it is. */
export function fileOf(plan: SubmissionPlan, mapped = isMapped(plan)): string {
  const { index, file, kinds } = plan;
  const columns = mapped ? MAPPED_COLUMNS : COLUMNS;
  if (file === 'unreadable') return '\u0000\u0001\u0002 not a table\u0000';
  if (file === 'header_only') return `${columns.join(',')}\n`;
  const lines = kinds.map((kind, at) => lineOf(file, kind, recordName(index, at + 1), columns));
  return `${file === 'csv' ? `${columns.join(',')}\n` : ''}${lines.join('\n')}\n`;
}

function lineOf(file: 'csv' | 'ndjson', kind: RecordKind, name: string, columns: readonly string[]): string {
  if (kind === 'malformed') return file === 'csv' ? `${name},one cell too few` : `{"record_id": "${name}", `;
  const cells = cellsOf(kind, name);
  if (columns === MAPPED_COLUMNS) cells[2] = ` ${cells[2]} `;
  if (kind === 'oversize') cells[1] = 'x'.repeat(MAX_RECORD_BYTES);
  if (file === 'csv') return cells.join(',');
  return JSON.stringify(Object.fromEntries(columns.map((column, at) => [column, cells[at]])));
}

function cellsOf(kind: RecordKind, name: string): string[] {
  if (kind === 'keyless') return [name, `Name of ${name}`, '', '', ''];
  const domain = kind === 'invalid' ? 'not a domain' : `${name}.${kind}.example`;
  return [name, `Name of ${name}`, domain, 'DE', `${name} ${kind}`];
}
