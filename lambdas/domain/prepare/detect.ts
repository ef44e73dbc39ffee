import { UnreadableSourceError } from '../source/unreadable-source.ts';

/** What a file is packed or written in, where that is not text in UTF-8. */
export type Wrapping = { kind: 'gzip' } | { kind: 'zip' } | { kind: 'charset'; charset: string };

/** Marks of the encodings that announce themselves. The longer ones stand before their own beginnings. */
const MARKS: readonly { charset: string; bytes: readonly number[] }[] = [
  { charset: 'utf-32le', bytes: [0xff, 0xfe, 0, 0] },
  { charset: 'utf-32be', bytes: [0, 0, 0xfe, 0xff] },
  { charset: 'utf-16le', bytes: [0xff, 0xfe] },
  { charset: 'utf-16be', bytes: [0xfe, 0xff] },
];
const GZIP = [0x1f, 0x8b];
const ZIPS = [
  [0x50, 0x4b, 3, 4],
  [0x50, 0x4b, 5, 6],
];
const UTF_8_MARK = [0xef, 0xbb, 0xbf];
/** Old Office files, and workbooks with a password. */
const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

const begins = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte);

/**
 * What must be unpacked or decoded before records can be read at an offset; undefined for text in UTF-8, and for what cannot be prepared.
 *
 * @param declared the character set that the customer named, as `charsetOf` answers it; a mark in the file counts more
 * @throws UnreadableSourceError for an old Office file, and for one with a password.
 */
export function wrappingOf(head: Uint8Array, declared?: string): Wrapping | undefined {
  if (begins(head, GZIP)) return { kind: 'gzip' };
  if (ZIPS.some((bytes) => begins(head, bytes))) return { kind: 'zip' };
  if (begins(head, COMPOUND_FILE)) throw compoundFile(head);
  const mark = MARKS.find(({ bytes }) => begins(head, bytes));
  if (mark) return { kind: 'charset', charset: mark.charset };
  if (declared === undefined || declared === 'utf-8' || begins(head, UTF_8_MARK)) return undefined;
  return { kind: 'charset', charset: declared };
}

/** A stream of this name holds the workbook where a password protects it. */
const PROTECTED = Buffer.from('EncryptedPackage', 'utf16le');

function compoundFile(head: Uint8Array): UnreadableSourceError {
  if (Buffer.from(head.buffer, head.byteOffset, head.byteLength).includes(PROTECTED)) {
    return new UnreadableSourceError(
      'ENCRYPTED',
      'The workbook is protected by a password. Save it without one and submit it again.',
    );
  }
  return new UnreadableSourceError(
    'UNSUPPORTED_CONTAINER',
    'The file is an old Office file (.xls) or a workbook with a password. Save it as .xlsx without a password, or as CSV in UTF-8, and submit that file.',
  );
}
