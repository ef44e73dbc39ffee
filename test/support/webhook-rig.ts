import { handleWebhookMessage } from '../../lambdas/domain/webhooks/handle.ts';
import type { WebhookDeps } from '../../lambdas/domain/webhooks/deps.ts';
import { WEBHOOK_DEFAULTS } from '../../lambdas/domain/webhooks/deps.ts';
import { announceEnd } from '../../lambdas/domain/webhooks/announce.ts';
import type { Endpoint } from '../../lambdas/domain/webhooks/model.ts';
import { newSecret } from '../../lambdas/domain/webhooks/signature.ts';
import type { HttpTransport, TransportResult } from '../../lambdas/domain/providers/ports.ts';
import { parseWebhookMessage } from '../../lambdas/domain/queues/messages.ts';
import type { Submission } from '../../lambdas/domain/model.ts';
import { makeSubmission, TENANT_ID } from './factories.ts';
import { createMemoryWorld, createTestClock, noHook, type PortHook } from './memory/index.ts';
import { deliverAll } from './slices/deliver.ts';

const ENDED: Partial<Submission> = {
  state: 'partially_failed',
  resultsVersion: 1,
  finalCounts: { total: 3, pending: 0, succeeded: 2, failed: 1, cancelled: 0 },
  reference: 'order 7',
};
export const ENDPOINT: Endpoint = {
  endpointId: 'we_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  tenantId: TENANT_ID,
  url: 'https://hooks.example/sluice?a=1',
  events: [],
  createdAtMs: 0,
  updatedAtMs: 0,
};

export type Sent = Parameters<HttpTransport['request']>[0] & { atMs: number };

export const status = (code: number, headers: Record<string, string> = {}, text = ''): TransportResult => ({
  kind: 'response',
  status: code,
  headers,
  body: Buffer.from(text),
  truncated: true,
});

/** The webhooks function in memory; `answer` is what receivers answer. */
export function createWebhookRig({
  answer = () => status(204),
  hook = noHook,
}: { answer?: (request: Sent) => TransportResult; hook?: PortHook } = {}) {
  const clock = createTestClock();
  const world = createMemoryWorld({ clock, hook });
  const sent: Sent[] = [];
  const queue = world.queues.live.webhooks;
  let seed = 1;
  const deps: WebhookDeps = {
    webhooks: world.webhooks,
    webhookQueue: queue,
    transport: {
      async request(request) {
        const call = { ...request, atMs: clock.now() };
        sent.push(call);
        return answer(call);
      },
    },
    telemetry: world.telemetry,
    clock,
    random: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647,
    settings: WEBHOOK_DEFAULTS,
  };
  return {
    world,
    clock,
    deps,
    sent,
    /** Adds an endpoint; its secret. */
    async endpoint(changed: Partial<Endpoint> = {}): Promise<string> {
      const endpoint = { ...ENDPOINT, ...changed };
      const secret = newSecret(deps.random);
      await world.webhooks.rotateSecret(TENANT_ID, endpoint.endpointId, secret, 0);
      await world.webhooks.putEndpoint(endpoint);
      return secret;
    },
    announce: async (changed: Partial<Submission> = {}): Promise<void> =>
      announceEnd({ webhookQueue: queue }, makeSubmission({ ...ENDED, updatedAtMs: clock.now(), ...changed })),
    /** Works messages until there are none: time moves to the next that is due. */
    work: async (): Promise<unknown[]> => {
      const { failures } = await deliverAll(queue, clock, async (body) =>
        handleWebhookMessage(deps, parseWebhookMessage(body)),
      );
      return failures;
    },
  };
}
