import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { estimateCompletion, pacePerSecondOf } from '../../lambdas/domain/api/estimate.ts';
import { prepareProviders, type Provider } from '../../lambdas/domain/providers/provider.ts';
import { tally } from '../../lambdas/domain/ledger/ledger.ts';
import { encodeBody } from '../../lambdas/domain/queues/messages.ts';
import { chunkCount, CHUNK_RECORDS, LANES, type Lane, type Submission } from '../../lambdas/domain/model.ts';
import type { Backlog } from '../../lambdas/domain/tenants/ports.ts';
import { takeSnapshot } from '../../lambdas/domain/reconcile/backlog.ts';
import { RECONCILE_DEFAULTS, type ReconcileDeps } from '../../lambdas/domain/reconcile/deps.ts';
import { AcceptedSchemas, schemaSetOf } from '../../lambdas/domain/submissions/schemas.ts';
import { processBatch } from '../../lambdas/domain/worker/process-batch.ts';
import { makeFields, makeRecordMessage, makeSubmission, SUBMISSION_ID } from '../support/factories.ts';
import { createMemoryWorld, START_MS, type MemoryWorld, type PortHook } from '../support/memory/index.ts';
import { Lined } from './lined.ts';
import { providerConfigs } from './provider.ts';
import { stream, type Dice } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

export interface EstimatesOptions {
  seed: number;
  /** Records of one submission in each lane; a lane with 0 has none. */
  records: Readonly<Record<Lane, number>>;
  workers: Readonly<Record<Lane, number>>;
  ratePerSecond: number;
  smallLaneShare: number;
  /** Messages at the front of a lane among which any may come next: 1 keeps the order. */
  disorder: number;
  /** Size of a record in its file: what admission and the snapshot believe before it is counted goes by it. */
  bytesPerRecord: number;
}

/** One estimate, and what came true. */
export interface Sample {
  lane: Lane;
  /** Age of the snapshot; undefined without one. */
  snapshotAgeMs: number | undefined;
  /** From the moment of the estimate to the end of the last record. */
  remainingMs: number;
  /** How much later than that the estimate was; negative when it was earlier. */
  deviationMs: number;
}

const BATCH_SIZE = 10;
const SAMPLE_EVERY_MS = 2_000;
/** How old snapshots get: the reconciler makes one a minute. */
const SNAPSHOT_AGES_MS = [0, 10_000, 25_000, 40_000, 60_000];
const SNAPSHOT_EVERY_MS = 5_000;
const FAN_OUT_RECORDS = 1_000;
/** What fan-out takes for so many records: it is faster than any lane. */
const FAN_OUT_MS = 250;
const IDLE_MS = 50;

const SCHEMAS = schemaSetOf(recordSchema, []);

interface Told {
  lane: Lane;
  atMs: number;
  estimateMs: number;
  snapshotAgeMs: number | undefined;
}

/**
 * Lanes that are drained with the real worker and pacer in virtual time, and whoever asks on the way, from the end of fan-out on, when each
 * submission will be complete: with its counts as the ledger has them, and with snapshots of every age up to a minute.
 */
export class EstimatedDrain {
  readonly #options: EstimatesOptions;
  readonly #scheduler: Scheduler = createScheduler(START_MS);
  readonly #dice: Dice;
  readonly #world: MemoryWorld;
  readonly #provider: Provider;
  readonly #lanes: readonly Lane[];
  readonly #queues: Record<Lane, Lined>;
  readonly #snapshots: Backlog[] = [];
  readonly #told: Told[] = [];
  /** When the last fan-out ended. */
  #fannedOutMs = Infinity;
  readonly #lastRecordMs: Record<Lane, number> = { small: 0, bulk: 0 };

  constructor(options: EstimatesOptions) {
    this.#options = options;
    this.#dice = stream(options.seed, 'estimates');
    this.#lanes = LANES.filter((lane) => options.records[lane] > 0);
    this.#world = createMemoryWorld({
      clock: this.#scheduler,
      hook: this.#slowly,
      credentials: { company: 'key of company' },
    });
    const { ratePerSecond } = options;
    const [config] = providerConfigs({ skewMs: 0, slowReplyMs: 0 });
    const [provider] = config ? prepareProviders([{ ...config, ratePerSecond, burst: ratePerSecond / 20 }]) : [];
    if (provider === undefined) throw new Error('There is a provider.');
    this.#provider = provider;
    const lined = (): Lined => new Lined(this.#scheduler, options.disorder, this.#dice);
    this.#queues = { small: lined(), bulk: lined() };
  }

  async run(): Promise<Sample[]> {
    for (const lane of this.#lanes) {
      void this.#fanOut(lane);
      for (let index = 0; index < this.#options.workers[lane]; index++) void this.#work(lane, `${lane}-${index}`);
    }
    void this.#takeSnapshots();
    void this.#ask();
    await this.#scheduler.run(() => this.#isOver());
    return this.#told.map(({ lane, atMs, estimateMs, snapshotAgeMs }) => ({
      lane,
      snapshotAgeMs,
      remainingMs: this.#lastRecordMs[lane] - atMs,
      deviationMs: estimateMs - this.#lastRecordMs[lane],
    }));
  }

  #isOver(): boolean {
    const submissions = this.#lanes.map((lane) => this.#queues[lane]);
    return submissions.every(({ isOver }) => isOver);
  }

  /** Stores take some milliseconds, and the reply of the one that paces calls is late now and then. */
  readonly #slowly: PortHook = async ({ port, method, args }, apply) => {
    const isPacer = port === 'providers';
    if (!isPacer && port !== 'records' && port !== 'ledger') return apply();
    await this.#scheduler.sleep(this.#dice.between(2, 8));
    const result = await apply();
    if (isPacer) await this.#scheduler.sleep(this.#dice.chance(0.01) ? this.#dice.between(4, 40) : 1);
    if (method === 'mark') this.#lastRecordMs[laneOf(String(args[0]))] = this.#scheduler.now();
    return result;
  };

  async #fanOut(lane: Lane): Promise<void> {
    const { records, bytesPerRecord } = this.#options;
    const total = records[lane];
    const submissionId = idOf(lane);
    const { submissions, ledger } = this.#world;
    const source = { ...makeSubmission().source, sizeBytes: total * bytesPerRecord };
    const { expiresAtSeconds } = (await submissions.create(makeSubmission({ submissionId, source, lane }))).stored;
    const lease = (): { nowMs: number; leaseMs: number } => ({ nowMs: this.#scheduler.now(), leaseMs: 60_000 });
    await submissions.claimFanOut({ submissionId, owner: 'fan-out', ...lease() });
    for (let sent = 0; sent < total;) {
      await this.#scheduler.sleep(FAN_OUT_MS);
      const next = Math.min(total, sent + FAN_OUT_RECORDS);
      for (let recordNo = sent + 1; recordNo <= next; recordNo++) this.#queues[lane].add(bodyOf(lane, recordNo));
      sent = next;
      const progress = { byteOffset: sent * bytesPerRecord, records: sent, line: sent + 1 };
      await submissions.checkpointFanOut(submissionId, 'fan-out', progress, lease());
    }
    const last = chunkCount(total) - 1;
    await ledger.setSize(submissionId, last, total - last * CHUNK_RECORDS, expiresAtSeconds);
    await submissions.completeFanOut(submissionId, 'fan-out', total, this.#scheduler.now());
    this.#fannedOutMs = this.#scheduler.now();
  }

  async #work(lane: Lane, owner: string): Promise<void> {
    const queue = this.#queues[lane];
    const { queues } = this.#world;
    const clock = this.#clock();
    const deps = {
      ...this.#world,
      clock,
      lane,
      owner,
      schemas: new AcceptedSchemas(this.#world.submissions, SCHEMAS),
      random: this.#dice.next,
      apis: [this.#provider],
      laneQueue: queue,
      deadLetterQueue: queues.deadLetters[lane],
      finalizeQueue: queues.live.finalize,
      acknowledger: queues.live[lane],
      telemetry: { emit: () => undefined },
      transport: { request: async () => this.#answer() },
    };
    while (!queue.isOver) {
      const deliveries = queue.take(BATCH_SIZE);
      if (deliveries.length === 0) {
        queue.isOver = await this.#isFinished(lane);
        await this.#scheduler.sleep(IDLE_MS);
        continue;
      }
      const endMs = clock.now() + 60_000;
      const again = await processBatch(deps, deliveries, { remainingMs: () => endMs - clock.now() });
      if (again.length > 0) throw new Error('Nothing fails in this drain.');
    }
  }

  async #isFinished(lane: Lane): Promise<boolean> {
    return (await this.#world.submissions.get(idOf(lane)))?.state === 'finalizing';
  }

  /** Timers fire on whole milliseconds, and late rather than early. */
  #clock() {
    return {
      now: () => Math.floor(this.#scheduler.now()),
      sleep: async (ms: number) => this.#scheduler.sleep(Math.max(1, ms) + this.#dice.next()),
    };
  }

  async #answer() {
    await this.#scheduler.sleep(this.#dice.between(20, 400));
    const body = Buffer.from('{"found":"x"}');
    return { kind: 'response' as const, status: 200, headers: {}, body, truncated: false };
  }

  /** As the reconciler does, only more often: which of them an answer gets to see is chance. */
  async #takeSnapshots(): Promise<void> {
    const { small, bulk, fanOut, finalize } = this.#world.queues.live;
    const deps: ReconcileDeps = {
      ...this.#world,
      lanes: { small, bulk },
      fanOutQueue: fanOut,
      deadLetterQueues: this.#world.queues.deadLetters,
      finalizeQueue: finalize,
      clock: this.#clock(),
      apis: [this.#provider.config],
      settings: { ...RECONCILE_DEFAULTS, visibilityMs: 360_000 },
    };
    while (!this.#isOver()) {
      this.#snapshots.push((await takeSnapshot(deps)).backlog);
      await this.#scheduler.sleep(SNAPSHOT_EVERY_MS);
    }
  }

  async #ask(): Promise<void> {
    while (!this.#isOver()) {
      await this.#scheduler.sleep(SAMPLE_EVERY_MS);
      for (const lane of this.#lanes) {
        const found = await this.#world.submissions.getWithLedger(idOf(lane));
        if (found?.submission.fanOut.done !== true || found.submission.state !== 'processing') continue;
        const { counts } = tally(found.submission, found.ledger);
        for (const backlog of this.#snapshotsNow()) this.#tell(lane, found.submission, counts, backlog);
      }
    }
  }

  /** One of every age that there is by now. */
  #snapshotsNow(): Set<Backlog | undefined> {
    const nowMs = this.#scheduler.now();
    return new Set(SNAPSHOT_AGES_MS.map((ageMs) => this.#snapshots.findLast(({ asOfMs }) => asOfMs <= nowMs - ageMs)));
  }

  #tell(
    lane: Lane,
    submission: Submission,
    counts: ReturnType<typeof tally>['counts'],
    backlog: Backlog | undefined,
  ): void {
    // What others hand in after a snapshot cannot be in it, and what nobody has counted yet only by the size of its file.
    if (this.#lanes.length > 1 && (backlog === undefined || backlog.asOfMs < this.#fannedOutMs)) return;
    const nowMs = this.#scheduler.now();
    const { ratePerSecond, smallLaneShare } = this.#options;
    const pacePerSecond = pacePerSecondOf({ company: ratePerSecond });
    const estimateMs = estimateCompletion({ submission, counts, backlog, pacePerSecond, smallLaneShare, nowMs });
    if (estimateMs === undefined) throw new Error('An open submission has an estimate.');
    this.#told.push({ lane, atMs: nowMs, estimateMs, snapshotAgeMs: backlog && nowMs - backlog.asOfMs });
  }
}

const idOf = (lane: Lane): string => `${SUBMISSION_ID.slice(0, -5)}${lane === 'small' ? 'SMALL' : '0BVLK'}`;
const laneOf = (submissionId: string): Lane => (submissionId === idOf('small') ? 'small' : 'bulk');
const bodyOf = (lane: Lane, recordNo: number): string =>
  encodeBody(makeRecordMessage({ submissionId: idOf(lane), lane, recordNo, content: contentOf(recordNo) }));
const contentOf = (recordNo: number) => ({ kind: 'record' as const, fields: makeFields(recordNo) });
