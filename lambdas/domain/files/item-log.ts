import type { FileRejectedError } from './file-rejected-error.ts';
import type { ReadItem, ReaderPosition, RowContent } from './read-item.ts';

/** Reads blocks of a file, whatever their size. */
export interface RecordScanner {
  /** Takes the next bytes; answers the records that end in them. */
  push(block: Uint8Array): ReadItem[];
  /** The file ends here; answers what was still open. */
  finish(): ReadItem[];
  /** Why the file cannot be read on. What was answered before it stands. */
  readonly failure: FileRejectedError | undefined;
}

/** Numbers what a scanner finds, and keeps the line. */
export class ItemLog {
  #items: ReadItem[] = [];
  #recordNo: number;
  /** Physical line where the scanner stands, or where the record it is in begins. */
  line: number;

  constructor(from: ReaderPosition) {
    this.#recordNo = from.recordNo;
    this.line = from.line;
  }

  /** Adds a row that begins on {@link line}, and moves on to `endLine`. */
  add(content: RowContent, byteOffset: number, endByteOffset: number, endLine: number): void {
    if (content.kind === 'blank') {
      this.line = endLine;
      return;
    }
    this.#recordNo += 1;
    const { line } = this;
    const recordNo = this.#recordNo;
    if (content.kind === 'record') {
      this.#items.push({ kind: 'record', recordNo, line, byteOffset, endByteOffset, endLine, fields: content.fields });
    } else {
      const { defect, detail } = content;
      const reason = defect === 'RECORD_TOO_LARGE' ? 'record_too_large' : 'malformed_row';
      this.#items.push({ kind: 'defect', recordNo, line, byteOffset, endByteOffset, endLine, reason, defect, detail });
    }
    this.line = endLine;
  }

  take(): ReadItem[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
