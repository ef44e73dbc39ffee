import { findIllegalByte } from './bytes.ts';
import { illegalByte, tooLarge } from './details.ts';
import type { RowContent, RowReader } from './read-item.ts';

/** A row that has been found: `[start, end)` in memory, or only the end of it where it is too large. */
export interface FoundRow {
  bytes: Buffer;
  start: number;
  end: number;
  /** Size of the whole row, what was dropped of it included. */
  sizeBytes: number;
  /** Physical line where it begins. */
  line: number;
  /** At least one CSV cell is in quotes. */
  quoted: boolean;
}

/** Decodes a row and has it read; a row that is too large or no text is a defect. */
export function contentOf(row: FoundRow, maxRecordBytes: number, readRow: RowReader): RowContent {
  const { bytes, start, end, sizeBytes, line, quoted } = row;
  if (sizeBytes > maxRecordBytes) return tooLarge(line, sizeBytes, maxRecordBytes);
  const text = bytes.toString('utf8', start, end);
  const illegal = findIllegalByte(bytes, start, end, text);
  return illegal ? illegalByte(line, illegal) : readRow(text, line, quoted);
}
