import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { FileRejectedError, openFile } from '../../../lambdas/domain/files/reader.ts';
import { utf8 } from '../../support/files/read-all.ts';

const CSV = 'record_id,name\nr1,a\n';

function rejectionOf(head: Uint8Array): FileRejectedError | undefined {
  try {
    openFile(head, 'csv', { fileBytes: head.length, readerVersion: READER_VERSION });
  } catch (error) {
    if (error instanceof FileRejectedError) return error;
    throw error;
  }
  return undefined;
}

const tar = Buffer.alloc(512);
tar.write('records.csv', 0);
tar.write('ustar', 257);

/** Every ASCII character in four bytes, little or big endian. */
const utf32 = (text: string, big: boolean): Buffer =>
  Buffer.concat(
    Array.from(text, (character) => {
      const bytes = Buffer.alloc(4);
      bytes[big ? 3 : 0] = character.charCodeAt(0);
      return bytes;
    }),
  );

describe('a file that is no text in UTF-8', () => {
  it.each([
    ['UTF-16 with a mark, little endian', Buffer.from(`\uFEFF${CSV}`, 'utf16le'), 'UNSUPPORTED_ENCODING'],
    ['UTF-16 with a mark, big endian', Buffer.from(`\uFEFF${CSV}`, 'utf16le').swap16(), 'UNSUPPORTED_ENCODING'],
    ['UTF-16 without a mark, little endian', Buffer.from(CSV, 'utf16le'), 'UNSUPPORTED_ENCODING'],
    ['UTF-16 without a mark, big endian', Buffer.from(CSV, 'utf16le').swap16(), 'UNSUPPORTED_ENCODING'],
    ['UTF-32, little endian', Buffer.from([0xff, 0xfe, 0, 0, 0x72, 0, 0, 0]), 'UNSUPPORTED_ENCODING'],
    ['UTF-32, big endian', Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x72]), 'UNSUPPORTED_ENCODING'],
    ['UTF-32 without a mark, little endian', utf32(CSV, false), 'UNSUPPORTED_ENCODING'],
    ['UTF-32 without a mark, big endian', utf32(CSV, true), 'UNSUPPORTED_ENCODING'],
    ['gzip', gzipSync(CSV), 'UNSUPPORTED_COMPRESSION'],
    ['Zstandard', zstdCompressSync(CSV), 'UNSUPPORTED_COMPRESSION'],
    ['bzip2', Buffer.from('BZh91AY&SY', 'latin1'), 'UNSUPPORTED_COMPRESSION'],
    ['a workbook', Buffer.from('PK\x03\x04\x14\0\x06\0[Content_Types].xml', 'latin1'), 'UNSUPPORTED_CONTAINER'],
    ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), 'UNSUPPORTED_CONTAINER'],
    ['a PDF document', utf8('%PDF-1.7\n'), 'UNSUPPORTED_CONTAINER'],
    ['a tar archive', tar, 'UNSUPPORTED_CONTAINER'],
    ['a Parquet file', Buffer.from('PAR1\x15\x04', 'latin1'), 'UNSUPPORTED_CONTAINER'],
  ])('is refused by name: %s', (_, head, code) => {
    const rejection = rejectionOf(head);
    expect(rejection?.code).toBe(code);
    expect(rejection?.message).toMatch(/^The file is .+\. (Save|Unpack|Export) .+\.$/);
  });

  it('is not mistaken for text that begins like one', () => {
    for (const head of [
      'BZh9,record_id\n',
      'PK,record_id\n',
      'PAR1,record_id\n',
      'Obj,record_id\n',
      'Rar!,record_id\n',
    ]) {
      expect(rejectionOf(utf8(head))).toBeUndefined();
    }
  });
});
