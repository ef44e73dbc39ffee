import { ArrayScanner } from './array-scanner.ts';
import { FileRejectedError } from './file-rejected-error.ts';
import { type Head, lineText, nextLineText, skipBlankLines } from './head.ts';
import type { ReaderPosition } from './read-item.ts';

/** Where the records of an NDJSON file begin. Throws {@link FileRejectedError} when it is of another format. */
export function openNdjson(head: Head, textStart: number): ReaderPosition {
  const start: ReaderPosition = { byteOffset: textStart, recordNo: 0, line: 1 };
  const first = skipBlankLines(head, start);
  const text = lineText(head, first).trimStart();
  if (text.startsWith('[')) throw mismatch('NDJSON', 'a JSON array', 'Submit it with the format json.', first.line);
  if (text.startsWith('{') && isSpreadOverLines(head, first, text)) {
    throw mismatch('NDJSON', 'JSON objects over several lines', 'Write each record on one line.', first.line);
  }
  rejectOtherText(head, 'NDJSON', text, first.line);
  return start;
}

/** Where the first element of a JSON array begins. Throws {@link FileRejectedError} when the file holds something else. */
export function openJsonArray(head: Head, textStart: number): ReaderPosition {
  const first = skipBlankLines(head, { byteOffset: textStart, recordNo: 0, line: 1 });
  const text = lineText(head, first);
  // ASCII only, so that characters are bytes.
  const before = text.search(/[^\t\v\f ]/);
  if (text[before] === '[') return { ...first, byteOffset: first.byteOffset + before + 1 };
  if (text[before] === '{') {
    const remedy = 'Submit one record per line with the format ndjson, or put all records into one array.';
    throw mismatch('a JSON array', 'JSON objects without an array', remedy, first.line);
  }
  rejectOtherText(head, 'a JSON array', text.trimStart(), first.line);
  throw mismatch('a JSON array', 'other text', 'Begin it with an opening bracket.', first.line);
}

function rejectOtherText({ columns }: Head, wanted: string, text: string, line: number): void {
  if (text.startsWith('<')) throw mismatch(wanted, 'HTML or XML', 'Submit the file of records itself.', line);
  if (looksLikeHeader(text, columns)) throw mismatch(wanted, 'CSV', 'Submit it with the format csv.', line);
}

const looksLikeHeader = (text: string, columns: readonly string[]): boolean =>
  text.split(/[,;\t|]/).some((name) => columns.includes(name.replaceAll('"', '').trim()));

const mismatch = (wanted: string, found: string, remedy: string, line: number): FileRejectedError =>
  new FileRejectedError('FORMAT_MISMATCH', `The file is to be ${wanted} but looks like ${found}. ${remedy}`, line);

/**
 * True when the first object is pretty-printed. A first row that merely breaks off is told apart from it: what follows
 * it does not complete it.
 */
function isSpreadOverLines(head: Head, first: ReaderPosition, text: string): boolean {
  if (isJson(text)) return false;
  const scanner = new ArrayScanner(first, { maxRecordBytes: head.bytes.length });
  const [object] = scanner.push(head.bytes.subarray(first.byteOffset));
  if (object && object.endLine > object.line) {
    if (object.kind === 'record') return true;
    if (object.defect !== 'INVALID_JSON' && object.defect !== 'ILLEGAL_CHARACTER') return true;
  }
  const second = nextLineText(head, first).trimStart();
  return second.startsWith('"') || second.startsWith('}');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
