import { isTerminal, type RecordRow } from '../../lambdas/domain/model.ts';
import type { Environment } from './environment.ts';
import type { Journal } from './journal.ts';

/** A record whose row counts isolated receives runs alone: its worker is not processing any other record at the same time. */
export class Isolation {
  readonly #journal: Journal;
  readonly #now: () => number;
  /** Since when the row of a record says so. */
  readonly #since = new Map<string, number>();
  /** Records that the current invocation of an environment has called for and not settled, with the time of its start. */
  readonly #running = new Map<string, { invokedAtMs: number; records: Set<string> }>();

  constructor(journal: Journal, now: () => number) {
    this.#journal = journal;
    this.#now = now;
  }

  written(record: string, row: RecordRow): void {
    if (row.isolatedReceives === undefined || isTerminal(row.state)) this.#since.delete(record);
    else if (!this.#since.has(record)) this.#since.set(record, this.#now());
    for (const { records } of this.#running.values()) records.delete(record);
  }

  /** A worker sends a record back, taken or not: it has ended its work for it. What is not taken is delivered again. */
  sentBack(record: string): void {
    for (const { records } of this.#running.values()) records.delete(record);
  }

  called(record: string, { name, invokedAtMs }: Environment): void {
    if (record === 'canary') return;
    const known = this.#running.get(name);
    const running = known?.invokedAtMs === invokedAtMs ? known : { invokedAtMs, records: new Set<string>() };
    this.#running.set(name, running);
    running.records.add(record);
    for (const each of running.records) {
      const sinceMs = this.#since.get(each);
      if (sinceMs === undefined || sinceMs >= invokedAtMs || running.records.size === 1) continue;
      const others = [...running.records].filter((other) => other !== each).join(', ');
      this.#journal.broken('isolated records run alone', `${name} ran ${each} together with ${others}`, [each]);
    }
  }
}
