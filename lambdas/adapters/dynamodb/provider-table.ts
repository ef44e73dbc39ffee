import * as v from 'valibot';
import type { ProviderState } from '../../domain/providers/ports.ts';
import { parseItem, type DynamoTable, type Item, type Key } from './dynamo.ts';
import type { Expression } from './expression.ts';

const time = v.optional(v.number(), 0);
const stateSchema = v.object({
  nextAtMs: time,
  blockedUntilMs: time,
  blockedReason: v.exactOptional(v.picklist(['provider_throttled', 'provider_auth'])),
  throttles: v.optional(v.number(), 0),
  throttledAtMs: time,
  paceAtMs: time,
  paceShare: v.exactOptional(v.number()),
  paceLimitShare: v.exactOptional(v.number()),
  breaker: v.optional(v.picklist(['closed', 'open']), 'closed'),
  epoch: v.optional(v.number(), 0),
  openReason: v.exactOptional(v.literal('provider_auth')),
  openUntilMs: time,
  failures: v.optional(v.number(), 0),
  openings: v.optional(v.number(), 0),
  probeOwner: v.exactOptional(v.string()),
  probeLeaseUntilMs: v.exactOptional(v.number()),
  canaryDistrustedUntilMs: v.exactOptional(v.number()),
});

const providerKey = (provider: string): Key => ({ provider });

/** The items of the providers table, one per provider. Nothing expires here. */
export class ProviderTable {
  readonly #table: DynamoTable;

  constructor(table: DynamoTable) {
    this.#table = table;
  }

  async state(provider: string): Promise<ProviderState> {
    return this.#parse(provider, await this.#table.get(providerKey(provider)));
  }

  /** Changes the item when `when` holds; the state after it, or as it stands. */
  async change(
    provider: string,
    change: Expression,
    when: Expression,
  ): Promise<{ applied: boolean; state: ProviderState }> {
    const written = await this.#table.update(providerKey(provider), change, when);
    const item = written.applied ? written.item : await written.standing();
    return { applied: written.applied, state: this.#parse(provider, item) };
  }

  #parse(provider: string, item: Item | undefined): ProviderState {
    return parseItem(stateSchema, item ?? {}, `state of provider ${provider}`);
  }
}
