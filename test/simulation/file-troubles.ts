import { DependencyMisconfiguredError, ObjectMissingError } from '../../lambdas/domain/errors.ts';
import type { SourceObject } from '../../lambdas/domain/model.ts';
import type { Scheduler } from './scheduler.ts';

/** Files that may not be read, or are not there, for a time. */
export class FileTroubles {
  readonly #scheduler: Pick<Scheduler, 'now'>;
  #deniedUntilMs = 0;
  #losesNextForMs: number | undefined;
  readonly #lostUntilMs = new Map<string, number>();

  constructor(scheduler: Pick<Scheduler, 'now'>) {
    this.#scheduler = scheduler;
  }

  deny(forMs: number): void {
    this.#deniedUntilMs = this.#scheduler.now() + forMs;
  }

  loseNext(forMs: number): void {
    this.#losesNextForMs = forMs;
  }

  /** The results of a submission are due. */
  finalizing({ key }: SourceObject): void {
    if (this.#losesNextForMs === undefined) return;
    this.#lostUntilMs.set(key, this.#scheduler.now() + this.#losesNextForMs);
    this.#losesNextForMs = undefined;
  }

  /** Throws as the object store does. */
  check({ key }: Pick<SourceObject, 'key'>): void {
    const nowMs = this.#scheduler.now();
    if (nowMs < this.#deniedUntilMs) {
      throw new DependencyMisconfiguredError('AccessDenied (HTTP 403).', { action: 's3:GetObject', resource: key });
    }
    if (nowMs < (this.#lostUntilMs.get(key) ?? 0)) throw new ObjectMissingError(`There is no object ${key}.`);
  }
}
