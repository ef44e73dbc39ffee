import { createConverter } from '../../lambdas/adapters/prepare/converter.ts';
import { FAN_OUT_DEFAULTS } from '../../lambdas/domain/fan-out/deps.ts';
import { fanOutSlice } from '../../lambdas/domain/fan-out/fan-out-slice.ts';
import { PartTurns } from '../../lambdas/domain/finalize/part-turns.ts';
import { FINALIZE_DEFAULTS } from '../../lambdas/domain/finalize/deps.ts';
import { finalizeSlice } from '../../lambdas/domain/finalize/finalize-slice.ts';
import { PREPARE_DEFAULTS, prepareSlice } from '../../lambdas/domain/prepare/prepare-slice.ts';
import { prepareProviders } from '../../lambdas/domain/providers/provider.ts';
import { parseFanOutMessage, parseFinalizeMessage } from '../../lambdas/domain/queues/messages.ts';
import { processBatch } from '../../lambdas/domain/worker/process-batch.ts';
import { createTestApi, keyOfUrl, type Answered, type Call } from './api/api.ts';
import { makeProvider } from './factories.ts';
import { respond } from './fake-provider.ts';
import { createTestClock, seededRandom } from './memory/index.ts';
import { deliverAll } from './slices/deliver.ts';

const APIS = prepareProviders([
  makeProvider({ canary: { domain: 'canary.example.com' } }),
  makeProvider({
    name: 'geo',
    baseUrl: 'https://geo.example.com',
    path: '/v1/places/{country}/{postal_code}',
    lookup: ['country', 'postal_code'],
    canary: { country: 'DE', postal_code: '00000' },
  }),
]);
const BUDGET = { remainingMs: () => 600_000 };
const BATCH = 10;
const VISIBILITY_MS = 180_000;

/** A line of the results in NDJSON. */
export interface ResultLine {
  recordNo: number;
  line: number;
  record?: Record<string, unknown>;
  used?: Record<string, unknown>;
  warnings?: { field: string; detail: string }[];
  reason?: string;
  detail?: string;
}

/** What became of a file. */
export interface Outcome {
  submission: Answered['body'];
  succeeded: ResultLine[];
  failed: ResultLine[];
  /** Requests to the providers, without their base. */
  lookups: string[];
}

/** Every function of the pipeline on ports in memory, behind the API: from a file to its results. */
export function createPipeline() {
  const clock = createTestClock({ autoAdvance: true });
  const credentials = { company: 'key-c', geo: 'key-g' };
  const api = createTestApi({ clock, credentials, settings: { maxFileBytes: 50_000_000, maxRecordBytes: 65_536 } });
  const { world } = api;
  const { live, deadLetters } = world.queues;
  const random = seededRandom(7);
  const shared = {
    ...world,
    schemas: api.schemas,
    clock,
    random,
    fanOutQueue: live.fanOut,
    prepareQueue: live.prepare,
    finalizeQueue: live.finalize,
    webhookQueue: live.webhooks,
  };
  const lookups: string[] = [];
  const transport = {
    request: async ({ url }: { url: string }) => {
      lookups.push(decodeURIComponent(url.replace(/^https:\/\/[^/]+/, '')));
      return respond(200, { name: 'x' });
    },
  };

  async function work(lane: 'small' | 'bulk'): Promise<number> {
    const queue = live[lane];
    const deps = {
      ...shared,
      lane,
      laneQueue: queue,
      deadLetterQueue: deadLetters[lane],
      acknowledger: queue,
      transport,
      owner: 'worker-1',
      apis: APIS,
    };
    let worked = 0;
    for (;;) {
      const nextMs = queue.nextVisibleAtMs();
      if (nextMs === undefined) return worked;
      await clock.advance(Math.max(nextMs - clock.now(), 0));
      const deliveries = await queue.receive(BATCH, VISIBILITY_MS);
      const failed = await processBatch(deps, deliveries, BUDGET);
      await queue.acknowledge(deliveries.filter(({ messageId }) => !failed.includes(messageId)));
      worked += deliveries.length;
    }
  }

  async function settle(): Promise<void> {
    for (let worked = 1; worked > 0;) {
      const fanOut = { ...shared, lanes: live, settings: FAN_OUT_DEFAULTS };
      const prepare = { ...shared, converter: createConverter(world.objects), settings: PREPARE_DEFAULTS };
      const finalize = { ...shared, turns: new PartTurns(clock), settings: FINALIZE_DEFAULTS };
      const steps = [
        await deliverAll(live.fanOut, clock, async (body) => fanOutSlice(fanOut, parseFanOutMessage(body), BUDGET)),
        await deliverAll(live.prepare, clock, async (body) => prepareSlice(prepare, parseFanOutMessage(body), BUDGET)),
        { deliveries: (await work('small')) + (await work('bulk')), failures: [] },
        await deliverAll(live.finalize, clock, async (body) =>
          finalizeSlice(finalize, parseFinalizeMessage(body), BUDGET),
        ),
      ];
      const [failure] = steps.flatMap(({ failures }) => failures);
      if (failure !== undefined) throw new Error('A slice failed.', { cause: failure });
      worked = steps.reduce((sum, { deliveries }) => sum + deliveries, 0);
    }
  }

  const linesOf = async (id: string, kind: string): Promise<ResultLine[]> => {
    const { status, body } = await api.call('GET', `/v1/submissions/${id}/results`);
    if (status !== 200) return [];
    const files: { kind: string; format: string; url: string }[] = body.files;
    const urls = files.filter((file) => file.kind === kind && file.format === 'ndjson').map(({ url }) => url);
    return urls.flatMap((url) => {
      const text = world.objects.text(keyOfUrl(url));
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as ResultLine);
    });
  };

  async function outcomeOf(answer: Answered): Promise<Outcome> {
    if (answer.status !== 202) throw new Error(`${answer.status} ${answer.text}`);
    lookups.length = 0;
    await settle();
    const { id } = answer.body;
    const submission = (await api.call('GET', `/v1/submissions/${id}`)).body;
    return {
      submission,
      succeeded: await linesOf(id, 'succeeded'),
      failed: await linesOf(id, 'failed'),
      lookups: [...lookups],
    };
  }

  return {
    api,
    /** Uploads a file and submits it with `request`. */
    upload: async (file: string | Uint8Array, fileName: string, request: object = {}): Promise<Outcome> => {
      const uploadId = await api.upload(file, { fileName });
      return outcomeOf(await api.call('POST', '/v1/submissions', { body: { uploadId, ...request } }));
    },
    /** Sends a file in the body of a request. */
    send: async (call: Call): Promise<Outcome> => outcomeOf(await api.call('POST', '/v1/submissions', call)),
  };
}
