import type { ReconcileDeps } from '../../lambdas/domain/reconcile/deps.ts';
import { RECONCILE_DEFAULTS } from '../../lambdas/domain/reconcile/deps.ts';
import { reconcile, type ReconcileReport } from '../../lambdas/domain/reconcile/reconcile.ts';
import { parseRecordMessage, type RecordMessage } from '../../lambdas/domain/queues/messages.ts';
import { CHUNK_RECORDS, chunkCount, type Submission } from '../../lambdas/domain/model.ts';
import { makeProcessing, SUBMISSION_ID } from './factories.ts';
import {
  createMemoryWorld,
  createTestClock,
  noHook,
  START_MS,
  type MemoryWorld,
  type PortHook,
  type TestClock,
} from './memory/index.ts';

export const MINUTE_MS = 60_000;
const KEY = 'uploads/acme/up_1';

export interface ReconcileRig {
  clock: TestClock;
  world: MemoryWorld;
  deps: ReconcileDeps;
  /** Stores a file of `records` records whose fan-out has ended (unless overridden), without any message. */
  seed(records: number, overrides?: Partial<Submission>): Promise<Submission>;
  /** Lets `minutes` pass, with a run of the reconciler after each. */
  minutes(minutes: number): Promise<ReconcileReport[]>;
  run(remainingMs?: number): Promise<ReconcileReport>;
  stored(submissionId?: string): Submission;
  /** Messages of a lane, oldest first. */
  sent(lane?: 'small' | 'bulk'): RecordMessage[];
}

const fileOf = (records: number): string =>
  ['record_id,name', ...Array.from({ length: records }, (_, index) => `r-${index + 1},Name ${index + 1}`), ''].join(
    '\n',
  );

export function createReconcileRig(options: { hook?: PortHook } = {}): ReconcileRig {
  const clock = createTestClock();
  const world = createMemoryWorld({ clock, hook: options.hook ?? noHook });
  const { fanOut, small, bulk, finalize } = world.queues.live;
  const deps: ReconcileDeps = {
    submissions: world.submissions,
    ledger: world.ledger,
    records: world.records,
    providers: world.providers,
    admission: world.admission,
    objects: world.objects,
    lanes: { small, bulk },
    fanOutQueue: fanOut,
    deadLetterQueues: world.queues.deadLetters,
    finalizeQueue: finalize,
    telemetry: world.telemetry,
    clock,
    apis: [{ name: 'company', ratePerSecond: 50 }],
    settings: { ...RECONCILE_DEFAULTS, visibilityMs: 3 * MINUTE_MS },
  };
  const run = async (remainingMs = 55_000): Promise<ReconcileReport> =>
    reconcile(deps, { remainingMs: () => remainingMs });
  return {
    clock,
    world,
    deps,
    run,
    async seed(records, overrides = {}) {
      const source = { key: KEY, ...world.objects.seed(KEY, fileOf(records)) };
      const submission = makeProcessing(records, {
        source,
        nextCheckAtMs: START_MS,
        ...overrides,
        fanOut: {
          done: true,
          byteOffset: source.sizeBytes,
          records,
          line: records + 2,
          dialect: { delimiter: ',', header: ['record_id', 'name'] },
          ...overrides.fanOut,
        },
      });
      await world.submissions.create(submission);
      const rest = records % CHUNK_RECORDS;
      const { submissionId, fanOut: progress, expiresAtSeconds } = submission;
      if (progress.done && rest > 0) {
        await world.ledger.setSize(submissionId, chunkCount(records) - 1, rest, expiresAtSeconds);
      }
      return submission;
    },
    async minutes(minutes) {
      const reports: ReconcileReport[] = [];
      for (let minute = 0; minute < minutes; minute++) {
        await clock.advance(MINUTE_MS);
        reports.push(await run());
      }
      return reports;
    },
    stored(submissionId = SUBMISSION_ID) {
      const found = world.inspect.submissions().find((submission) => submission.submissionId === submissionId);
      if (!found) throw new Error(`There is no submission ${submissionId}.`);
      return found;
    },
    sent: (lane = 'small') => world.queues.live[lane].messages().map(({ body }) => parseRecordMessage(body)),
  };
}
