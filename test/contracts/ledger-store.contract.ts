import { describe, expect, test } from '@jest/globals';
import type { LedgerChunk } from '../../lambdas/domain/model.ts';
import type { LedgerMarks } from '../../lambdas/domain/ledger/ports.ts';
import { EXPIRES_AT_SECONDS, makeLedgerChunk, SUBMISSION_ID } from '../support/factories.ts';
import { START_MS } from '../support/memory/index.ts';
import type { Make, StoreWorld } from './world.ts';

const marks = (overrides: Partial<LedgerMarks> = {}): LedgerMarks => ({
  succeeded: [],
  cancelled: [],
  failed: new Map(),
  ...overrides,
});
const sorted = (numbers: Iterable<number>): number[] => [...numbers].toSorted((a, b) => a - b);

/** The number sets that count outcomes. */
export function describeLedgerStore(make: Make<StoreWorld>): void {
  const mark = async ({ ledger }: StoreWorld, chunk: number, given: Partial<LedgerMarks>): Promise<LedgerChunk> =>
    ledger.mark(SUBMISSION_ID, chunk, marks(given), EXPIRES_AT_SECONDS);

  describe('marking', () => {
    test('answers the whole item after it', async () => {
      const world = await make();
      await mark(world, 0, { succeeded: [0, 249] });

      const after = await mark(world, 0, { cancelled: [7], failed: new Map([['provider_rejected', [3, 4]]]) });

      const expected = makeLedgerChunk({
        succeeded: new Set([0, 249]),
        cancelled: new Set([7]),
        failed: new Map([['provider_rejected', new Set([3, 4])]]),
      });
      expect(after).toEqual(expected);
      expect(await world.ledger.get(SUBMISSION_ID, 0)).toEqual(expected);
    });

    test('an outcome that is marked again counts once', async () => {
      const world = await make();
      const failed = new Map([['invalid_record', [5]]] as const);
      await mark(world, 0, { succeeded: [1], failed });

      const after = await mark(world, 0, { succeeded: [1, 2], failed });

      expect(sorted(after.succeeded)).toEqual([1, 2]);
      expect(sorted(after.failed.get('invalid_record') ?? [])).toEqual([5]);
    });

    test('marks at the same moment all stay', async () => {
      const world = await make();
      const offsets = Array.from({ length: 25 }, (_, offset) => offset);

      const answers = await Promise.all(offsets.map(async (offset) => mark(world, 3, { succeeded: [offset] })));

      expect(sorted((await world.ledger.get(SUBMISSION_ID, 3))?.succeeded ?? [])).toEqual(offsets);
      // Somebody saw the chunk as full: the end is found by the one who makes it.
      expect(Math.max(...answers.map(({ succeeded }) => succeeded.size))).toBe(25);
    });

    test('nothing to mark changes nothing', async () => {
      const world = await make();
      await mark(world, 0, { succeeded: [1] });

      expect(await mark(world, 0, {})).toEqual(makeLedgerChunk({ succeeded: new Set([1]) }));
      expect(await mark(world, 1, {})).toEqual(makeLedgerChunk({ chunk: 1 }));
    });
  });

  describe("fan-out's bookkeeping", () => {
    test('starts and sizes keep what workers have marked, in either order', async () => {
      const world = await make();
      await mark(world, 1, { succeeded: [2] });

      await world.ledger.noteStarts(
        SUBMISSION_ID,
        [
          { chunk: 0, byteOffset: 20, line: 2 },
          { chunk: 1, byteOffset: 9000, line: 252 },
        ],
        EXPIRES_AT_SECONDS,
      );
      await mark(world, 0, { succeeded: [0] });
      const sized = await world.ledger.setSize(SUBMISSION_ID, 1, 17, EXPIRES_AT_SECONDS);

      expect(sized).toEqual(
        makeLedgerChunk({ chunk: 1, size: 17, start: { byteOffset: 9000, line: 252 }, succeeded: new Set([2]) }),
      );
      expect(await world.ledger.get(SUBMISSION_ID, 0)).toEqual(
        makeLedgerChunk({ start: { byteOffset: 20, line: 2 }, succeeded: new Set([0]) }),
      );
    });

    test('a checksum is kept by a later note without one, and replaced by another', async () => {
      const { ledger } = await make();
      const start = { chunk: 0, byteOffset: 20, line: 2 };
      const noted = async (crc?: number) => {
        await ledger.noteStarts(SUBMISSION_ID, [{ ...start, ...(crc !== undefined && { crc }) }], EXPIRES_AT_SECONDS);
        return (await ledger.get(SUBMISSION_ID, 0))?.start;
      };

      expect(await noted()).toEqual({ byteOffset: 20, line: 2 });
      expect(await noted(4_294_967_295)).toEqual({ byteOffset: 20, line: 2, crc: 4_294_967_295 });
      expect(await noted()).toEqual({ byteOffset: 20, line: 2, crc: 4_294_967_295 });
      expect((await noted(1))?.crc).toBe(1);
    });

    test('more starts than go out at one time are all noted', async () => {
      const world = await make();
      const starts = Array.from({ length: 40 }, (_, chunk) => ({ chunk, byteOffset: chunk * 100, line: chunk + 2 }));

      await world.ledger.noteStarts(SUBMISSION_ID, starts, EXPIRES_AT_SECONDS);

      const noted = await Promise.all(starts.map(async ({ chunk }) => world.ledger.get(SUBMISSION_ID, chunk)));
      expect(noted.map((chunk) => ({ chunk: chunk?.chunk, ...chunk?.start }))).toEqual(starts);
    });
  });

  describe('reopening', () => {
    test('takes offsets out of every failure and out of the cancelled, never out of the succeeded', async () => {
      const world = await make();
      await mark(world, 0, {
        succeeded: [1],
        cancelled: [2, 3],
        failed: new Map([
          ['provider_timeout', [4, 5]],
          ['worker_crashed', [4]],
        ]),
      });

      const after = await world.ledger.reopen(SUBMISSION_ID, 0, [1, 2, 4]);

      expect(after).toEqual(
        makeLedgerChunk({
          succeeded: new Set([1]),
          cancelled: new Set([3]),
          failed: new Map([['provider_timeout', new Set([5])]]),
        }),
      );
      expect(await world.ledger.reopen(SUBMISSION_ID, 0, [1, 2, 4])).toEqual(after);
    });

    test('of a chunk that has no item, or of nothing, changes nothing', async () => {
      const world = await make();
      await mark(world, 0, { cancelled: [2] });

      expect(await world.ledger.reopen(SUBMISSION_ID, 0, [])).toEqual(makeLedgerChunk({ cancelled: new Set([2]) }));
      expect(await world.ledger.reopen(SUBMISSION_ID, 5, [1])).toEqual(makeLedgerChunk({ chunk: 5 }));
      expect(await world.ledger.get(SUBMISSION_ID, 5)).toBeUndefined();
    });
  });

  test('what an expired submission of the same id left is not counted', async () => {
    const world = await make();
    await mark(world, 0, { succeeded: [1], failed: new Map([['internal_error', [2]]]) });
    await world.clock.advance(EXPIRES_AT_SECONDS * 1000 - START_MS);
    expect(await world.ledger.get(SUBMISSION_ID, 0)).toBeUndefined();
    expect(await world.ledger.reopen(SUBMISSION_ID, 0, [2])).toEqual(makeLedgerChunk());

    const after = await world.ledger.mark(SUBMISSION_ID, 0, marks({ cancelled: [9] }), EXPIRES_AT_SECONDS + 1000);

    expect(after).toEqual(makeLedgerChunk({ cancelled: new Set([9]) }));
  });
}
