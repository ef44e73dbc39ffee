import { encodeCursor } from '../../../lambdas/domain/api/cursor.ts';
import { InvalidDataError } from '../../../lambdas/domain/errors.ts';
import type { Submission } from '../../../lambdas/domain/model.ts';
import { arrangeSubmission } from '../../support/api/arrange.ts';
import { BASE_URL, createTestApi } from '../../support/api/api.ts';
import { makeSubmission, SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { START_MS, type PortHook } from '../../support/memory/index.ts';

const PATH = `/v1/submissions/${SUBMISSION_ID}`;

/** A submission id that sorts by its number. */
const idOf = (n: number): string => `sub_01KE9Q5XW0V4T3Z8M2N6P7R${String(n).padStart(3, '0')}`;

describe('the status of a submission', () => {
  test('counts its records by outcome and its failures by reason', async () => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 300, {
      1: { state: 'succeeded' },
      2: { state: 'failed', reason: 'invalid_record' },
      3: { state: 'deferred', reason: 'breaker_open' },
      260: { state: 'dead_lettered', reason: 'attempts_exhausted' },
      261: { state: 'failed', reason: 'invalid_record' },
      262: { state: 'cancelled', reason: 'cancelled' },
    });
    const { status, body } = await call('GET', PATH);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: SUBMISSION_ID,
      state: 'processing',
      lane: 'small',
      counts: { total: 300, pending: 295, succeeded: 1, failed: 3, cancelled: 1 },
      failures: { invalid_record: 2, attempts_exhausted: 1 },
      links: { self: `${BASE_URL}${PATH}` },
    });
    expect(body).not.toHaveProperty('reason');
    expect(body.estimatedCompletionAt > body.createdAt).toBe(true);
  });

  test.each<[string, Partial<Submission>, object]>([
    [
      'rejected',
      { state: 'rejected', rejection: { code: 'EMPTY_FILE', detail: 'The file is empty.' } },
      { reason: 'EMPTY_FILE', message: 'The file is empty.' },
    ],
    [
      'complete',
      {
        state: 'complete',
        prepared: {
          source: { key: 'prepared/acme/1', etag: '"p"', sizeBytes: 7 },
          format: 'csv',
          from: { kind: 'xlsx', sheet: 'Export' },
        },
      },
      { preparedFrom: { kind: 'xlsx', sheet: 'Export' } },
    ],
    ['expired', { state: 'expired' }, { reason: 'deadline_passed', message: expect.stringContaining('deadline') }],
    ['cancelled', { state: 'cancelled' }, { reason: 'cancelled', message: expect.stringContaining('cancelled') }],
    [
      'cancelling',
      { state: 'cancelling', stop: { kind: 'cancelled', atMs: START_MS } },
      { reason: 'cancelled', message: expect.any(String) },
    ],
  ])('says why it is %s', async (state, overrides, expected) => {
    const { world, call } = createTestApi();
    await world.submissions.create(makeSubmission(overrides));
    expect((await call('GET', PATH)).body).toMatchObject({ state, ...expected });
  });

  test.each(['complete', 'partially_failed', 'failed', 'rejected', 'cancelled', 'expired'] as const)(
    'promises no completion once it is %s',
    async (state) => {
      const { world, call } = createTestApi();
      await world.submissions.create(makeSubmission({ state }));
      expect((await call('GET', PATH)).body).not.toHaveProperty('estimatedCompletionAt');
    },
  );

  test('ends with its expiry', async () => {
    const { world, clock, call } = createTestApi();
    await world.submissions.create(makeSubmission({ expiresAtSeconds: START_MS / 1000 + 10 }));
    await clock.advance(9_999);
    expect((await call('GET', PATH)).status).toBe(200);
    await clock.advance(1);
    expect((await call('GET', PATH)).status).toBe(404);
  });
});

describe('the list of submissions', () => {
  const arrangeMany = async (count: number, hook?: PortHook) => {
    const api = createTestApi(hook && { hook });
    for (let n = 1; n <= count; n++) {
      await api.world.submissions.create(
        makeSubmission({
          submissionId: idOf(n),
          createdAtMs: START_MS + n,
          state: n % 2 === 0 ? 'complete' : 'accepted',
        }),
      );
    }
    return api;
  };
  const idsOf = (body: { items: { id: string }[] }): string[] => body.items.map(({ id }) => id);

  test('has the newest first, with everything that the status of each has', async () => {
    const { world, call } = await arrangeMany(1);
    await arrangeSubmission(
      world,
      3,
      { 1: { state: 'succeeded' } },
      { submissionId: idOf(2), createdAtMs: START_MS + 2 },
    );
    const { body } = await call('GET', '/v1/submissions');
    expect(idsOf(body)).toEqual([idOf(2), idOf(1)]);
    expect(body.items[0]).toEqual((await call('GET', `/v1/submissions/${idOf(2)}`)).body);
    expect(body.nextCursor).toBeNull();
  });

  test('comes in pages that have every submission once', async () => {
    const { call } = await arrangeMany(7);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string> = { limit: '3', ...(cursor !== null && { cursor }) };
      const { body } = await call('GET', '/v1/submissions', { query });
      expect(body.items.length).toBeLessThanOrEqual(3);
      seen.push(...idsOf(body));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map(idOf));
  });

  test('can be narrowed to a state', async () => {
    const { call } = await arrangeMany(4);
    const { body } = await call('GET', '/v1/submissions', { query: { state: 'complete' } });
    expect(idsOf(body)).toEqual([idOf(4), idOf(2)]);
  });

  test('has only those of the tenant', async () => {
    const { call } = await arrangeMany(2);
    const { body } = await call('GET', '/v1/submissions', { tenant: 'globex' });
    expect(body).toEqual({ items: [], nextCursor: null });
  });

  test('refuses cursors of another tenant, another filter, and no list at all', async () => {
    const { world, call } = await arrangeMany(4);
    for (const n of [5, 6])
      await world.submissions.create(makeSubmission({ submissionId: idOf(n), tenantId: 'globex' }));
    const { body } = await call('GET', '/v1/submissions', { query: { limit: '1' } });
    const cursor: string = body.nextCursor;
    const forged = Buffer.from('00000000000000000"x"').toString('base64url');
    const calls = [
      { query: { limit: '1', cursor }, tenant: 'globex' },
      { query: { limit: '1', cursor, state: 'complete' } },
      { query: { cursor: `${cursor}A` } },
      { query: { cursor: `${cursor}=` } },
      { query: { cursor: cursor.slice(1) } },
      { query: { cursor: forged } },
      // Well formed, with a place inside that the store never gave.
      { query: { cursor: encodeCursor(['submissions', TENANT_ID, ''], 'nonsense') } },
      { query: { cursor: '' } },
    ];
    for (const refused of calls) {
      const { status, body: problem } = await call('GET', '/v1/submissions', refused);
      expect([status, problem.code]).toEqual([400, 'invalid_cursor']);
    }
    expect((await call('GET', '/v1/submissions', { query: { limit: '1', cursor } })).status).toBe(200);
  });

  test('tells that a submission cannot be read, not that it is gone, and does not blame the cursor', async () => {
    let isReadable = true;
    const error = new InvalidDataError('The stored head is not valid.');
    const { call } = await arrangeMany(3, async ({ method }, apply) => {
      if (method !== 'listByTenant' || isReadable) return apply();
      return { items: [], unreadable: [{ submissionId: 'sub_damaged', error }] };
    });
    const { body } = await call('GET', '/v1/submissions', { query: { limit: '1' } });
    isReadable = false;
    const refused = await call('GET', '/v1/submissions', { query: { limit: '1', cursor: body.nextCursor } });
    expect([refused.status, refused.body.code]).toEqual([500, 'internal_error']);
  });

  test.each([
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '1e1'],
    ['limit', '-1'],
    ['limit', ''],
    ['state', 'pending'],
    ['state', 'toString'],
    ['cursor', 'c'.repeat(1_025)],
  ])('refuses %s=%s and says what is allowed', async (name, value) => {
    const { status, body } = await createTestApi().call('GET', '/v1/submissions', { query: { [name]: value } });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors).toEqual([{ parameter: name, detail: expect.any(String) }]);
  });
});
