import { isDeepStrictEqual } from 'node:util';
import { tally } from '../../lambdas/domain/ledger/ledger.ts';
import { stoppedRow } from '../../lambdas/domain/ledger/stopped-row.ts';
import {
  chunkOf,
  isOpen,
  isTerminal,
  offsetOf,
  recordNoAt,
  type RecordRow,
  type Submission,
} from '../../lambdas/domain/model.ts';
import type { ProviderState } from '../../lambdas/domain/providers/ports.ts';
import type { Claim } from '../../lambdas/domain/submissions/ports.ts';
import type { Delivery, OutgoingMessage } from '../../lambdas/domain/queues/ports.ts';
import type { LedgerMarks } from '../../lambdas/domain/ledger/ports.ts';
import type { MemoryWorld, PortCall, PortHook } from '../support/memory/index.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { Environment } from './environment.ts';
import { Fleet } from './fleet.ts';
import { InHand } from './in-hand.ts';
import { Isolation } from './isolation.ts';
import { nameOf, recordOfBody, type About, type Journal } from './journal.ts';
import type { Scheduler } from './scheduler.ts';

const isFailed = ({ state }: RecordRow): boolean => state === 'failed' || state === 'dead_lettered';

/**
 * Holds every write against the invariants at the moment it is applied. It stands around the stores themselves, behind all faults: what
 * it sees is what really happens.
 */
export class Watch {
  readonly #journal: Journal;
  readonly #good: ReadonlySet<string>;
  readonly #scheduler: Scheduler;
  #world: MemoryWorld | undefined;
  #wake: (queue: string) => void = () => undefined;
  readonly #inHand = new InHand();
  /** Since when a provider's answer about a record is on its row. */
  readonly #kept = new Map<string, number>();
  /** Records whose rows were deleted. */
  readonly #lost = new Set<string>();
  /** Bodies of lane messages, for repeating old ones. */
  readonly bodies: { lane: 'small' | 'bulk'; body: string; group: string }[] = [];

  /** Called once, when a record fails while another copy of it is being worked. */
  onFailure: (() => void) | undefined;

  readonly fleet: Fleet;
  readonly isolation: Isolation;
  readonly acknowledgements: Acknowledgements;

  /** @param good - Names of the records that must succeed. */
  constructor(journal: Journal, scheduler: Scheduler, skewMs: number, good: ReadonlySet<string>) {
    this.#good = good;
    this.fleet = new Fleet(journal, scheduler.now, skewMs);
    this.isolation = new Isolation(journal, scheduler.now);
    this.acknowledgements = new Acknowledgements(journal, scheduler, skewMs, this.#inHand);
    this.#journal = journal;
    this.#scheduler = scheduler;
  }

  attach(world: MemoryWorld, wake: (queue: string) => void): void {
    this.#world = world;
    this.acknowledgements.attach(world);
    this.#wake = wake;
  }

  /** Somebody deleted the row of this record: the reconciler is to find out, and what was bought is bought again. */
  rowLost(record: string): void {
    this.#journal.note(`the row of ${record} is deleted`);
    this.#lost.add(record);
    for (const key of this.#kept.keys()) if (key.startsWith(`${record}/`)) this.#kept.delete(key);
    // One call of each provider whose answer it had, and one of a worker that holds the record now.
    for (let times = 0; times < 2; times++) this.#journal.disturbRecord(record);
  }

  /** True when work that begins now must know this answer: it is on the row. */
  keptSinceMs(record: string, provider: string): number | undefined {
    return this.#kept.get(`${record}/${provider}`);
  }

  readonly hook: PortHook = async (call, apply) => {
    const { port, method } = call;
    if (port === 'records' && method === 'put') return this.#put(call, apply);
    if (port === 'ledger' && method === 'mark') await this.#mark(call);
    if (method === 'acknowledge' && /\.(small|bulk)$/.test(port)) {
      const rowOf = async (about: About): Promise<RecordRow | undefined> => (await this.#rows([about]))[0];
      await this.acknowledgements.acknowledged(call, rowOf, (record) => this.#lost.has(record));
    }
    if (method === 'checkpointFanOut' || method === 'completeFanOut') {
      this.fleet.checkpointed(call, (record) => this.acknowledgements.isSent(record));
    }
    const result = await apply();
    if (method.startsWith('claimF')) this.fleet.claimed(call, result as Claim);
    if (/^(checkpoint|complete|setPrepared|finish$|reject$)/.test(method)) this.fleet.progressed(call);
    if (port === 'providers') this.#noteBlock(call, result);
    if (method === 'send') this.#noteSent(call);
    if (method === 'receive') this.#noteReceived(result as Delivery[]);
    if (method === 'reopen' && port === 'submissions') this.fleet.reopened(result as Submission);
    if (method === 'finish') await this.#finished(result as Submission);
    return result;
  };

  #noteBlock({ method, args }: PortCall, result: unknown): void {
    const [provider, order] = args as [string, number | { blockedUntilMs?: number }];
    if (method === 'block') this.fleet.blocked(provider, order as number);
    if (method !== 'throttle') return;
    const { blockedUntilMs } = order as { blockedUntilMs?: number };
    // Of many that report the same refusal one is heard.
    if (blockedUntilMs === (result as ProviderState).blockedUntilMs) this.fleet.blocked(provider, blockedUntilMs);
  }

  async #put({ args }: PortCall, apply: () => Promise<unknown>): Promise<unknown> {
    const row = args[0] as RecordRow;
    const [before] = await this.#rows([row]);
    const result = await apply();
    const [after] = await this.#rows([row]);
    const record = nameOf(row.submissionId, row.recordNo);
    if (before?.state === 'succeeded' && !isDeepStrictEqual(before, after)) {
      this.#journal.broken('success is final', `The succeeded row of ${record} was changed`, [record]);
    }
    const replayed = after !== undefined && before !== undefined && after.generation > before.generation;
    if (before !== undefined && isTerminal(before.state) && !isDeepStrictEqual(before, after) && !replayed) {
      this.#journal.broken('one outcome', `The outcome of ${record} was overwritten without a replay`, [record]);
    }
    if (before !== undefined && after !== undefined && after.generation < before.generation) {
      this.#journal.broken('generations rise', `The row of ${record} fell back to generation ${after.generation}`, [
        record,
      ]);
    }
    if (
      after &&
      after.state !== 'succeeded' &&
      after.attempts > this.#journal.transientsOf(record) + (after.state === 'failed' ? 1 : 0)
    ) {
      this.#journal.broken(
        'only failures are attempts',
        `${record} lost ${after.attempts} attempts, but so often it did not fail`,
        [record],
      );
    }
    // Even where a replay would heal it later.
    if (after?.reason === 'attempts_exhausted' && this.#good.has(record)) {
      this.#journal.broken('no good record is charged', `${record} lost all of its attempts`, [record]);
    }
    if (after) this.isolation.written(record, after);
    if (replayed) this.#journal.stats.replays += 1;
    if (replayed || (after?.resends ?? 0) > (before?.resends ?? 0)) this.#journal.disturbRecord(record);
    this.#noteAnswers(record, before, after);
    if (after && isFailed(after) && !(before && isFailed(before))) this.#failed(record);
    return result;
  }

  /** A batch that began after a cancellation calls nobody for its records. */
  calledAfterCancel(record: string, { name, invokedAtMs }: Environment): void {
    const submission = this.#world?.inspect
      .submissions()
      .find(({ submissionId }) => record.startsWith(nameOf(submissionId, 0).replace(/0$/, '')));
    const stop = submission?.stop;
    if (stop?.kind !== 'cancelled' || stop.atMs >= invokedAtMs) return;
    this.#journal.broken('a cancel stops calls', `${name} began after the cancellation and called for ${record}`, [
      record,
    ]);
  }

  #failed(record: string): void {
    if (this.onFailure === undefined || this.#inHand.copiesOf(record, this.#scheduler.now()) < 2) return;
    this.onFailure();
    this.onFailure = undefined;
  }

  /** What was paid for stays, whoever writes at the same time. */
  #noteAnswers(record: string, before: RecordRow | undefined, after: RecordRow | undefined): void {
    for (const provider of Object.keys(after?.answers ?? {})) {
      if (before?.answers[provider] === undefined) this.#kept.set(`${record}/${provider}`, this.#scheduler.now());
    }
    for (const provider of Object.keys(before?.answers ?? {})) {
      if (after?.answers[provider] !== undefined) continue;
      this.#journal.broken('answers are kept', `The answer of ${provider} is gone from the row of ${record}`, [record]);
    }
  }

  async #mark({ args }: PortCall): Promise<void> {
    const [submissionId, chunk, marks] = args as [string, number, LedgerMarks];
    const failed = [...marks.failed.values()].flat();
    const all = [...marks.succeeded, ...marks.cancelled, ...failed];
    const rows = await this.#rows(all.map((offset) => ({ submissionId, recordNo: recordNoAt(chunk, offset) })));
    const states = new Map(rows.map((row) => [row.recordNo, row]));
    const succeeded = new Set(marks.succeeded);
    for (const offset of all) {
      const recordNo = recordNoAt(chunk, offset);
      const row = states.get(recordNo);
      const isStopped = marks.cancelled.includes(offset) && this.#isStopped(submissionId);
      const isRight = succeeded.has(offset)
        ? row?.state === 'succeeded'
        : isStopped || (row !== undefined && (isTerminal(row.state) || row.generation > 0));
      if (isRight) continue;
      const record = nameOf(submissionId, recordNo);
      if (this.#lost.has(record)) continue;
      this.#journal.broken(
        'row before ledger',
        `The ledger counts ${record}, whose row says ${row?.state ?? 'nothing'}`,
        [record],
      );
    }
  }

  #isStopped(submissionId: string): boolean {
    return this.#world?.inspect.submissions().find((each) => each.submissionId === submissionId)?.stop !== undefined;
  }

  #noteSent({ args, port }: PortCall): void {
    const lane = port === 'queues.small' ? 'small' : 'bulk';
    for (const message of args[0] as OutgoingMessage[]) {
      this.acknowledgements.sent(message);
      const { body, group } = message;
      const about = recordOfBody(body);
      if (about === undefined) continue;
      if (port.startsWith('queues')) this.bodies.push({ lane, body, group });
    }
    this.#wake(port);
  }

  #noteReceived(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      this.#inHand.received(delivery, this.#scheduler.now());
      this.#journal.delivered(recordOfBody(delivery.body)?.record, delivery);
    }
  }

  async #finished(submission: Submission): Promise<void> {
    if (isOpen(submission.state)) return;
    const { submissionId, fanOut } = submission;
    const rows = new Map(this.#world?.inspect.records(submissionId).map((row) => [row.recordNo, row]));
    const chunks = new Map(this.#world?.inspect.ledger(submissionId).map((chunk) => [chunk.chunk, chunk]));
    const isFinished = (recordNo: number): boolean => {
      const row = rows.get(recordNo);
      const isEnded = stoppedRow(submission, chunks.get(chunkOf(recordNo)), offsetOf(recordNo), row) !== undefined;
      return isEnded || (row !== undefined && isTerminal(row.state));
    };
    const finished = Array.from({ length: fanOut.records }, (_, index) => index + 1).filter(isFinished).length;
    if (finished === fanOut.records) return;
    this.#journal.broken(
      'closed when done',
      `${submissionId} was closed with ${finished} outcomes of ${fanOut.records} records`,
      [submissionId],
    );
  }

  /** Conservation at this moment: what was accepted is succeeded, failed, cancelled or pending. */
  audit(): void {
    for (const submission of this.#world?.inspect.submissions() ?? []) {
      const { submissionId, fanOut } = submission;
      const { counts } = tally(submission, this.#world?.inspect.ledger(submissionId) ?? []);
      const { succeeded, failed, cancelled, pending } = counts;
      if (!fanOut.done || succeeded + failed + cancelled + pending === fanOut.records) continue;
      this.#journal.broken(
        'conservation',
        `${submissionId}: ${fanOut.records} records, but ${JSON.stringify(counts)}`,
        [submissionId],
      );
    }
  }

  async #rows(keys: readonly { submissionId: string; recordNo: number }[]): Promise<RecordRow[]> {
    return keys.length === 0 ? [] : ((await this.#world?.records.getMany(keys)) ?? []);
  }
}
