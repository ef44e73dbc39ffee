import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { accountFor, settle } from '../../../lambdas/domain/ledger/settlement.ts';
import { EXPIRES_AT_SECONDS, makeProcessing, makeRow, SUBMISSION_ID } from '../../support/factories.ts';
import { createMemoryWorld, createTestClock, type PortCall } from '../../support/memory/index.ts';

function setUp(refuse: (call: PortCall) => boolean = () => false) {
  const clock = createTestClock();
  const calls: PortCall[] = [];
  const world = createMemoryWorld({
    clock,
    hook: async (call, apply) => {
      calls.push(call);
      if (refuse(call)) throw new DependencyUnavailableError('Throttled.');
      return apply();
    },
  });
  const deps = { ...world, finalizeQueue: world.queues.live.finalize, clock };
  const ledger = () => world.inspect.ledger(SUBMISSION_ID);
  const submit = async (records: number) => {
    await world.submissions.create(makeProcessing(records));
    await world.ledger.setSize(SUBMISSION_ID, Math.ceil(records / 250) - 1, records % 250 || 250, EXPIRES_AT_SECONDS);
  };
  return { world, deps, ledger, submit, calls, state: () => world.inspect.submissions()[0]?.state };
}

const rows = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => makeRow({ recordNo: from + i }));

describe('settling', () => {
  it('writes rows before the ledger, with one ledger update per chunk', async () => {
    const { deps, submit, calls, ledger } = setUp();
    await submit(500);
    calls.length = 0;
    const settled = await settle(deps, [
      ...rows(245, 255),
      makeRow({ recordNo: 1, state: 'failed', reason: 'invalid_record' }),
    ]);
    expect(settled.every(({ outcome }) => outcome === 'settled')).toBe(true);
    const writes = calls.map(({ port, method }) => `${port}.${method}`);
    expect(writes.lastIndexOf('records.put')).toBeLessThan(writes.indexOf('ledger.mark'));
    expect(writes.filter((write) => write === 'ledger.mark')).toHaveLength(2);
    expect(ledger().map(({ succeeded }) => succeeded.size)).toEqual([6, 5]);
    expect(ledger()[0]?.failed.get('invalid_record')).toEqual(new Set([0]));
  });

  it('counts what is stored, not what was to be written: a late failure changes nothing', async () => {
    const { deps, submit, ledger } = setUp();
    await submit(10);
    await settle(deps, [makeRow({ recordNo: 3, generation: 1 })]);
    const late = makeRow({ recordNo: 3, generation: 0, state: 'dead_lettered', reason: 'attempts_exhausted' });
    const [settlement] = await settle(deps, [late]);
    expect(settlement).toMatchObject({
      outcome: 'settled',
      applied: false,
      stored: { state: 'succeeded', generation: 1 },
    });
    expect(ledger()[0]).toMatchObject({ succeeded: new Set([2]), failed: new Map() });
  });

  it('marks nothing for rows that are not final', async () => {
    const { deps, submit, calls } = setUp();
    await submit(10);
    await settle(deps, [makeRow({ state: 'retrying', reason: 'provider_timeout' })]);
    expect(calls.some(({ method }) => method === 'mark')).toBe(false);
  });

  it('counts a cancelled record as cancelled', async () => {
    const { deps, submit, ledger } = setUp();
    await submit(10);
    await settle(deps, [makeRow({ state: 'cancelled', reason: 'cancelled' })]);
    expect(ledger()[0]?.cancelled).toEqual(new Set([0]));
  });

  it('makes only the record of a row that could not be written unavailable', async () => {
    const { deps, submit, ledger } = setUp(
      ({ method, args: [row] }) =>
        method === 'put' && typeof row === 'object' && row !== null && 'recordNo' in row && row.recordNo === 2,
    );
    await submit(10);
    const settled = await settle(deps, rows(1, 3));
    expect(settled.map(({ outcome }) => (outcome === 'settled' ? outcome : 'unavailable'))).toEqual([
      'settled',
      'unavailable',
      'settled',
    ]);
    expect(ledger()[0]?.succeeded).toEqual(new Set([0, 2]));
  });

  it('makes the records of a ledger item that could not be written unavailable, and no others', async () => {
    const { deps, submit } = setUp(({ method, args: [, chunk] }) => method === 'mark' && chunk === 1);
    await submit(500);
    const settled = await settle(deps, rows(249, 252));
    expect(settled.map(({ outcome }) => (outcome === 'settled' ? outcome : 'unavailable'))).toEqual([
      'settled',
      'settled',
      'unavailable',
      'unavailable',
    ]);
  });

  it('closes the chunk that it fills, and starts finalization with the last one', async () => {
    const { deps, submit, world, state } = setUp();
    await submit(251);
    await settle(deps, rows(1, 250));
    expect(world.inspect.submissions()[0]?.closedChunks).toEqual(new Set([0]));
    expect(state()).toBe('processing');
    await settle(deps, rows(251, 251));
    expect(state()).toBe('finalizing');
    expect(world.queues.live.finalize.messages()).toHaveLength(1);
  });

  it('makes records unavailable whose full chunk could not be closed, so that somebody repeats it', async () => {
    let isThrottled = true;
    const { deps, submit, state } = setUp(({ method }) => method === 'closeChunks' && isThrottled);
    await submit(2);
    const settled = await settle(deps, rows(1, 2));
    expect(settled.map(({ outcome }) => outcome === 'settled')).toEqual([false, false]);
    isThrottled = false;
    expect(await accountFor(deps, rows(1, 2))).toEqual(new Map());
    expect(state()).toBe('finalizing');
  });

  it('may be repeated: a record is counted once', async () => {
    const { deps, submit, ledger } = setUp();
    await submit(10);
    await settle(deps, rows(1, 3));
    const again = await settle(deps, rows(1, 3));
    expect(again.every(({ outcome }) => outcome === 'settled')).toBe(true);
    expect(ledger()[0]?.succeeded.size).toBe(3);
  });
});
