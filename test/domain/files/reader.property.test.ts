import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';
import fc from 'fast-check';
import {
  positionAfter,
  positionBefore,
  type FileFormat,
  type ReaderPosition,
  type ReadOptions,
} from '../../../lambdas/domain/files/reader.ts';
import { readFrom, readWhole, utf8, type Reading } from '../../support/files/read-all.ts';

const START: ReaderPosition = { byteOffset: 0, recordNo: 0, line: 1 };

const cuts = fc.array(fc.nat({ max: 120 }), { maxLength: 25 }).map((offsets) => offsets.toSorted((a, b) => a - b));
const soup = (...parts: (string | number[])[]) =>
  fc
    .array(fc.constantFrom(...parts), { maxLength: 50 })
    .map((chosen) => Buffer.concat(chosen.map((part) => (typeof part === 'string' ? utf8(part) : Buffer.from(part)))));

/** Bytes in which every decision of the scanners comes up often, well-formed or not. */
const csvSoup = soup('"', '"', ',', '\n', '\r', '\r\n', 'a', 'b', ' ', 'é', '😀', [0xff], [0xc3], '\0', '\uFFFD', '""');
const escapedSoup = soup('"', '"', '\\', '\\"', "'", ',', '\n', '\r', '\r\n', 'a', ' ', 'é', [0xff]);
const jsonSoup = soup(
  '{"a":1}',
  '{"a":"x,]}"}',
  '{"a":[1,{"b":2}]}',
  '{"a":"\\""}',
  '{"a":"é😀"}',
  '{}',
  '"s"',
  '[1,2]',
  ',',
  ',',
  ',',
  ' ',
  '\n',
  '\r',
  '\r\n',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ':',
  '1',
  [0xff],
  '\0',
  '\t',
);

/** A reading as plain data, the rejection included. */
const plain = ({ items, rejection }: Reading) => ({
  items,
  rejection: rejection && {
    code: rejection.code,
    message: rejection.message,
    line: rejection.line,
  },
});

async function expectSameFromEverywhere(bytes: Buffer, format: FileFormat, options: ReadOptions, blocks: number[]) {
  const whole = plain(await readFrom(bytes, format, START, options));
  expect(plain(await readFrom(bytes, format, START, options, blocks))).toEqual(whole);
  for (const [index, item] of whole.items.entries()) {
    const { rejection } = whole;
    const again = await readFrom(bytes, format, positionBefore(item), options, blocks);
    expect(plain(again)).toEqual({ items: whole.items.slice(index), rejection });
    const behind = await readFrom(bytes, format, positionAfter(item), options, blocks);
    expect(plain(behind)).toEqual({ items: whole.items.slice(index + 1), rejection });
  }
}

describe('a reader that starts at any item again', () => {
  it.each<[string, FileFormat, ReadOptions['dialect'], fc.Arbitrary<Buffer>]>([
    ['CSV of one column', 'csv', { delimiter: ',', header: ['x'] }, csvSoup],
    ['CSV of two columns', 'csv', { delimiter: ',', header: ['x', 'y'] }, csvSoup],
    ['CSV with backslash escapes', 'csv', { delimiter: ',', header: ['x', 'y'], escape: '\\' }, escapedSoup],
    ['CSV with other quotes', 'csv', { delimiter: ',', header: ['x'], quote: "'", escape: '\\' }, escapedSoup],
    ['CSV without quotes', 'csv', { delimiter: ',', header: ['x', 'y'], quote: '' }, escapedSoup],
    ['CSV with a column more', 'csv', { delimiter: ',', header: ['x'], surplus: 1 }, csvSoup],
    ['NDJSON', 'ndjson', undefined, jsonSoup],
    ['a JSON array', 'json', undefined, jsonSoup],
  ])('yields the same items and the same end, whatever the blocks: %s', async (_, format, dialect, content) => {
    await fc.assert(
      fc.asyncProperty(content, cuts, fc.integer({ min: 1, max: 40 }), async (bytes, blocks, maxRecordBytes) => {
        const reading = maxRecordBytes % 4 === 0 ? { skipRowsAtEnd: maxRecordBytes % 3 } : {};
        await expectSameFromEverywhere(
          bytes,
          format,
          { maxRecordBytes, readerVersion: READER_VERSION, reading, ...(dialect && { dialect }) },
          blocks,
        );
      }),
      { numRuns: 400 },
    );
  });
});

interface WrittenRow {
  bytes: string;
  cells: string[];
}

const quote = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
const cell = fc
  .array(fc.constantFrom('a', 'é', '中', '😀', '"', ',', ';', ' ', '\r', '\n', '\r\n', '\uFFFD', '\t', 'b'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));
const needsQuotes = (text: string): boolean => /["\r\n,]/.test(text);
const row: fc.Arbitrary<WrittenRow> = fc
  .array(fc.tuple(cell, fc.boolean()), { minLength: 3, maxLength: 3 })
  .map((cells) => ({
    bytes: cells.map(([text, quoted]) => (quoted || needsQuotes(text) ? quote(text) : text)).join(','),
    cells: cells.map(([text]) => text),
  }))
  // A row without content is a blank line.
  .filter(({ bytes, cells }) => bytes.includes('"') || cells.some((text) => text.trim() !== ''));
const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
const physicalLines = (text: string): number => text.split(/\r\n|\r|\n/).length - 1;

describe('a CSV file that was written correctly', () => {
  it('is read cell for cell, with exact numbers, lines and offsets', async () => {
    const rows = fc.array(fc.tuple(row, lineEnd, fc.constantFrom('', '', ' ', '\n')), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('', '\uFEFF'), lineEnd, rows, cuts, async (mark, headerEnd, written, blocks) => {
        let text = `${mark}record_id,"b ""2""",c${headerEnd}`;
        const expected = [];
        for (const [{ bytes, cells }, end, blank] of written) {
          const line = physicalLines(text) + 1;
          expected.push({ kind: 'record', line, byteOffset: Buffer.byteLength(text), cells });
          text += bytes + end;
          // A CR and an LF that happened to meet would be one line end.
          if (blank !== '' && end !== '\r') text += blank.trim() === '' && blank !== '\n' ? `${blank}\r\n` : blank;
        }
        const { items, rejection } = await readWhole(utf8(text), 'csv', { cuts: blocks });
        expect(rejection).toBeUndefined();
        expect(
          items.map((item) => ({
            kind: item.kind,
            line: item.line,
            byteOffset: item.byteOffset,
            cells: item.kind === 'record' ? Object.values(item.fields) : [],
          })),
        ).toEqual(expected);
        expect(items.map(({ recordNo }) => recordNo)).toEqual(expected.map((_, index) => index + 1));
      }),
      { numRuns: 400 },
    );
  });
});
