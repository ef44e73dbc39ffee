import { recordNoAt } from '../../../lambdas/domain/model.ts';
import { REASONS } from '../../../lambdas/domain/reasons.ts';
import { arrangeSubmission, type Outcome } from '../../support/api/arrange.ts';
import { createTestApi, type TestApi } from '../../support/api/api.ts';
import { EXPIRES_AT_SECONDS, makeRow, SUBMISSION_ID } from '../../support/factories.ts';
import { START_MS } from '../../support/memory/index.ts';

const PATH = `/v1/submissions/${SUBMISSION_ID}/records`;

/** Numbers and states of every page, following the cursors. */
async function allPages({ call }: TestApi, query: Record<string, string>) {
  const items: { recordNo: number; state: string; reason?: string }[] = [];
  let pages = 0;
  let cursor: string | null = null;
  do {
    const { status, body } = await call('GET', PATH, { query: { ...query, ...(cursor !== null && { cursor }) } });
    expect(status).toBe(200);
    items.push(...body.items);
    cursor = body.nextCursor;
    pages++;
  } while (cursor !== null && pages < 100);
  return { items, pages, numbers: items.map(({ recordNo }) => recordNo) };
}

describe('what happened to this record?', () => {
  const ask = async (outcomes: Record<number, Outcome>, recordNo: number) => {
    const api = createTestApi();
    await arrangeSubmission(api.world, 3, outcomes);
    return api.call('GET', `${PATH}/${recordNo}`);
  };

  test('nothing yet', async () => {
    const { status, body } = await ask({}, 3);
    expect(status).toBe(200);
    expect(body).toEqual({ submissionId: SUBMISSION_ID, recordNo: 3, state: 'pending', attempts: 0 });
  });

  test('its submission was stopped before anybody worked on it', async () => {
    const api = createTestApi();
    await arrangeSubmission(api.world, 3);
    await api.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });
    const marks = { succeeded: [], cancelled: [0, 1, 2], failed: new Map() };
    await api.world.ledger.mark(SUBMISSION_ID, 0, marks, EXPIRES_AT_SECONDS);
    await api.world.records.put(makeRow({ recordNo: 2, state: 'deferred', reason: 'pacer_full', attempts: 1 }));
    const cancelled = { state: 'cancelled', reason: 'cancelled', message: REASONS.cancelled.customer };
    expect((await api.call('GET', `${PATH}/3`)).body).toMatchObject({ ...cancelled, attempts: 0 });
    expect((await api.call('GET', `${PATH}/2`)).body).toMatchObject({ ...cancelled, attempts: 1 });
    expect((await allPages(api, {})).items).toMatchObject([cancelled, cancelled, cancelled]);
    expect((await allPages(api, { state: 'cancelled' })).numbers).toEqual([1, 2, 3]);
  });

  test('it succeeded, and this was found', async () => {
    const answers = {
      company: { kind: 'found' as const, data: { name: 'Acme Ltd' } },
      geo: { kind: 'not_found' as const },
      other: { kind: 'not_applicable' as const },
    };
    const { body } = await ask({ 1: { state: 'succeeded', row: { answers, recordId: 'cust-1', attempts: 2 } } }, 1);
    expect(body).toEqual({
      submissionId: SUBMISSION_ID,
      recordNo: 1,
      state: 'succeeded',
      attempts: 2,
      updatedAt: new Date(START_MS + 1000).toISOString(),
      output: { record_id: 'cust-1', company: { name: 'Acme Ltd' }, geo: null, other: null },
    });
  });

  test('it failed, and this is why in words', async () => {
    const detail = 'email: must be an e-mail address.';
    const { body } = await ask({ 1: { state: 'failed', reason: 'invalid_record', row: { detail, answers: {} } } }, 1);
    expect(body).toMatchObject({
      state: 'failed',
      reason: 'invalid_record',
      message: `${REASONS.invalid_record.customer} ${detail}`,
    });
    expect(body).not.toHaveProperty('output');
  });

  test('it waits, for this provider and until then', async () => {
    const row = { waitingOn: 'geo', waitingUntilMs: START_MS + 60_000, attempts: 1 };
    const { body } = await ask({ 1: { state: 'deferred', reason: 'breaker_open', row } }, 1);
    expect(body).toMatchObject({
      state: 'deferred',
      attempts: 1,
      waitingOn: 'geo',
      waitingUntil: new Date(START_MS + 60_000).toISOString(),
    });
  });

  test('it waits no longer once it has ended', async () => {
    const row = { waitingOn: 'geo', waitingUntilMs: START_MS + 60_000 };
    const { body } = await ask({ 1: { state: 'dead_lettered', reason: 'attempts_exhausted', row } }, 1);
    expect(body).not.toHaveProperty('waitingOn');
    expect(body).not.toHaveProperty('waitingUntil');
  });

  test.each([
    ['4', 404],
    ['999999999', 404],
    ['0', 400],
    ['-1', 400],
    ['1.5', 400],
    ['01', 400],
    ['9999999999', 400],
    ['abc', 400],
  ])('number %s is answered with %i', async (number, expected) => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 3);
    expect((await call('GET', `${PATH}/${number}`)).status).toBe(expected);
  });

  test('a worker may be ahead of what fan-out has noted', async () => {
    const { world, call } = createTestApi();
    const fanOut = { done: false, byteOffset: 0, records: 0, line: 1 };
    await arrangeSubmission(world, 0, { 2: { state: 'succeeded' } }, { fanOut });
    expect((await call('GET', `${PATH}/2`)).body.state).toBe('succeeded');
    // Nobody knows yet how many there are.
    expect((await call('GET', `${PATH}/1`)).body.state).toBe('pending');
    expect((await call('GET', `${PATH}/999999999`)).status).toBe(404);
  });
});

describe('the list of records', () => {
  const OUTCOMES: Record<number, Outcome> = {
    1: { state: 'succeeded' },
    2: { state: 'failed', reason: 'invalid_record' },
    3: { state: 'retrying', reason: 'provider_timeout' },
    4: { state: 'deferred', reason: 'breaker_open' },
    250: { state: 'dead_lettered', reason: 'attempts_exhausted' },
    251: { state: 'failed', reason: 'malformed_row' },
    252: { state: 'cancelled', reason: 'cancelled' },
    600: { state: 'succeeded' },
  };
  const arranged = async (records = 600) => {
    const api = createTestApi();
    await arrangeSubmission(api.world, records, OUTCOMES);
    return api;
  };

  test('has every number once, in order, whatever the size of its pages', async () => {
    const api = await arranged();
    const { items, numbers } = await allPages(api, { limit: '97' });
    expect(numbers).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
    expect(items.filter(({ state }) => state !== 'pending').map(({ recordNo }) => recordNo)).toEqual(
      Object.keys(OUTCOMES).map(Number),
    );
  });

  test('ends without another page when the last one is just full', async () => {
    expect((await allPages(await arranged(), { limit: '300' })).pages).toBe(2);
  });

  test.each<[Record<string, string>, number[]]>([
    [{ state: 'succeeded' }, [1, 600]],
    [{ state: 'failed' }, [2, 250, 251]],
    [{ state: 'dead_lettered' }, [250]],
    [{ state: 'cancelled' }, [252]],
    [{ state: 'retrying' }, [3]],
    [{ state: 'deferred' }, [4]],
    [{ reason: 'invalid_record' }, [2]],
    [{ reason: 'malformed_row', state: 'failed' }, [251]],
    [{ reason: 'malformed_row', state: 'succeeded' }, []],
    [{ reason: 'attempts_exhausted' }, [250]],
    [{ reason: 'provider_timeout' }, [3]],
    [{ reason: 'breaker_open' }, [4]],
    [{ reason: 'breaker_open', state: 'pending' }, [4]],
    [{ reason: 'cancelled' }, [252]],
  ])('narrowed to %j has %j', async (filter, expected) => {
    const api = await arranged();
    expect((await allPages(api, filter)).numbers).toEqual(expected);
    expect((await allPages(api, { ...filter, limit: '1' })).numbers).toEqual(expected);
  });

  test('narrowed to pending has exactly those that the counts call pending', async () => {
    const api = await arranged();
    const { items, numbers } = await allPages(api, { state: 'pending', limit: '500' });
    const { counts } = (await api.call('GET', `/v1/submissions/${SUBMISSION_ID}`)).body;
    expect(numbers).toHaveLength(counts.pending);
    expect(new Set(items.map(({ state }) => state))).toEqual(new Set(['pending', 'retrying', 'deferred']));
  });

  test('looks at a bounded number of rows for a page, and goes on behind them', async () => {
    let reads = 0;
    const api = createTestApi({
      hook: async (call, apply) => {
        if (call.port === 'records' && call.method === 'getMany') reads++;
        return apply();
      },
    });
    await arrangeSubmission(api.world, 5_000, { 4_999: { state: 'retrying', reason: 'provider_timeout' } });
    const first = await api.call('GET', PATH, { query: { state: 'retrying' } });
    expect(first.body).toEqual({ items: [], nextCursor: expect.any(String) });
    expect(reads).toBeLessThanOrEqual(10);
    expect((await allPages(api, { state: 'retrying' })).numbers).toEqual([4_999]);
  });

  test('reads only the rows of what it asks for', async () => {
    const asked: number[] = [];
    const api = createTestApi({
      hook: async (call, apply) => {
        if (call.method === 'getMany')
          asked.push(...(call.args[0] as { recordNo: number }[]).map((key) => key.recordNo));
        return apply();
      },
    });
    await arrangeSubmission(api.world, 600, OUTCOMES);
    await api.call('GET', PATH, { query: { state: 'failed' } });
    expect(asked).toEqual([2, 250, 251]);
  });

  test('reads the ledger from where the page begins, and little further than it ends', async () => {
    const read = new Set<number>();
    const api = createTestApi({
      hook: async (call, apply) => {
        const answer: unknown = await apply();
        if (call.method === 'ledgerPage')
          for (const { chunk } of (answer as { chunks: { chunk: number }[] }).chunks) read.add(chunk);
        if (call.method === 'getWithLedger') throw new Error('The whole ledger was read.');
        return answer;
      },
    });
    const chunks = 40;
    const failedAt = Array.from({ length: chunks }, (_, chunk) => recordNoAt(chunk, 7));
    const failure: Outcome = { state: 'failed', reason: 'invalid_record' };
    await arrangeSubmission(api.world, chunks * 250, Object.fromEntries(failedAt.map((no) => [no, failure])));
    const first = (await api.call('GET', PATH, { query: { state: 'failed', limit: '20' } })).body;
    expect(Math.max(...read)).toBeLessThan(30);
    read.clear();
    await api.call('GET', PATH, { query: { state: 'failed', limit: '3', cursor: first.nextCursor } });
    // The chunk in which the page before ended may have more.
    expect([...read]).toEqual([19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
    expect((await allPages(api, { state: 'failed', limit: '7' })).numbers).toEqual(failedAt);
  });

  test.each(['x', '"', '\u20ac'])('ends a page of %s before it becomes too large to answer with', async (character) => {
    const api = createTestApi();
    const data = { text: character.repeat(60_000) };
    const answers = { company: { kind: 'found' as const, data } };
    const outcomes = Object.fromEntries(
      Array.from({ length: 150 }, (_, index): [number, Outcome] => [
        index + 1,
        { state: 'succeeded', row: { answers } },
      ]),
    );
    await arrangeSubmission(api.world, 150, outcomes);
    const { text, body } = await api.call('GET', PATH, { query: { limit: '500' } });
    // The function's answer has the body as a text in it.
    expect(Buffer.byteLength(JSON.stringify({ body: text }))).toBeLessThan(6 * 1024 * 1024);
    expect(body.items.length).toBeGreaterThan(0);
    expect((await allPages(api, { limit: '500' })).numbers).toHaveLength(150);
  });

  test('has what workers did ahead of fan-out when it is narrowed to that', async () => {
    const api = createTestApi();
    await arrangeSubmission(api.world, 0, { 300: { state: 'succeeded' } });
    expect((await allPages(api, { state: 'succeeded' })).numbers).toEqual([300]);
    expect((await allPages(api, {})).numbers).toEqual([]);
  });

  test('tells a record whose row is ahead of the ledger by its row', async () => {
    const api = createTestApi();
    await arrangeSubmission(api.world, 3);
    await api.world.records.put(makeRow({ recordNo: 2 }));
    expect((await allPages(api, { state: 'pending' })).numbers).toEqual([1, 3]);
  });

  test('is empty for a file without records', async () => {
    const api = createTestApi();
    await arrangeSubmission(api.world, 0);
    for (const query of [{}, { state: 'failed' }, { state: 'pending' }]) {
      expect((await allPages(api, query)).numbers).toEqual([]);
    }
  });

  test('refuses cursors of another submission, tenant or filter', async () => {
    const api = await arranged();
    const other = 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SE';
    await arrangeSubmission(api.world, 600, {}, { submissionId: other });
    const { body } = await api.call('GET', PATH, { query: { limit: '1' } });
    const cursor: string = body.nextCursor;
    const calls: [string, Record<string, string>][] = [
      [`/v1/submissions/${other}/records`, { cursor }],
      [PATH, { cursor, state: 'failed' }],
      [PATH, { cursor, reason: 'invalid_record' }],
      ['/v1/submissions', { cursor }],
      [PATH, { cursor: `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}` }],
    ];
    for (const [path, query] of calls) {
      const { status, body: problem } = await api.call('GET', path, { query });
      expect([path, status, problem.code]).toEqual([path, 400, 'invalid_cursor']);
    }
  });

  test('goes on where it was although records have moved meanwhile', async () => {
    const api = await arranged();
    const { body } = await api.call('GET', PATH, { query: { state: 'failed', limit: '1' } });
    const marks = { succeeded: [], cancelled: [], failed: new Map([['invalid_record' as const, [0, 98]]]) };
    await api.world.ledger.mark(SUBMISSION_ID, 0, marks, EXPIRES_AT_SECONDS);
    await api.world.records.put(makeRow({ recordNo: 99, state: 'failed', reason: 'invalid_record' }));
    const { items } = (await api.call('GET', PATH, { query: { state: 'failed', cursor: body.nextCursor } })).body;
    expect(items.map(({ recordNo }: { recordNo: number }) => recordNo)).toEqual([99, 250, 251]);
  });

  test.each([
    ['limit', '501'],
    ['state', 'complete'],
    ['state', '__proto__'],
    ['reason', 'nonsense'],
    ['reason', 'constructor'],
  ])('refuses %s=%s', async (name, value) => {
    const { status, body } = await (await arranged()).call('GET', PATH, { query: { [name]: value } });
    expect([status, body.errors]).toEqual([400, [{ parameter: name, detail: expect.any(String) }]]);
  });
});
