export type FileFormat = 'csv' | 'ndjson' | 'json';

/** Where the reader stands between two records. It may be stored: a reader that starts here goes on as if it had never stopped. */
export interface ReaderPosition {
  /** Bytes of the file before this place; a byte order mark counts. */
  byteOffset: number;
  /** Records already read, the defective ones among them. */
  recordNo: number;
  /** Physical line at this place, 1-based. CR, LF and CRLF each end one line, inside quotes too. */
  line: number;
}

/** How a CSV file is written: its delimiter and the names of its columns, in order. */
export interface CsvDialect {
  delimiter: string;
  header: string[];
  /** What stands around a cell; `"` where it is absent, nothing where it is empty. */
  quote?: string;
  /** How a quote is written in a quoted cell; doubled where it is absent. */
  escape?: '"' | '\\';
  /** Columns without name and content at the end of every row. */
  surplus?: number;
  /** Columns at the end that Sluice added: the file is a list of failed records that comes back. */
  failureColumns?: number;
  /** Physical line of the header, where it is not the first one. */
  headerLine?: number;
}

/** Why a row is not a record. Stable: stored and shown to customers. */
export type DefectCode =
  /** The row has more or fewer cells than the header. */
  | 'COLUMN_COUNT'
  /** The row repeats the header, as where two files were joined. */
  | 'REPEATED_HEADER'
  /** Text follows a closing quote. */
  | 'INVALID_QUOTING'
  /** A byte that is not UTF-8, a NUL, a byte order mark before a row, or an escape that stands for no character. */
  | 'ILLEGAL_CHARACTER'
  | 'RECORD_TOO_LARGE'
  | 'INVALID_JSON'
  | 'NOT_AN_OBJECT'
  /** A number that JavaScript cannot hold with all its digits. */
  | 'UNSAFE_NUMBER'
  | 'DUPLICATE_KEY'
  | 'RESERVED_KEY'
  | 'NESTED_TOO_DEEPLY';

/** What was found, where. `[byteOffset, endByteOffset)` are the bytes of the record, its line end included. */
interface Located {
  /** 1-based, in file order; blank lines and the header are not counted, defective rows are. */
  recordNo: number;
  /** Physical line where the record begins, 1-based. */
  line: number;
  byteOffset: number;
  endByteOffset: number;
  /** Physical line just behind the record. */
  endLine: number;
}

/** The values of a record as own properties. CSV cells are text, always. */
export interface RecordItem extends Located {
  kind: 'record';
  fields: Record<string, unknown>;
}

/** A row that is no record. `detail` is a sentence of at most 300 characters that names place and remedy, never a value of the row. */
export interface DefectItem extends Located {
  kind: 'defect';
  reason: 'malformed_row' | 'record_too_large';
  defect: DefectCode;
  detail: string;
}

export type ReadItem = RecordItem | DefectItem;

/** The position from which a reader yields an item first. */
export const positionBefore = ({ byteOffset, recordNo, line }: ReaderPosition): ReaderPosition => ({
  byteOffset,
  recordNo: recordNo - 1,
  line,
});

/** The position from which a reader yields what follows an item. */
export const positionAfter = (item: Pick<ReadItem, 'endByteOffset' | 'recordNo' | 'endLine'>): ReaderPosition => ({
  byteOffset: item.endByteOffset,
  recordNo: item.recordNo,
  line: item.endLine,
});

/** What one row turned out to be, before it has a number and a place. */
export type RowContent =
  | { kind: 'record'; fields: Record<string, unknown> }
  | { kind: 'defect'; defect: DefectCode; detail: string }
  /** As a blank line: delimiters and nothing between them. */
  | { kind: 'blank' };

export const defective = (defect: DefectCode, detail: string): RowContent => ({ kind: 'defect', defect, detail });

/** Reads the text of one row. `line` is for the detail; `quoted` tells that at least one CSV cell is in quotes. */
export type RowReader = (text: string, line: number, quoted: boolean) => RowContent;
