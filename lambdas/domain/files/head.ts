import { isBlank, lineEndFrom } from './bytes.ts';
import { grouped } from './details.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import type { Reading } from '../profiles/profile.ts';
import type { ReaderPosition } from './read-item.ts';
import { RecordLexer } from './record-lexer.ts';

/** The first bytes of a file, by which it is opened. */
export interface Head {
  bytes: Buffer;
  /** The head is the whole file. */
  complete: boolean;
  /** Columns that a CSV file must have. */
  columns: readonly string[];
  /** What the customer says of the file. */
  reading: Reading;
  readerVersion: number;
  /** A row counts as one line, whatever line ends its cells hold. */
  countRows?: boolean;
}

/** The first line at or behind `from` that is not blank; none when the head has none. */
function findText({ bytes, complete }: Head, from: ReaderPosition): ReaderPosition | undefined {
  let { byteOffset, line } = from;
  for (;;) {
    const { at, stop } = new RecordLexer().run(bytes, byteOffset, 0);
    if (!isBlank(bytes, byteOffset, at)) return { byteOffset, recordNo: 0, line };
    const next = stop === 'end' ? lineEndFrom(bytes, at, complete) : -1;
    if (next === -1) return undefined;
    byteOffset = next;
    line += 1;
  }
}

/** The first line at or behind `from` that is not blank. Throws {@link FileRejectedError} when the head has none. */
export function skipBlankLines(head: Head, from: ReaderPosition): ReaderPosition {
  const found = findText(head, from);
  if (!found) throw new FileRejectedError('EMPTY_FILE', emptyMessage(head.bytes, head.complete));
  return found;
}

const emptyMessage = (bytes: Buffer, complete: boolean): string =>
  complete
    ? 'The file is empty. Submit a file with records.'
    : `The first ${grouped(bytes.length)} bytes of the file are blank. Submit a file that begins with its records.`;

/** The text of the line at `from`, or as much of it as the head holds. */
export function lineText({ bytes }: Head, from: ReaderPosition): string {
  const { at } = new RecordLexer().run(bytes, from.byteOffset, 0);
  return bytes.toString('utf8', from.byteOffset, at);
}

/** The text of the first line behind the one at `from` that is not blank; empty when the head has none. */
export function nextLineText(head: Head, from: ReaderPosition): string {
  const { at, stop } = new RecordLexer().run(head.bytes, from.byteOffset, 0);
  const next = stop === 'end' ? findText(head, { byteOffset: at, recordNo: 0, line: from.line }) : undefined;
  return next ? lineText(head, next) : '';
}
