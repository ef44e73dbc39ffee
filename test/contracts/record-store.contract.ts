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
  isolatedReceives: 2,
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

  describe('two writers of one waiting row', () => {
    const company = { company: { kind: 'found', data: { name: 'Acme' } } } as const;
    const geo = { geo: { kind: 'not_found' } } as const;

    test('the one who knows the row writes it as it is', async () => {
      const { records } = await make();
      const seen = waiting({ answers: company, attempts: 2, isolatedReceives: 3 });
      await records.put(seen);
      const row = waiting({ attempts: 0, updatedAtMs: START_MS + 1 });

      expect(await records.put(row, seen)).toEqual({ applied: true, stored: row });
    });

    test('neither loses what the other one bought and counted', async () => {
      const { records } = await make();
      const seen = waiting({ attempts: 0 });
      await records.put(seen);
      const first = waiting({
        state: 'retrying',
        answers: company,
        attempts: 2,
        isolatedReceives: 3,
        updatedAtMs: START_MS + 1,
      });
      await records.put(first, seen);
      const second = waiting({ answers: geo, attempts: 1, isolatedReceives: 1, resends: 1, updatedAtMs: START_MS + 2 });

      const { applied, stored } = await records.put(second, seen);

      expect(applied).toBe(true);
      expect(stored).toEqual({ ...second, answers: { ...company, ...geo }, attempts: 2, isolatedReceives: 3 });
      expect(await records.getMany([key(1)])).toEqual([stored]);
    });

    test('the one who writes over nothing unseen leaves it to whoever was faster', async () => {
      const { records } = await make();
      const seen = waiting();
      const change = { state: 'retrying', reason: 'message_lost', resends: 1, updatedAtMs: START_MS + 2 } as const;
      const options = { ifUnchanged: true };
      const first = await records.put(waiting(change), undefined, options);
      expect(first).toEqual({ applied: true, stored: waiting(change) });
      const same = structuredClone(waiting(change));
      expect(await records.put(same, undefined, options)).toEqual({ applied: false, stored: first.stored });
      expect(await records.put(same)).toEqual(first);
      const other = waiting({ ...change, updatedAtMs: START_MS + 3 });
      expect(await records.put(other, undefined, options)).toEqual({ applied: false, stored: first.stored });

      expect(await records.put(other, seen, options)).toEqual({ applied: false, stored: first.stored });
      expect(await records.put(other, first.stored, options)).toEqual({ applied: true, stored: other });
      expect(await records.getMany([key(1)])).toEqual([other]);
    });

    test('a mark that is cleared stays cleared', async () => {
      const { records } = await make();
      await records.put(waiting({ isolatedReceives: 3 }));
      const { stored } = await records.put(waiting({ updatedAtMs: START_MS + 1 }));
      expect(stored.isolatedReceives).toBeUndefined();
    });

    test('a replay begins its attempts anew, and keeps what was bought meanwhile', async () => {
      const { records } = await make();
      await records.put(waiting({ answers: company, attempts: 3, updatedAtMs: START_MS + 1 }));
      const replay = waiting({ generation: 1, attempts: 0, updatedAtMs: START_MS + 2 });
      const { stored } = await records.put(replay, waiting({ attempts: 3 }));
      expect(stored).toEqual({ ...replay, answers: company });
    });

    test('of many at the same moment all keep what they bought', async () => {
      const { records } = await make();
      const names = ['a', 'b', 'c', 'd'];
      await Promise.all(
        names.map(async (name, index) =>
          records.put(waiting({ answers: { [name]: { kind: 'not_found' } }, updatedAtMs: START_MS + index })),
        ),
      );
      const [row] = await records.getMany([key(1)]);
      expect(Object.keys(row?.answers ?? {}).toSorted()).toEqual(names);
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
