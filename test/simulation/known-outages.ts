import { isKnownOutage } from '../../lambdas/domain/breaker.ts';
import type { RecordRow } from '../../lambdas/domain/model.ts';
import type { ProviderState } from '../../lambdas/domain/ports.ts';
import type { PortCall } from '../support/memory/index.ts';

/** What one environment was told about providers that are out since it last began to call them: no record may pay for that. */
export class KnownOutages {
  readonly #providers = new Set<string>();

  /** After a call of a port that got its answer. */
  heard({ port, method, args }: PortCall, answer: unknown): void {
    if (port !== 'providers') return;
    if (method === 'reserve') {
      const { provider } = args[0] as { provider: string };
      if ((answer as { granted: boolean }).granted) this.#providers.delete(provider);
    } else if (method === 'addFailures' || method === 'open') {
      const [provider, epoch] = args as [string, number | { epoch: number }];
      const seen = typeof epoch === 'number' ? epoch : epoch.epoch;
      if (isKnownOutage(answer as ProviderState, seen)) this.#providers.add(provider);
    }
  }

  /** The row that this call would write, where it charges a record for an outage. */
  chargedBy({ port, method, args }: PortCall): RecordRow | undefined {
    if (port !== 'records' || method !== 'put') return undefined;
    const row = args[0] as RecordRow;
    const isFailure = row.state === 'retrying' && row.reason !== 'internal_error' && row.waitingOn !== undefined;
    return isFailure && this.#providers.has(row.waitingOn ?? '') ? row : undefined;
  }
}
