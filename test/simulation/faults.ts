import { DependencyUnavailableError } from '../../lambdas/domain/errors.ts';
import { LONGEST_WRITE_MS } from '../../lambdas/domain/limits.ts';
import type { SendFailure } from '../../lambdas/domain/queues/ports.ts';
import type { PortCall } from '../support/memory/index.ts';
import type { BrownOut, Plan } from './plan.ts';
import { stream, type Dice } from './random.ts';

/** What becomes of one call of AWS. Decided before it is made. */
export interface Fate {
  latencyBeforeMs: number;
  latencyAfterMs: number;
  dies: 'never' | 'before' | 'after';
  answer: 'given' | 'refused' | 'lost';
}

/** Decides about calls of AWS. Every answer that is not given is what the adapters make of it: an error, or failed entries. */
export class Faults {
  readonly #plan: Plan;
  readonly #startMs: number;
  readonly #dice: Dice;
  readonly #crashes: Dice;
  readonly #brownOuts: BrownOut[];
  /** Faults stop here, so that what is left can be finished. */
  readonly endMs: number;

  constructor(plan: Plan, startMs: number, faultyMs: number) {
    this.#plan = plan;
    this.#startMs = startMs;
    this.endMs = startMs + faultyMs;
    this.#dice = stream(plan.seed, 'faults');
    this.#crashes = stream(plan.seed, 'crashes');
    this.#brownOuts = [...plan.brownOuts];
  }

  isThrottled(nowMs: number): boolean {
    const sinceMs = nowMs - this.#startMs;
    return this.#plan.throttles.some(
      ({ fromMs, toMs, share }) => sinceMs >= fromMs && sinceMs < toMs && this.#dice.chance(share),
    );
  }

  /** From now on a table answers slowly for a while. */
  slowDown(table: BrownOut['table'], nowMs: number, forMs: number): void {
    const fromMs = nowMs - this.#startMs;
    this.#brownOuts.push({ table, fromMs, toMs: fromMs + forMs });
  }

  /** Whether the table behind a port answers slowly. */
  #isSlow(port: string, nowMs: number): boolean {
    const sinceMs = nowMs - this.#startMs;
    const table = port === 'ledger' ? 'submissions' : port;
    return this.#brownOuts.some((spell) => spell.table === table && sinceMs >= spell.fromMs && sinceMs < spell.toMs);
  }

  fateOf({ port, method }: Pick<PortCall, 'port' | 'method'>, nowMs: number): Fate {
    const { failureShare, lostReplyShare, slowReplyMs } = this.#plan;
    const isSlow = this.#dice.chance(0.02);
    const isBrownOut = this.#isSlow(port, nowMs);
    const latencyMs = isBrownOut
      ? this.#dice.between(1_000, LONGEST_WRITE_MS)
      : port === 'providers'
        ? this.#dice.between(1, slowReplyMs)
        : this.#dice.between(1, isSlow ? 2_000 : 30);
    const share = this.#dice.next();
    const isOver = nowMs > this.endMs;
    const isWrite = !/^(get|head|list|read|chunkRows|openWork|backlog|depth)/.test(method);
    let answer: Fate['answer'] = 'given';
    const isUnanswered = isBrownOut && this.#dice.chance(0.2);
    if (!isOver && (this.isThrottled(nowMs) || isUnanswered || share < failureShare)) answer = 'refused';
    else if (!isOver && isWrite && share > 1 - lostReplyShare) answer = 'lost';
    return {
      latencyBeforeMs: latencyMs * share,
      latencyAfterMs: latencyMs * (1 - share),
      dies: this.death(nowMs),
      answer,
    };
  }

  death(nowMs: number): Fate['dies'] {
    const dies = this.#crashes.chance(this.#plan.crashShare) && nowMs <= this.endMs;
    const when = this.#crashes.chance(0.5) ? 'before' : 'after';
    return dies ? when : 'never';
  }

  /** Indexes of the entries of a batch that are not taken. */
  untaken(count: number, nowMs: number): Set<number> {
    const untaken = new Set<number>();
    if (nowMs > this.endMs || !this.#dice.chance(this.#plan.partialShare)) return untaken;
    for (let index = 0; index < count; index++) if (this.#dice.chance(0.3)) untaken.add(index);
    return untaken;
  }

  /** Milliseconds that a message is late, mostly 0. */
  lateMs(nowMs: number): number {
    return nowMs <= this.endMs && this.#dice.chance(this.#plan.delayShare) ? this.#dice.between(0, 600_000) : 0;
  }
}

export const unavailable = ({ port, method }: PortCall): DependencyUnavailableError =>
  new DependencyUnavailableError(`${port}.${method} got no answer.`);

export const notTaken = (indexes: Iterable<number>): SendFailure[] =>
  [...indexes].map((index) => ({ index, senderFault: false, code: 'ServiceUnavailable' }));
