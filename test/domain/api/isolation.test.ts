import { OPERATIONS, type Operation } from '../../../lambdas/domain/api/operations.ts';
import { arrangeSubmission } from '../../support/api/arrange.ts';
import { createTestApi } from '../../support/api/api.ts';
import { EXPIRES_AT_SECONDS, SUBMISSION_ID } from '../../support/factories.ts';

const UNKNOWN = 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1ZZ';
const operations: Operation[] = Object.values(OPERATIONS);
const onSubmissions = operations.filter(({ path }) => path.includes('{id}')).map(({ method, path }) => [method, path]);
const withKey = operations
  .filter(({ scope }) => scope !== undefined)
  .map(({ method, path, scope }) => [method, path, scope]);

const at = (path: string, id: string): string => path.replace('{id}', id).replace('{recordNo}', '1');

describe("somebody else's submission", () => {
  test.each(onSubmissions)('answers like one that does not exist: %s %s', async (method = '', path = '') => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 3, { 1: { state: 'succeeded' } }, { state: 'complete', resultsVersion: 1 });
    const asOwner = await call(method, at(path, SUBMISSION_ID));
    const foreign = await call(method, at(path, SUBMISSION_ID), { tenant: 'globex' });
    const unknown = await call(method, at(path, UNKNOWN), { tenant: 'globex' });
    const malformed = await call(method, at(path, 'sub_1'), { tenant: 'globex' });

    expect(asOwner.status).not.toBe(404);
    expect(foreign.status).toBe(404);
    expect(foreign).toEqual(unknown);
    expect(foreign).toEqual(malformed);
  });

  test('cannot be read with a filter or a record number that gives it away', async () => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 3, { 1: { state: 'failed', reason: 'invalid_record' } });
    for (const query of [{ state: 'failed' }, { reason: 'invalid_record' }, { limit: '1' }]) {
      const path = `/v1/submissions/${SUBMISSION_ID}/records`;
      expect((await call('GET', path, { tenant: 'globex', query })).status).toBe(404);
    }
    for (const number of [1, 3, 4]) {
      const path = `/v1/submissions/${SUBMISSION_ID}/records/${number}`;
      expect((await call('GET', path, { tenant: 'globex' })).status).toBe(404);
    }
  });

  test('is neither cancelled nor looked into by a cancellation', async () => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 3);
    await call('POST', `/v1/submissions/${SUBMISSION_ID}/cancel`, { tenant: 'globex' });
    expect(world.inspect.submissions()[0]).toMatchObject({ state: 'processing' });
    expect(world.inspect.submissions()[0]).not.toHaveProperty('stop');
  });

  test.each([
    '__proto__',
    'constructor',
    '..',
    '%2e%2e',
    'sub_',
    `${SUBMISSION_ID} `,
    SUBMISSION_ID.toLowerCase(),
    's'.repeat(5_000),
  ])('nor is there one called %s', async (id) => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 1);
    expect((await call('GET', `/v1/submissions/${encodeURI(id)}`)).status).toBe(404);
    expect((await call('GET', `/v1/submissions/${id}/records`)).status).toBe(404);
  });
});

describe('a key', () => {
  test.each(withKey)('is needed for %s %s', async (method = '', path = '') => {
    const { status, body } = await createTestApi().call(method, at(path, UNKNOWN), { tenant: null });
    expect([status, body.code]).toEqual([401, 'unauthorized']);
  });

  test.each(withKey)('needs the scope for %s %s: %s', async (method = '', path = '', scope = '') => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 1);
    const others = ['submit', 'read', 'other'].filter((name) => name !== scope).join(' ');
    const refused = await call(method, at(path, SUBMISSION_ID), { scopes: others });
    expect([refused.status, refused.body.code]).toEqual([403, 'missing_scope']);
    expect(refused.body.detail).toContain(scope);
    for (const scopes of ['', `${scope}ted`]) {
      expect((await call(method, at(path, SUBMISSION_ID), { scopes })).body.code).toBe('missing_scope');
    }
    expect((await call(method, at(path, SUBMISSION_ID), { scopes: scope })).status).not.toBe(403);
  });

  test('with the scope says nothing about what others have: scopes come before ids', async () => {
    const { world, call } = createTestApi();
    await arrangeSubmission(world, 1);
    const mine = await call('GET', `/v1/submissions/${SUBMISSION_ID}`, { scopes: 'submit' });
    const unknown = await call('GET', `/v1/submissions/${UNKNOWN}`, { scopes: 'submit' });
    expect(mine.text).toBe(unknown.text);
  });
});

test('an answer of one tenant has nothing of another one', async () => {
  const { world, call } = createTestApi();
  await arrangeSubmission(world, 2, { 1: { state: 'succeeded' } }, { tenantId: 'globex', reference: 'MARKER' });
  await world.ledger.mark(SUBMISSION_ID, 0, { succeeded: [1], cancelled: [], failed: new Map() }, EXPIRES_AT_SECONDS);
  for (const { method, path } of operations) {
    const { text } = await call(method, at(path, SUBMISSION_ID), { body: method === 'POST' ? {} : undefined });
    expect(text).not.toContain('MARKER');
    expect(text).not.toContain('globex');
  }
});
