import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { AcceptedSchemas } from '../../../lambdas/domain/submissions/schemas.ts';
import type { FanOutDeps, FanOutSettings } from '../../../lambdas/domain/fan-out/deps.ts';
import { FAN_OUT_DEFAULTS } from '../../../lambdas/domain/fan-out/deps.ts';
import { fanOutSlice } from '../../../lambdas/domain/fan-out/fan-out-slice.ts';
import {
  encodeBody,
  MESSAGE_VERSION,
  parseFanOutMessage,
  parseRecordMessage,
} from '../../../lambdas/domain/queues/messages.ts';
import type { RecordMessage } from '../../../lambdas/domain/queues/messages.ts';
import { LANES, type Submission } from '../../../lambdas/domain/model.ts';
import { makeSubmission, SUBMISSION_ID, TENANT_ID } from '../factories.ts';
import {
  createMemoryWorld,
  createTestClock,
  noHook,
  seededRandom,
  type MemoryWorld,
  type PortHook,
  type TestClock,
} from '../memory/index.ts';
import { deliverAll } from './deliver.ts';

export const SOURCE_KEY = 'uploads/acme/up_1';

export interface FanOutRig {
  clock: TestClock;
  world: MemoryWorld;
  deps: FanOutDeps;
  /** Stores a file and its submission, and sends the message that begins its fan-out. */
  submit(file: string | Uint8Array, overrides?: Partial<Submission>): Promise<void>;
  /** Delivers fan-out messages until there are none. `around` is called with each slice. */
  run(around?: (slice: () => Promise<void>) => Promise<void>): Promise<{ deliveries: number; failures: unknown[] }>;
  /** Works one slice, as its message's first delivery does. */
  slice(remainingMs?: number): Promise<void>;
  /** The submission as stored. */
  stored(): Submission;
  /** Messages in both lanes, oldest first. */
  sent(): RecordMessage[];
}

const MESSAGE = { v: MESSAGE_VERSION, submissionId: SUBMISSION_ID, tenantId: TENANT_ID } as const;

export function createFanOutRig(
  options: { settings?: Partial<FanOutSettings>; hook?: PortHook; pieceBytes?: number; clock?: TestClock } = {},
): FanOutRig {
  const { hook = noHook, pieceBytes = 4_096 } = options;
  const clock = options.clock ?? createTestClock();
  const world = createMemoryWorld({ clock, hook, pieceBytes });
  const { prepare, fanOut, small, bulk, finalize, webhooks } = world.queues.live;
  const deps: FanOutDeps = {
    schemas: new AcceptedSchemas(world.submissions, { record: recordSchema, responses: {} }),
    submissions: world.submissions,
    ledger: world.ledger,
    objects: world.objects,
    admission: world.admission,
    lanes: { small, bulk },
    fanOutQueue: fanOut,
    prepareQueue: prepare,
    webhookQueue: webhooks,
    finalizeQueue: finalize,
    telemetry: world.telemetry,
    clock,
    random: seededRandom(1),
    settings: {
      ...FAN_OUT_DEFAULTS,
      ...options.settings,
    },
  };
  const stored = (): Submission => {
    const submission = world.inspect.submissions()[0];
    if (!submission) throw new Error('There is no submission.');
    return submission;
  };
  return {
    clock,
    world,
    deps,
    stored,
    async submit(file, overrides) {
      const source = { key: SOURCE_KEY, ...world.objects.seed(SOURCE_KEY, file) };
      await world.submissions.create(makeSubmission({ source, ...overrides }));
      await fanOut.send([{ body: encodeBody(MESSAGE), group: TENANT_ID }]);
    },
    run: async (around = async (slice) => slice()) =>
      deliverAll(fanOut, clock, async (body) =>
        around(async () => fanOutSlice(deps, parseFanOutMessage(body), { remainingMs: () => 300_000 })),
      ),
    slice: async (remainingMs = 300_000) => fanOutSlice(deps, MESSAGE, { remainingMs: () => remainingMs }),
    sent: () => LANES.flatMap((lane) => world.queues.live[lane].messages().map(({ body }) => parseRecordMessage(body))),
  };
}

/** A CSV file of `records` customers: record n has the id `c-n` and, where it divides by 7, a line break in its note. */
export function makeCsv(records: number): string {
  const rows = Array.from({ length: records }, (_, index) => {
    const n = index + 1;
    return `c-${n},Customer ${n},${n % 7 === 0 ? '"two\nlines"' : 'plain'}\n`;
  });
  return `record_id,name,note\n${rows.join('')}`;
}

/** Record numbers in ascending order, each once. */
export const numbersOf = (messages: readonly RecordMessage[]): number[] =>
  [...new Set(messages.map(({ recordNo }) => recordNo))].sort((a, b) => a - b);

export const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
