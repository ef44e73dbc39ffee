import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { positionBefore, type ReadItem, type ReaderPosition } from '../../../lambdas/domain/files/reader.ts';
import { RecordLexer } from '../../../lambdas/domain/files/record-lexer.ts';
import { readFrom } from '../../support/files/read-all.ts';

const COMMA = ','.charCodeAt(0);

describe('a record that ends in stray text', () => {
  it('is not looked through again from each of its lines', () => {
    const line = 'x","\n';
    const bytes = Buffer.from(`${line.repeat(100)}x"y\n`);
    const lexer = new RecordLexer(COMMA);
    expect(lexer.run(bytes, 0, 0)).toEqual({ at: 100 * line.length + 2, stop: 'stray' });
    const { column } = lexer;
    lexer.rememberStray();
    lexer.reset();
    expect(lexer.run(bytes, line.length, 0)).toEqual({ at: 2 * line.length - 1, stop: 'known_stray' });
    expect(lexer.column).toBe(column - 1);
  });

  it('is read as it is by a reader that knows of no earlier line', async () => {
    const text = fc.string({ unit: fc.constantFrom('x', '"', ',', '\n', '\r', '","', 'x","\n'), maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, async (body) => {
        const all = await read(body, { byteOffset: 0, recordNo: 0, line: 1 });
        for (const [index, item] of all.entries()) {
          expect(await read(body, positionBefore(item))).toEqual(all.slice(index));
        }
      }),
      { numRuns: 300 },
    );
  });
});

const OPTIONS = { dialect: { delimiter: ',', header: ['a', 'b'] }, maxRecordBytes: 1_000 };
const read = async (body: string, from: ReaderPosition): Promise<ReadItem[]> =>
  (await readFrom(Buffer.from(body), 'csv', from, OPTIONS)).items;
