import { FileRejectedError, type FileRejectionCode } from './file-rejected-error.ts';

const UTF8_BOM = [0xef, 0xbb, 0xbf];

interface Signature {
  code: FileRejectionCode;
  name: string;
  at?: number;
  bytes: readonly number[];
}

const ascii = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));

/** How files that are no text begin. Longer signatures stand before their own beginnings. */
const SIGNATURES: readonly Signature[] = [
  { code: 'UNSUPPORTED_ENCODING', name: 'UTF-32', bytes: [0xff, 0xfe, 0, 0] },
  { code: 'UNSUPPORTED_ENCODING', name: 'UTF-32', bytes: [0, 0, 0xfe, 0xff] },
  { code: 'UNSUPPORTED_ENCODING', name: 'UTF-16', bytes: [0xff, 0xfe] },
  { code: 'UNSUPPORTED_ENCODING', name: 'UTF-16', bytes: [0xfe, 0xff] },
  { code: 'UNSUPPORTED_COMPRESSION', name: 'gzip', bytes: [0x1f, 0x8b] },
  { code: 'UNSUPPORTED_COMPRESSION', name: 'Zstandard', bytes: [0x28, 0xb5, 0x2f, 0xfd] },
  { code: 'UNSUPPORTED_COMPRESSION', name: 'bzip2', at: 4, bytes: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59] },
  { code: 'UNSUPPORTED_COMPRESSION', name: 'xz', bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] },
  { code: 'UNSUPPORTED_COMPRESSION', name: 'LZ4', bytes: [0x04, 0x22, 0x4d, 0x18] },
  { code: 'UNSUPPORTED_COMPRESSION', name: 'compress (.Z)', bytes: [0x1f, 0x9d] },
  {
    code: 'UNSUPPORTED_CONTAINER',
    name: 'a ZIP archive or a workbook (.zip, .xlsx, .ods)',
    bytes: [...ascii('PK'), 3, 4],
  },
  { code: 'UNSUPPORTED_CONTAINER', name: 'an empty ZIP archive', bytes: [...ascii('PK'), 5, 6] },
  {
    code: 'UNSUPPORTED_CONTAINER',
    name: 'an old Office file (.xls)',
    bytes: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
  },
  { code: 'UNSUPPORTED_CONTAINER', name: 'a 7z archive', bytes: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c] },
  { code: 'UNSUPPORTED_CONTAINER', name: 'a RAR archive', bytes: [...ascii('Rar!'), 0x1a, 0x07] },
  { code: 'UNSUPPORTED_CONTAINER', name: 'a tar archive', at: 257, bytes: ascii('ustar') },
  { code: 'UNSUPPORTED_CONTAINER', name: 'a PDF document', bytes: ascii('%PDF-') },
  { code: 'UNSUPPORTED_CONTAINER', name: 'an RTF document', bytes: ascii('{\\rtf') },
  { code: 'UNSUPPORTED_CONTAINER', name: 'a Parquet file', bytes: [...ascii('PAR1'), 0x15] },
  { code: 'UNSUPPORTED_CONTAINER', name: 'an Avro file', bytes: [...ascii('Obj'), 1] },
  { code: 'UNSUPPORTED_CONTAINER', name: 'an SQLite database', bytes: [...ascii('SQLite format 3'), 0] },
  { code: 'UNSUPPORTED_CONTAINER', name: 'a PNG image', bytes: [0x89, ...ascii('PNG')] },
  { code: 'UNSUPPORTED_CONTAINER', name: 'a JPEG image', bytes: [0xff, 0xd8, 0xff] },
];

const REMEDIES: Partial<Record<FileRejectionCode, string>> = {
  UNSUPPORTED_ENCODING: 'Save it as UTF-8 and submit it again.',
  UNSUPPORTED_COMPRESSION: 'Unpack it and submit the text file.',
  UNSUPPORTED_CONTAINER: 'Export the records as CSV, NDJSON or JSON and submit that file.',
};

const startsWith = (head: Uint8Array, bytes: readonly number[], at = 0): boolean =>
  bytes.every((byte, index) => head[at + index] === byte);

function reject(code: FileRejectionCode, what: string): never {
  throw new FileRejectedError(code, `The file is ${what}. ${REMEDIES[code] ?? ''}`);
}

/** UTF-16 and UTF-32 without a mark: ASCII text then has NULs at fixed places, which text in UTF-8 never begins with. */
function rejectWideCharacters(head: Uint8Array): void {
  const nuls = [0, 1, 2, 3].map((at) => head[at] === 0);
  const pattern = nuls.map((nul) => (nul ? '0' : 'x')).join('');
  if (['x0x0', '0x0x', 'x000', '000x'].includes(pattern)) reject('UNSUPPORTED_ENCODING', 'UTF-16 or UTF-32 text');
}

/**
 * Makes sure that a file begins like text in UTF-8, and answers where that text begins: behind a byte order mark.
 * Throws {@link FileRejectedError} for other encodings, compressed files and containers.
 */
export function findTextStart(head: Uint8Array): number {
  for (const { code, name, at, bytes } of SIGNATURES) {
    if (startsWith(head, bytes, at)) {
      reject(
        code,
        code === 'UNSUPPORTED_CONTAINER'
          ? name
          : `${code === 'UNSUPPORTED_ENCODING' ? 'encoded in' : 'compressed with'} ${name}`,
      );
    }
  }
  rejectWideCharacters(head);
  return startsWith(head, UTF8_BOM) ? UTF8_BOM.length : 0;
}
