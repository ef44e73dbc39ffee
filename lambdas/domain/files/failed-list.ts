import { FAILURE_COLUMNS } from './failure-columns.ts';
import type { Head } from './head.ts';

/** A name that a column of the list got because the file had the plain one. */
const isCalled = (name: string | undefined, column: string): boolean =>
  name !== undefined &&
  (name === column || (name.startsWith(`${column}_`) && /^\d+$/.test(name.slice(column.length + 1))));

/**
 * The columns of a file without those that Sluice added to them, where it is a list of failed records that comes back corrected: such a
 * list has the same records as the file that it was made from.
 */
export function withoutFailureColumns(names: readonly string[], { readerVersion }: Head): string[] {
  const first = names.length - FAILURE_COLUMNS.length;
  const isList =
    readerVersion >= 3 && first > 0 && FAILURE_COLUMNS.every((column, index) => isCalled(names[first + index], column));
  return isList ? names.slice(0, first) : [...names];
}
