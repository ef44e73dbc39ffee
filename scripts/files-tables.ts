import { markdownTable } from 'markdown-table';
import { REASONS } from '../lambdas/domain/reasons.ts';
import { FILE_CODES, ROW_CODES, type FileCode } from '../lambdas/domain/source/file-codes.ts';

const codes = (all: Readonly<Record<string, FileCode>>): string =>
  markdownTable([
    ['code', 'when', 'what helps'],
    ...Object.entries(all).map(([code, { cause, remedy }]) => [`\`${code}\``, cause, remedy]),
  ]);

/** The reasons of records, those that end them and those for which they wait. */
function reasons(wanted: 'ends' | 'waits'): string {
  const found = Object.entries(REASONS).filter(
    ([, { class: kind }]) => (kind === 'deferred' ? 'waits' : 'ends') === wanted,
  );
  return markdownTable([
    ['reason', 'what it means'],
    ...found.map(([reason, { customer }]) => [`\`${reason}\``, customer]),
  ]);
}

/** The page with every table brought up to date. Throws RangeError naming a table that the page has no marks for. */
export function filesPage(page: string): string {
  const tables = { files: codes(FILE_CODES), rows: codes(ROW_CODES), ends: reasons('ends'), waits: reasons('waits') };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const place = new RegExp(`(<!-- ${name}: npm run files -->).*(<!-- end of ${name} -->)`, 's');
    if (!place.test(text)) throw new RangeError(`The page has no place for ${name}: it is ${String(place)}.`);
    return text.replace(place, (_, begin: string, end: string) => `${begin}\n\n${table}\n\n${end}`);
  }, page);
}
