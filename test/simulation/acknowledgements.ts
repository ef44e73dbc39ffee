import { outcomeAt } from '../../lambdas/domain/ledger/ledger.ts';
import { chunkOf, isOpen, isTerminal, offsetOf, type RecordRow, type Submission } from '../../lambdas/domain/model.ts';
import type { Delivery, OutgoingMessage } from '../../lambdas/domain/queues/ports.ts';
import { isStopped } from '../../lambdas/domain/submissions/stop.ts';
import type { MemoryWorld, PortCall } from '../support/memory/index.ts';
import type { InHand } from './in-hand.ts';
import { recordOfBody, type About, type Journal } from './journal.ts';
import type { Scheduler } from './scheduler.ts';

/** What is known of messages about a record, or of those with the same unreadable body. */
interface Sent {
  firstEnqueuedAtMs: number;
  /** When one was last sent, by generation. */
  atMs: Map<number, number>;
}

/** A message may be acknowledged once what it stands for is written down, or another message goes on with it. */
export class Acknowledgements {
  readonly #journal: Journal;
  readonly #scheduler: Scheduler;
  readonly #skewMs: number;
  readonly #inHand: InHand;
  #world: MemoryWorld | undefined;
  readonly #sent = new Map<string, Sent>();
  /** When the messages of a record were last taken out of its queue by force. */
  readonly #purged = new Map<string, number>();

  constructor(journal: Journal, scheduler: Scheduler, skewMs: number, inHand: InHand) {
    this.#journal = journal;
    this.#scheduler = scheduler;
    this.#skewMs = skewMs;
    this.#inHand = inHand;
  }

  attach(world: MemoryWorld): void {
    this.#world = world;
  }

  /** Somebody emptied a queue in which a message of this record was. */
  purged(record: string): void {
    this.#purged.set(record, this.#scheduler.now());
  }

  isSent(record: string): boolean {
    return this.#sent.has(record);
  }

  sent({ body, attributes }: OutgoingMessage): void {
    const about = recordOfBody(body);
    if (about !== undefined && attributes?.['reason'] === 'unreadable_message') {
      const message = `A message of ${about.record} was set apart that a newer version can read`;
      this.#journal.broken('what is newer is handed back', message, [about.record]);
    }
    const key = about?.record ?? body;
    const { generation = 0, firstEnqueuedAtMs = 0 } = about ?? {};
    const sent = this.#sent.get(key) ?? { firstEnqueuedAtMs, atMs: new Map<number, number>() };
    // Fan-out sent again what it had sent before: a second copy is on its way.
    if (about && sent.firstEnqueuedAtMs !== firstEnqueuedAtMs) this.#journal.disturbRecord(about.record);
    sent.firstEnqueuedAtMs = firstEnqueuedAtMs;
    sent.atMs.set(generation, this.#scheduler.now());
    this.#sent.set(key, sent);
  }

  /**
   * @param rowOf - Reads the row of a record as it is now.
   * @param isRowLost - True for records whose rows somebody deleted.
   */
  async acknowledged(
    { args, port }: PortCall,
    rowOf: (about: About) => Promise<RecordRow | undefined>,
    isRowLost: (record: string) => boolean,
  ): Promise<void> {
    for (const { receipt, messageId } of args[0] as Delivery[]) {
      const received = this.#inHand.done(receipt);
      if (received === undefined) continue;
      const about = recordOfBody(received.body);
      const generation = about?.generation ?? 0;
      if (this.#isSentSince(about?.record ?? received.body, generation, received.atMs)) continue;
      if (about !== undefined && port.startsWith('queues') && this.#isEndedByStop(about)) continue;
      const row = about === undefined ? undefined : await rowOf(about);
      const isOver = row && (row.state === 'succeeded' || row.state === 'cancelled' || row.generation > generation);
      // A failed record's dead letter is what it is replayed from: it goes only when the replay was sent.
      if (isOver || (row && isTerminal(row.state) && port.startsWith('queues'))) continue;
      // A copy that was left behind: the row announced a wait, and the message that goes on after it is there.
      if (row !== undefined && this.#isElsewhere(port, receipt, about?.record)) continue;
      // The same, but that message was purged since the row announced it: the reconciler is to find out, not this copy.
      if (row !== undefined && this.#wasPurgedSince(row, about?.record)) continue;
      const record = about?.record ?? 'an unreadable message';
      if (row === undefined && isRowLost(record)) continue;
      if (about === undefined && this.#isSetApart(messageId)) continue;
      const says = row === undefined ? 'there is no row' : `the row is ${row.state}`;
      this.#journal.broken(
        'written before acknowledged',
        `${record} was taken off ${port} although ${says} and no message goes on with it`,
        [record],
      );
    }
  }

  #isSentSince(key: string, generation: number, sinceMs: number): boolean {
    return [...(this.#sent.get(key)?.atMs ?? [])].some(([sent, atMs]) => sent >= generation && atMs >= sinceMs);
  }

  #isSetApart(messageId: string): boolean {
    return this.#world?.objects.keys().some((key) => key.startsWith('set-apart/') && key.includes(messageId)) === true;
  }

  /** The stop order ends what is open of its generations; once results are made of them, the ledger must have done so. */
  #isEndedByStop({ submissionId, recordNo, generation }: About): boolean {
    const submission = this.#submission(submissionId);
    if (submission === undefined || !isStopped(submission, generation)) return false;
    if (isOpen(submission.state) && submission.state !== 'finalizing') return true;
    const chunk = this.#world?.inspect.ledger(submissionId).find((each) => each.chunk === chunkOf(recordNo));
    return chunk !== undefined && outcomeAt(chunk, offsetOf(recordNo)) !== 'pending';
  }

  #submission(id: string): Submission | undefined {
    return this.#world?.inspect.submissions().find(({ submissionId }) => submissionId === id);
  }

  #isElsewhere(port: string, receipt: string, record: string | undefined): boolean {
    const queue = this.#world?.queues.live[port === 'queues.small' ? 'small' : 'bulk'];
    return (queue?.messages() ?? []).some(
      (other) => other.receipt !== receipt && recordOfBody(other.body)?.record === record,
    );
  }

  #wasPurgedSince({ waitingUntilMs, updatedAtMs }: RecordRow, record = ''): boolean {
    const purgedAtMs = this.#purged.get(record);
    return purgedAtMs !== undefined && waitingUntilMs !== undefined && updatedAtMs - this.#skewMs <= purgedAtMs;
  }
}
