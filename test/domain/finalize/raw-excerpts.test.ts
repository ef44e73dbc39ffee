import { EXCERPT_BYTES, RawExcerpts } from '../../../lambdas/domain/finalize/raw-excerpts.ts';
import { readSource } from '../../../lambdas/domain/source/source-reader.ts';
import { makeSubmission, TERMS } from '../../support/factories.ts';
import { createMemoryWorld, createTestClock } from '../../support/memory/index.ts';

/** Reads NDJSON through a watch, quoting defects as they come. */
async function quotes(file: string, pieceBytes: number): Promise<(string | undefined)[]> {
  const { objects } = createMemoryWorld({ clock: createTestClock(), pieceBytes });
  const source = { key: 'k', ...objects.seed('k', file) };
  const excerpts = new RawExcerpts();
  const found: (string | undefined)[] = [];
  const from = { byteOffset: 0, recordNo: 0, line: 1 };
  const submission = makeSubmission({ source, format: 'ndjson', terms: { ...TERMS, maxRecordBytes: 40_000 } });
  const watch = excerpts.watch.bind(excerpts);
  for await (const items of readSource({ objects }, submission, from, { watch })) {
    for (const item of items) {
      if (item.kind === 'defect') found.push(excerpts.quote(item.byteOffset, item.endByteOffset));
      excerpts.answered(item.endByteOffset);
    }
  }
  return found;
}

describe('the excerpt of a row that could not be read', () => {
  it.each([1, 7, 64, 100_000])(
    'is its text without the line end, whatever the blocks (%i bytes)',
    async (pieceBytes) => {
      const file = '{"a":1}\n{"ü":broken}\r\n\n{"b":2}\n[1]\n"end"';
      expect(await quotes(file, pieceBytes)).toEqual(['{"ü":broken}', '[1]', '"end"']);
    },
  );

  it.each([999, 100_000])('is bounded and cut between characters (blocks of %i bytes)', async (pieceBytes) => {
    const [quote] = await quotes(`{"a":1}\n[${'ü'.repeat(15_000)}]\n{"b":2}\n`, pieceBytes);
    expect(quote).toBe(`[${'ü'.repeat((EXCERPT_BYTES - 2) / 2)}…`);
  });

  it.each([999, 100_000])('is there for a record beyond the limit too (blocks of %i bytes)', async (pieceBytes) => {
    const [quote] = await quotes(`{"a":1}\n{"big":"${'x'.repeat(90_000)}"}\n{"b":2}\n`, pieceBytes);
    expect(quote).toBe(`${`{"big":"${'x'.repeat(EXCERPT_BYTES)}`.slice(0, EXCERPT_BYTES)}…`);
  });

  it('is undefined for bytes that went by', async () => {
    const excerpts = new RawExcerpts();
    async function* blocks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('first');
      yield Buffer.from('second');
    }
    for await (const _ of excerpts.watch(blocks(), 0)) excerpts.answered(5);
    expect(excerpts.quote(0, 5)).toBeUndefined();
    expect(excerpts.quote(5, 11)).toBe('second');
  });
});
