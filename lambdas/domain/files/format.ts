import type { FileFormat } from './read-item.ts';

const FORMAT_OF_ENDING = new Map<string, FileFormat>([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['json', 'json'],
]);

/** Format by a file's name, compressed or not; undefined when its ending says nothing. */
export function formatOfName(fileName: string | undefined): FileFormat | undefined {
  const ending = /\.([A-Za-z]+)(?:\.gz)?$/.exec(fileName ?? '')?.[1]?.toLowerCase();
  return ending === undefined ? undefined : FORMAT_OF_ENDING.get(ending);
}

/** White space of JSON, and the byte order mark that some editors write. */
const SKIPPED = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** True when the first character that is not blank is this ASCII character. */
export const opensWith = (head: Uint8Array, character: '{' | '['): boolean =>
  head.find((byte) => !SKIPPED.has(byte)) === character.charCodeAt(0);

/** Format by a file's first bytes: CSV unless they begin a JSON object or array. Fan-out refuses the file when it is none of that. */
export function formatOfContent(head: Uint8Array): FileFormat {
  if (opensWith(head, '[')) return 'json';
  return opensWith(head, '{') ? 'ndjson' : 'csv';
}
