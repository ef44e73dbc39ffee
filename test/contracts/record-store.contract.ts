import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { RecordRow } from '../../lambdas/domain/model.ts';
import { EXPIRES_AT_SECONDS, makeRow, SUBMISSION_ID } from '../support/factories.ts';
import { START_MS } from '../support/memory/index.ts';
import type { Make, StoreWorld } from './world.ts';

const key = (recordNo: number) => ({ submissionId: SUBMISSION_ID, recordNo });
const waiting = (overrides: Partial<RecordRow> = {}): RecordRow =>
  makeRow({ state: 'deferred', reason: 'breaker_open', answers: {}, ...overrides });
const failed = (overrides: Partial<RecordRow> = {}): RecordRow =>
  makeRow({ state: 'failed', reason: 'provider_rejected', answers: {}, ...overrides });

/** Text that no compression makes shorter by more than a quarter. */
function incompressible(length: number): string {
  let text = '';
  for (let index = 0; text.length < length; index++) {
    text += createHash('sha512').update(String(index)).digest('base64');
  }
  return text.slice(0, length);
}

const everyField: RecordRow = makeRow({
  state: 'dead_lettered',
  reason: 'attempts_exhausted',
  detail: 'geo: HTTP 503 – „Wartung“',
  attempts: 5,
  generation: 2,
  redrives: 1,
  waitingOn: 'geo',
  waitingUntilMs: START_MS + 5,
  aloneReceives: 2,
  resends: 1,
});

/** The rows and which of two stands. */
export function describeRecordStore(make: Make<StoreWorld>): void {
  test.each([
    ['with every field', everyField],
    ['without any optional field', makeRow({ answers: {} })],
    ['with a long answer', makeRow({ answers: { company: { kind: 'found', data: { text: 'né '.repeat(4000) } } } })],
  ])('a row %s is read as it was written', async (_which, row) => {
    const { records } = await make();

    expect(await records.put(row)).toEqual({ applied: true, stored: row });

    expect(await records.getMany([row])).toEqual([row]);
  });

  describe('which row stands', () => {
    const cases: [name: string, stored: RecordRow, written: RecordRow, applied: boolean][] = [
      ['a wait gives way to another wait', waiting(), waiting({ updatedAtMs: START_MS + 2000 }), true],
      ['a wait gives way to an outcome', waiting(), makeRow(), true],
      ['an outcome stands against a wait', failed(), waiting(), false],
      ['an outcome stands against another one', failed(), makeRow(), false],
      ['an outcome gives way to a replay', failed(), waiting({ generation: 1 }), true],
      ['a replay stands against what came before it', waiting({ generation: 1 }), failed(), false],
      ['a success stands against every replay', makeRow(), failed({ generation: 3 }), false],
      ['a cancelled record gives way to a replay', failed({ state: 'cancelled' }), makeRow({ generation: 1 }), true],
    ];

    test.each(cases)('%s', async (_name, stored, written, applied) => {
      const { records } = await make();
      await records.put(stored);

      expect(await records.put(written)).toEqual({ applied, stored: applied ? written : stored });

      expect(await records.getMany([key(1)])).toEqual([applied ? written : stored]);
    });

    test('the same outcome written again is taken as applied, another of the same state is not', async () => {
      const { records } = await make();
      const row = makeRow();
      await records.put(row);

      expect(await records.put(structuredClone(row))).toEqual({ applied: true, stored: row });
      const other = makeRow({ updatedAtMs: row.updatedAtMs + 1 });
      expect(await records.put(other)).toEqual({ applied: false, stored: row });
    });

    test('of many outcomes at the same moment exactly one stands, and all are told of it', async () => {
      const { records } = await make();
      const racers = Array.from({ length: 12 }, (_, index) => makeRow({ updatedAtMs: START_MS + index }));

      const outcomes = await Promise.all(racers.map(async (row) => records.put(row)));

      expect(outcomes.filter(({ applied }) => applied)).toHaveLength(1);
      expect(new Set(outcomes.map(({ stored }) => stored.updatedAtMs)).size).toBe(1);
    });
  });

  describe('reading', () => {
    test('many keys at once, some absent, some asked for twice', async () => {
      const { records } = await make();
      const numbers = Array.from({ length: 130 }, (_, index) => index * 3 + 1);
      await Promise.all(numbers.map(async (recordNo) => records.put(makeRow({ recordNo }))));

      const rows = await records.getMany([...numbers, 2, 5, 1].map(key));

      expect(rows.map(({ recordNo }) => recordNo).toSorted((a, b) => a - b)).toEqual(numbers);
      expect(await records.getMany([])).toEqual([]);
    });

    test('a chunk in record order, without its neighbours', async () => {
      const { records } = await make();
      for (const recordNo of [500, 251, 300, 250, 501]) await records.put(makeRow({ recordNo }));

      const rows = await records.chunkRows(SUBMISSION_ID, 1);

      expect(rows.map(({ recordNo }) => recordNo)).toEqual([251, 300, 500]);
    });

    test('a chunk whose rows fill more than one page of a query', async () => {
      const { records } = await make();
      const numbers = [1, 2, 3, 4, 5, 6, 7];
      const answers = { company: { kind: 'found', data: { text: incompressible(200_000) } } } as const;
      await Promise.all(numbers.map(async (recordNo) => records.put(makeRow({ recordNo, answers }))));

      expect((await records.chunkRows(SUBMISSION_ID, 0)).map(({ recordNo }) => recordNo)).toEqual(numbers);
    });
  });

  test('expired rows are absent and are overwritten, whatever they say', async () => {
    const { records, clock } = await make();
    await records.put(makeRow({ generation: 4 }));
    await clock.advance(EXPIRES_AT_SECONDS * 1000 - START_MS);
    expect(await records.getMany([key(1)])).toEqual([]);
    expect(await records.chunkRows(SUBMISSION_ID, 0)).toEqual([]);

    const successor = waiting({ expiresAtSeconds: EXPIRES_AT_SECONDS + 1000 });

    expect(await records.put(successor)).toEqual({ applied: true, stored: successor });
  });
}
