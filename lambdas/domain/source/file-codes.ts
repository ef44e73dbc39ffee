import type { DefectCode } from '../files/read-item.ts';
import type { UnreadableCode } from './unreadable-source.ts';

/** What a code of a file or of one of its rows means, for customers: docs/files.md is made from this. */
export interface FileCode {
  /** When it is given. */
  cause: string;
  /** What the customer can do. */
  remedy: string;
}

const PREVIEW = '`POST /v1/previews` (`sluice preview FILE`) proposes one.';

/** Reasons for which a file is `rejected`. Stable: codes are never renamed, and new ones may be added. */
export const FILE_CODES = {
  EMPTY_FILE: {
    cause: 'The file has no text, or only blank lines at its beginning.',
    remedy: 'Submit a file with records. Check whether the export and the upload were complete.',
  },
  NO_RECORDS: {
    cause: 'The file has a header and no record.',
    remedy:
      'Check whether the file has its line ends: `curl -d` removes them, `curl -T` and `--data-binary` keep them.',
  },
  COUNT_MISMATCH: {
    cause: 'The file was read to its end and has another number of records than `expectedRecords`.',
    remedy: 'Check whether the file is complete, or correct `expectedRecords`.',
  },
  NO_VALID_RECORDS: {
    cause: 'None of the first 1,000 records is valid. Nothing was looked up.',
    remedy: `The message names the most frequent fault, example lines, and the setting of a profile that helps where one does. ${PREVIEW}`,
  },
  TOO_MANY_RECORDS: {
    cause: 'The file has more records than a file may have.',
    remedy: 'Split it and submit the parts.',
  },
  FORMAT_MISMATCH: {
    cause: 'The content is of another format than the one that was announced: JSON instead of CSV, or a web page.',
    remedy:
      'Name the format that the file has, or submit the file of records itself. In NDJSON, each record is on one line.',
  },
  MISSING_REQUIRED_COLUMN: {
    cause:
      'No line at the beginning has the columns that are needed: that of the identifiers, and those that the profile names.',
    remedy: `Name the columns as the fields, or submit a profile whose \`columns\` say where the values are. ${PREVIEW}`,
  },
  INVALID_HEADER: {
    cause: 'The header cannot be read, or rows above it look like another table.',
    remedy:
      'Quote each column name as a whole, or none. Remove what stands above the header, or name its line as `reading.headerRow`.',
  },
  EMPTY_HEADER: {
    cause: 'A column has values and no name.',
    remedy: 'Name the column, or remove it. Index columns of data frames can be left out (`index=False`).',
  },
  DUPLICATE_HEADER: { cause: 'Two columns have the same name.', remedy: 'Rename one of them, or remove it.' },
  RESERVED_HEADER: {
    cause: 'A column has a name that is reserved in JavaScript (`__proto__`, `constructor`, `prototype`).',
    remedy: 'Rename it.',
  },
  HEADER_TOO_LARGE: {
    cause: 'The header does not end within the first 65,536 bytes of the file.',
    remedy: 'Check for a quote that is never closed and for missing line ends; leave columns out that are not needed.',
  },
  UNTERMINATED_QUOTE: {
    cause: 'A quote is open at the end of the file.',
    remedy:
      'Check whether the file is complete. Close the quote, double it within a cell, or name `reading.escape` or `reading.quote` in a profile.',
  },
  TRUNCATED_ARRAY: {
    cause: 'The JSON array ends before its closing bracket.',
    remedy: 'Check whether the file is complete, or write one record a line (NDJSON).',
  },
  INVALID_ARRAY: {
    cause:
      'Something other than a comma or the closing bracket stands between two elements of the JSON array, or behind it.',
    remedy: 'Write the array with a JSON library, or one record a line (NDJSON).',
  },
  UNSUPPORTED_ENCODING: {
    cause: 'The text is not UTF-8, and neither a mark nor the request says what it is.',
    remedy:
      'Save the file as UTF-8, or name its character set: `reading.encoding` of a profile, or `charset` of the content type.',
  },
  CHARSET_MISMATCH: {
    cause: 'The file has bytes that are no text in the character set that was declared.',
    remedy: 'Declare the character set that the file has, or save it as UTF-8.',
  },
  UNSUPPORTED_COMPRESSION: {
    cause: 'The file is compressed otherwise than by gzip, or an archive is packed otherwise than by deflate.',
    remedy: 'Compress it by gzip, pack it as an ordinary ZIP file, or submit it unpacked.',
  },
  UNSUPPORTED_CONTAINER: {
    cause:
      'The file is a document or archive of another kind: `.xls`, `.xlsb`, `.ods`, PDF, 7z, tar, a database, or compressed twice.',
    remedy: 'Save a workbook as `.xlsx`, or export the records as CSV, NDJSON or JSON.',
  },
  ENCRYPTED: { cause: 'The workbook or archive is protected by a password.', remedy: 'Save or pack it without one.' },
  DAMAGED_FILE: {
    cause: 'The compressed file, archive or workbook is damaged or incomplete.',
    remedy: 'Pack or save it again, and compare its size after the upload.',
  },
  DECOMPRESSED_TOO_LARGE: {
    cause: 'Unpacked, the file is larger than a file may be, or it grows by more than 200 times.',
    remedy: 'Split it and submit the parts, or submit it unpacked.',
  },
  ZIP_MEMBERS: {
    cause: 'The archive holds no file, or several.',
    remedy: 'Pack one file, and submit each on its own.',
  },
  SHEET_MISSING: {
    cause: 'The workbook has no sheet of the name that the profile says.',
    remedy: 'Name one of its sheets, which the message lists, as `reading.sheet`.',
  },
  FORMULA_WITHOUT_VALUE: {
    cause: 'A cell has a formula whose result is not stored, as some programs save workbooks.',
    remedy: 'Open the workbook in a spreadsheet program and save it, or replace formulas by their values.',
  },
  FILE_CHANGED: {
    cause: 'The file was replaced after it was submitted.',
    remedy: 'Upload it under a new upload id and submit that.',
  },
  FILE_MISSING: {
    cause: 'The file was deleted after it was submitted.',
    remedy: 'Upload it again and submit the new upload id.',
  },
  RESULTS_LOST: {
    cause: 'The file or its outcomes were lost on our side.',
    remedy: 'Submit the file again.',
  },
} as const satisfies Record<UnreadableCode | 'RESULTS_LOST', FileCode>;

/** Why a row is not a record, by the code that the details of `malformed_row` and `record_too_large` are about. */
export const ROW_CODES = {
  COLUMN_COUNT: {
    cause: 'The row has more or fewer cells than the header.',
    remedy:
      'Quote cells that contain the delimiter. For rows that end early, `reading.shortRows: "fill"` makes the missing cells empty.',
  },
  REPEATED_HEADER: {
    cause: 'The row repeats the header, as where two files were joined.',
    remedy: 'Nothing: the other rows are worked. To get rid of it, remove the line.',
  },
  INVALID_QUOTING: {
    cause: 'Text follows a closing quote.',
    remedy:
      'Double quotes within a quoted cell, or name `reading.escape` in a profile where backslashes stand before them.',
  },
  ILLEGAL_CHARACTER: {
    cause: 'The row has a byte that is not UTF-8, a NUL, or a byte order mark before it.',
    remedy: 'Save the file as UTF-8, or name its character set as `reading.encoding`.',
  },
  RECORD_TOO_LARGE: {
    cause: 'The record has more bytes than a record may have.',
    remedy: 'Shorten it, or check for a quote or bracket that is never closed.',
  },
  INVALID_JSON: { cause: 'The line is not valid JSON.', remedy: 'Write it with a JSON library (`json.dumps`).' },
  NOT_AN_OBJECT: { cause: 'The record is not a JSON object.', remedy: 'Write each record as `{"field": "value"}`.' },
  UNSAFE_NUMBER: {
    cause: 'A number has more digits than a program can keep.',
    remedy: 'Write it as text, in quotes.',
  },
  DUPLICATE_KEY: { cause: 'An object has the same key twice.', remedy: 'Write each key once.' },
  RESERVED_KEY: { cause: 'A key has a name that is reserved in JavaScript.', remedy: 'Rename it.' },
  NESTED_TOO_DEEPLY: { cause: 'Objects and arrays are nested too deeply.', remedy: 'Write the record flat.' },
} as const satisfies Record<DefectCode, FileCode>;
