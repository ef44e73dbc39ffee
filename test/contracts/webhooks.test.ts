import { createWebhookStore } from '../../lambdas/adapters/dynamodb/webhook-store.ts';
import { InvalidCursorError } from '../../lambdas/domain/errors.ts';
import type { WebhookDelivery } from '../../lambdas/domain/webhooks/model.ts';
import type { WebhookStore } from '../../lambdas/domain/webhooks/ports.ts';
import { createTestClock, START_MS } from '../support/memory/index.ts';
import { createMemoryWebhooks } from '../support/memory/webhooks.ts';
import { ENDPOINT } from '../support/webhook-rig.ts';
import { startTables, type TestTables } from './tables.ts';

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(() => tables.stop());

const TENANT = ENDPOINT.tenantId;
const { endpointId: ID } = ENDPOINT;
const LATER_MS = START_MS + 1_000;
const deliveryAt = (number: number, changed: Partial<WebhookDelivery> = {}): WebhookDelivery => ({
  deliveryId: `dlv_${number}`,
  tenantId: TENANT,
  endpointId: ID,
  eventId: `evt_${number}`,
  type: 'submission.completed',
  submissionId: 'sub_1',
  body: '{"type":"submission.completed"}',
  state: 'pending',
  attempts: 0,
  attemptsBefore: 0,
  createdAtMs: START_MS + number,
  updatedAtMs: START_MS,
  expiresAtSeconds: START_MS / 1_000 + 86_400,
  ...changed,
});
const ATTEMPT = { atMs: LATER_MS, durationMs: 20, status: 500, excerpt: 'Sorry' };

describe.each([
  ['in memory', async (): Promise<WebhookStore> => createMemoryWebhooks()],
  ['in DynamoDB', async () => createWebhookStore(tables.client, await tables.create('webhooks'), createTestClock())],
])('webhooks %s', (_where, make) => {
  it('keep endpoints of a tenant, until they are removed for good', async () => {
    const store = await make();
    expect(await store.putEndpoint(ENDPOINT)).toBe(true);
    const changed = { ...ENDPOINT, events: ['submission.failed'], description: 'CRM' };
    expect(await store.putEndpoint(changed)).toBe(true);
    expect(await store.listEndpoints(TENANT)).toEqual([changed]);
    expect(await store.listEndpoints('globex')).toEqual([]);
    expect(await store.removeEndpoint(TENANT, ID, LATER_MS)).toBe(true);
    expect(await store.removeEndpoint(TENANT, ID, LATER_MS)).toBe(false);
    expect(await store.getEndpoint(TENANT, ID)).toBeUndefined();
    expect(await store.putEndpoint(ENDPOINT)).toBe(false);
    expect(await store.listEndpoints(TENANT)).toEqual([]);
  });

  it('disable an endpoint only while its URL is the one that is gone', async () => {
    const store = await make();
    await store.putEndpoint(ENDPOINT);
    await store.disableEndpoint({ ...ENDPOINT, url: 'https://before.example/' }, 'gone', LATER_MS);
    expect(await store.getEndpoint(TENANT, ID)).toEqual(ENDPOINT);
    await store.disableEndpoint(ENDPOINT, 'gone', LATER_MS);
    expect(await store.getEndpoint(TENANT, ID)).toEqual({
      ...ENDPOINT,
      disabledBecause: 'gone',
      updatedAtMs: LATER_MS,
    });
  });

  it('keep the secret before beside the current one, also when a rotation is repeated', async () => {
    const store = await make();
    expect(await store.getSecrets(TENANT, ID)).toBeUndefined();
    await store.rotateSecret(TENANT, ID, 'whsec_a', 0);
    expect(await store.getSecrets(TENANT, ID)).toEqual({ current: 'whsec_a' });
    await store.rotateSecret(TENANT, ID, 'whsec_b', LATER_MS);
    await store.rotateSecret(TENANT, ID, 'whsec_b', LATER_MS);
    expect(await store.getSecrets(TENANT, ID)).toEqual({
      current: 'whsec_b',
      previous: 'whsec_a',
      previousUntilMs: LATER_MS,
    });
    await store.removeSecrets(TENANT, ID);
    expect(await store.getSecrets(TENANT, ID)).toBeUndefined();
  });

  it('create a delivery once, and never note an earlier attempt over a later one', async () => {
    const store = await make();
    await store.createDelivery(deliveryAt(1));
    await store.recordAttempt(deliveryAt(1), {
      state: 'pending',
      attempt: 2,
      lastAttempt: ATTEMPT,
      nextAttemptAtMs: LATER_MS + 5_000,
    });
    await store.recordAttempt(deliveryAt(1), { state: 'delivered', attempt: 1, lastAttempt: { ...ATTEMPT, atMs: 0 } });
    const noted = {
      ...deliveryAt(1, { attempts: 2, updatedAtMs: LATER_MS }),
      lastAttempt: ATTEMPT,
      nextAttemptAtMs: LATER_MS + 5_000,
    };
    expect(await store.createDelivery(deliveryAt(1))).toEqual(noted);
    expect(await store.getDelivery(TENANT, 'dlv_1')).toEqual(noted);
    expect(await store.getDelivery('globex', 'dlv_1')).toBeUndefined();
    await store.endDelivery(deliveryAt(1), 'disabled', LATER_MS);
    const { nextAttemptAtMs: _next, ...ended } = noted;
    expect(await store.getDelivery(TENANT, 'dlv_1')).toEqual({ ...ended, state: 'disabled' });
    await store.endDelivery(deliveryAt(1), 'given_up', LATER_MS);
    expect(await store.restartDelivery(TENANT, 'dlv_1', LATER_MS)).toEqual({
      ...ended,
      attemptsBefore: 2,
      nextAttemptAtMs: LATER_MS,
    });
    expect(await store.restartDelivery(TENANT, 'dlv_none', LATER_MS)).toBeUndefined();
  });

  it('list deliveries newest first, page by page and by what is asked for', async () => {
    const store = await make();
    for (const number of [1, 2, 3, 4, 5]) {
      await store.createDelivery(
        deliveryAt(number, number % 2 === 0 ? { state: 'given_up', endpointId: 'callback' } : {}),
      );
    }
    await store.createDelivery(deliveryAt(9, { tenantId: 'globex' }));
    const ids = async (query: Partial<Parameters<WebhookStore['listDeliveries']>[0]>): Promise<string[]> => {
      const page = await store.listDeliveries({ tenantId: TENANT, limit: 2, ...query });
      const rest = page.nextCursor === undefined ? [] : await ids({ ...query, cursor: page.nextCursor });
      return [...page.items.map(({ deliveryId }) => deliveryId), ...rest];
    };
    expect(await ids({})).toEqual(['dlv_5', 'dlv_4', 'dlv_3', 'dlv_2', 'dlv_1']);
    expect(await ids({ state: 'given_up' })).toEqual(['dlv_4', 'dlv_2']);
    expect(await ids({ endpointId: ID, limit: 1 })).toEqual(['dlv_5', 'dlv_3', 'dlv_1']);
    expect(await ids({ submissionId: 'sub_none' })).toEqual([]);
    await expect(ids({ cursor: 'forged' })).rejects.toThrow(InvalidCursorError);
  });
});
