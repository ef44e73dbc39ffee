import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { encodeBody, parseRecordMessage, type RecordMessage } from '../../lambdas/domain/queues/messages.ts';
import type { RecordRow, Submission } from '../../lambdas/domain/model.ts';
import type { Delivery } from '../../lambdas/domain/queues/ports.ts';
import type { HttpTransport } from '../../lambdas/domain/providers/ports.ts';
import { prepareProviders } from '../../lambdas/domain/providers/provider.ts';
import { AcceptedSchemas, schemaSetOf } from '../../lambdas/domain/submissions/schemas.ts';
import { processBatch, type WorkerDeps } from '../../lambdas/domain/worker/process-batch.ts';
import { makeProcessing, makeProvider, makeRecordMessage, SUBMISSION_ID } from './factories.ts';
import { createFakeProvider, respond, type FakeProvider } from './fake-provider.ts';
import { intercept, type PortHook } from './memory/hook.ts';
import { createMemoryWorld, seededRandom } from './memory/index.ts';
import { createVirtualClock } from './virtual-clock.ts';

const COMPANY = makeProvider({ canary: { domain: 'canary.example.com' } });
const GEO = makeProvider({
  name: 'geo',
  baseUrl: 'https://geo.example.com',
  path: '/v1/places/{country}/{postal_code}',
  lookup: ['country', 'postal_code'],
  canary: { country: 'DE', postal_code: '00000' },
});

export interface RigOptions {
  hook?: PortHook;
  seed?: number;
}

/** Compiled once: it takes longer than most tests. */
const APIS = prepareProviders([COMPANY, GEO]);
const SCHEMAS = schemaSetOf(recordSchema, [COMPANY, GEO]);

/** Thrown into no code: a call of a dead worker simply never returns. */
interface Life {
  isOver: boolean;
  end: () => void;
}

/** How long a delivery stays hidden: longer than any invocation of a test. */
export const VISIBILITY_MS = 180_000;

/** One worker of the small lane with everything around it in memory, and an event source that is stepped by hand. */
export function createWorkerRig(options: RigOptions = {}) {
  const clock = createVirtualClock();
  const random = seededRandom(options.seed ?? 1);
  const world = createMemoryWorld({
    clock,
    credentials: { company: 'key-c', geo: 'key-g' },
    ...(options.hook === undefined ? {} : { hook: options.hook }),
  });
  const company = createFakeProvider(clock);
  const geo = createFakeProvider(clock);
  geo.behave(() => respond(200, { place: 'Berlin' }));
  const lane = world.queues.live.small;
  const deadLetters = world.queues.deadLetters.small;
  const deps: WorkerDeps = {
    ...world,
    lane: 'small',
    laneQueue: lane,
    deadLetterQueue: deadLetters,
    finalizeQueue: world.queues.live.finalize,
    acknowledger: lane,
    transport: route({ company, geo }),
    clock,
    random,
    owner: 'worker-1',
    apis: APIS,
    schemas: new AcceptedSchemas(world.submissions, SCHEMAS),
  };

  /** Runs one invocation on deliveries, and acknowledges as an event source does. `crash` kills the worker from inside. */
  async function invoke(deliveries: readonly Delivery[], invocation: Invocation = {}): Promise<InvocationResult> {
    const { remainingMs = 120_000, killedBy } = invocation;
    const { mortal, life, death } = mortalCopy(deps);
    const watched =
      killedBy === undefined ? mortal : { ...mortal, transport: deadly(mortal.transport, killedBy, life) };
    const endMs = clock.now() + remainingMs;
    const work = processBatch(watched, deliveries, { remainingMs: () => endMs - clock.now() });
    const ended = await clock.run(Promise.race([work, death]));
    if (ended === 'crashed') return { crashed: true, failed: [] };
    const done = deliveries.filter(({ messageId }) => !ended.includes(messageId));
    await lane.acknowledge(done);
    return { crashed: false, failed: ended };
  }

  return {
    clock,
    world,
    deps,
    lane,
    deadLetters,
    company,
    geo,
    telemetry: world.telemetry,
    invoke,
    /** Begins an invocation and leaves time alone, to run several at once. */
    start: async (deliveries: readonly Delivery[]) => processBatch(deps, deliveries, { remainingMs: () => 120_000 }),

    /** A submission that has been fanned out: `records` messages on the lane, changed as a test wants them. */
    async submit(
      records: number,
      change: (message: RecordMessage) => Partial<RecordMessage> = () => ({}),
      overrides: Partial<Submission> = {},
    ): Promise<void> {
      await world.submissions.create(makeProcessing(records, overrides));
      await world.ledger.setSize(SUBMISSION_ID, 0, records, makeProcessing(1).expiresAtSeconds);
      for (let recordNo = 1; recordNo <= records; recordNo++) {
        const message = makeRecordMessage({ recordNo });
        await lane.send([{ body: encodeBody({ ...message, ...change(message) }), group: message.tenantId }]);
      }
    },
    /** Receives a batch and invokes the worker on it. */
    async step(invocation: Invocation & { max?: number } = {}): Promise<InvocationResult & { received: number }> {
      const deliveries = await lane.receive(invocation.max ?? 10, VISIBILITY_MS);
      return { ...(await invoke(deliveries, invocation)), received: deliveries.length };
    },
    /** Steps until the lane is empty; time passes as it must. */
    async drain(invocation: Invocation & { max?: number } = {}): Promise<void> {
      for (let rounds = 0; rounds < 2_000; rounds++) {
        const nextMs = lane.nextVisibleAtMs();
        if (nextMs === undefined) return;
        if (nextMs > clock.now()) await clock.run(clock.sleep(nextMs - clock.now()));
        const deliveries = await lane.receive(invocation.max ?? 10, VISIBILITY_MS);
        if (deliveries.length > 0) await invoke(deliveries, invocation);
      }
      throw new Error('The lane does not run empty.');
    },
    rows: (): RecordRow[] => world.inspect.records(SUBMISSION_ID),
    row: (recordNo: number): RecordRow | undefined =>
      world.inspect.records(SUBMISSION_ID).find((row) => row.recordNo === recordNo),
    ledger: () => {
      const [chunk] = world.inspect.ledger(SUBMISSION_ID);
      const failed = [...(chunk?.failed ?? [])].map(([reason, offsets]) => [
        reason,
        [...offsets].toSorted((a, b) => a - b),
      ]);
      return {
        succeeded: [...(chunk?.succeeded ?? [])].toSorted((a, b) => a - b),
        cancelled: [...(chunk?.cancelled ?? [])].toSorted((a, b) => a - b),
        failed: Object.fromEntries(failed),
      };
    },
    submission: () => world.inspect.submissions()[0],
    /** The messages that wait on the lane, parsed, with their delay from now. */
    waiting: () =>
      lane.messages().map(({ body, visibleAtMs, group }) => ({
        message: parseRecordMessage(body),
        delayMs: visibleAtMs - clock.now(),
        group,
      })),
  };
}

export interface Invocation {
  remainingMs?: number;
  /** The worker dies when it calls a provider with a URL that this holds for. */
  killedBy?: (url: string) => boolean;
}

export interface InvocationResult {
  crashed: boolean;
  failed: readonly string[];
}

const route = (hosts: { company: FakeProvider; geo: FakeProvider }): HttpTransport => ({
  request: async (request) => (request.url.includes('//geo.') ? hosts.geo : hosts.company).request(request),
});

function deadly(transport: HttpTransport, killedBy: (url: string) => boolean, life: Life): HttpTransport {
  return {
    async request(request) {
      if (killedBy(request.url)) life.end();
      return transport.request(request);
    },
  };
}

/** The same worker, whose calls never return once its life is over: nothing of it happens any more. */
function mortalCopy(deps: WorkerDeps): { mortal: WorkerDeps; life: Life; death: Promise<'crashed'> } {
  const life: Life = { isOver: false, end: () => undefined };
  const death = new Promise<'crashed'>((resolve) => {
    life.end = () => {
      life.isOver = true;
      resolve('crashed');
    };
  });
  const hook: PortHook = async (_call, apply) => {
    if (life.isOver) return new Promise(() => undefined);
    const result = await apply();
    return life.isOver ? new Promise(() => undefined) : result;
  };
  const mortal: WorkerDeps = {
    ...deps,
    submissions: intercept('submissions', deps.submissions, hook),
    ledger: intercept('ledger', deps.ledger, hook),
    records: intercept('records', deps.records, hook),
    providers: intercept('providers', deps.providers, hook),
    answerCache: intercept('answerCache', deps.answerCache, hook),
    laneQueue: intercept('laneQueue', deps.laneQueue, hook),
    deadLetterQueue: intercept('deadLetterQueue', deps.deadLetterQueue, hook),
    finalizeQueue: intercept('finalizeQueue', deps.finalizeQueue, hook),
    acknowledger: intercept('acknowledger', deps.acknowledger, hook),
    transport: intercept('transport', deps.transport, hook),
    clock: intercept('clock', deps.clock, hook, ['now']),
  };
  return { mortal, life, death };
}
