import { isKnownOutage } from '../../lambdas/domain/providers/outage.ts';
import type { RecordRow } from '../../lambdas/domain/model.ts';
import type { ProviderState } from '../../lambdas/domain/providers/ports.ts';
import type { PortCall } from '../support/memory/index.ts';
import { nameOf } from './journal.ts';

/** Calls of one provider that are judged together: those since the last judgement, or since slots were last reserved. */
interface Round {
  records: Set<string>;
  isJudged: boolean;
}

/** What one environment was told about providers that are out, and for which records: those must not pay for it. */
export class KnownOutages {
  readonly #rounds = new Map<string, Round>();
  readonly #excused = new Set<string>();

  called(provider: string, record: string): void {
    if (record === 'canary') return;
    const last = this.#rounds.get(provider);
    const round = last === undefined || last.isJudged ? { records: new Set<string>(), isJudged: false } : last;
    round.records.add(record);
    this.#rounds.set(provider, round);
    this.#excused.delete(`${provider}/${record}`);
  }

  /** After a call of a port that got its answer. */
  heard({ port, method, args }: PortCall, answer: unknown): void {
    if (port !== 'providers' || !/^(reserve|addFailures|open)$/.test(method)) return;
    const [first, about] = args as [string | { provider: string }, number | { epoch: number } | undefined];
    const provider = typeof first === 'string' ? first : first.provider;
    const round = this.#rounds.get(provider);
    if (round === undefined) return;
    // New slots: nothing was found wrong with the calls before, or the canary is about to be called.
    round.isJudged = true;
    if (about === undefined) return;
    const epoch = typeof about === 'number' ? about : about.epoch;
    if (!isKnownOutage(answer as ProviderState, epoch)) return;
    for (const record of round.records) this.#excused.add(`${provider}/${record}`);
  }

  /** The row that this call would write, where it charges a record for an outage. */
  chargedBy({ port, method, args }: PortCall): RecordRow | undefined {
    if (port !== 'records' || method !== 'put') return undefined;
    const row = args[0] as RecordRow;
    const isFailure = row.state === 'retrying' && row.reason !== 'internal_error' && row.waitingOn !== undefined;
    const record = nameOf(row.submissionId, row.recordNo);
    return isFailure && this.#excused.has(`${row.waitingOn}/${record}`) ? row : undefined;
  }
}
