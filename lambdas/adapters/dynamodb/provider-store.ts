import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ProviderState, ProviderStore } from '../../domain/providers/ports.ts';
import type { Clock } from '../../domain/time.ts';
import { DynamoTable } from './dynamo.ts';
import { expr, type Expression } from './expression.ts';
import { providerBreaker } from './provider-breaker.ts';
import { ProviderTable } from './provider-table.ts';

/** Looks that one reservation takes at the item before it gives up for now. */
const MAX_ROUNDS = 6;

/** Microseconds: what a double holds exactly enough at today's epoch, and far below DynamoDB's 38 digits. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Holds while nobody has set the time since it was read; 0 stands for none. */
function sameTime(attribute: 'paceAtMs' | 'throttledAtMs', atMs: number): Expression {
  const name = attribute === 'paceAtMs' ? expr`#paceAtMs` : expr`#throttledAtMs`;
  return atMs === 0 ? expr`attribute_not_exists(${name})` : expr`${name} = ${atMs}`;
}

/** Pacer and breaker of the providers table, see {@link ProviderStore}. */
export function createProviderStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): ProviderStore {
  const table = new ProviderTable(new DynamoTable(client, tableName, clock));
  return {
    async get(provider) {
      return table.state(provider);
    },

    /**
     * Two forms of one update, because a condition can be met in two ways: the next slot is ahead (take the ones behind
     * it), or it is past (begin now). Which one fits is known only from the refusal of the other.
     * A reply that is lost costs its slots: they pass unused, and the limit holds.
     */
    async reserve({ provider, slots, intervalMs, nowMs, maxWaitMs, paceAtMs = 0 }) {
      const spanMs = rounded(slots * intervalMs);
      const open = expr`(attribute_not_exists(#blockedUntilMs) OR #blockedUntilMs <= ${nowMs})
        AND (attribute_not_exists(#breaker) OR #breaker = ${'closed'}) AND ${sameTime('paceAtMs', paceAtMs)}`;
      const ahead = {
        change: expr`ADD #nextAtMs ${spanMs}`,
        when: expr`${open} AND #nextAtMs > ${nowMs} AND #nextAtMs <= ${nowMs + maxWaitMs}`,
      };
      const past = {
        change: expr`SET #nextAtMs = ${rounded(nowMs + spanMs)}`,
        when: expr`${open} AND (attribute_not_exists(#nextAtMs) OR #nextAtMs <= ${nowMs})`,
      };
      let form = ahead;
      let state: ProviderState;
      let round = 0;
      do {
        const reserved = await table.change(provider, form.change, form.when);
        state = reserved.state;
        if (reserved.applied) return { granted: true, firstSlotMs: rounded(state.nextAtMs - spanMs), state };
        if (state.breaker === 'open' || state.blockedUntilMs > nowMs || state.nextAtMs > nowMs + maxWaitMs) break;
        if (state.paceAtMs !== paceAtMs) break;
        form = state.nextAtMs > nowMs ? ahead : past;
      } while (++round < MAX_ROUNDS);
      return { granted: false, state };
    },

    async block(provider, untilMs) {
      const { state } = await table.change(
        provider,
        expr`SET #blockedUntilMs = ${untilMs}, #blockedReason = ${'provider_throttled'}`,
        expr`attribute_not_exists(#blockedUntilMs) OR #blockedUntilMs < ${untilMs}`,
      );
      return state;
    },

    async throttle(provider, { seenAtMs, nowMs, throttles, blockedUntilMs, pace }) {
      const parts = [expr`SET #throttledAtMs = ${nowMs}, #throttles = ${throttles}`];
      if (blockedUntilMs !== undefined)
        parts.push(expr`, #blockedUntilMs = ${blockedUntilMs}, #blockedReason = ${'provider_throttled'}`);
      if (pace !== undefined)
        parts.push(expr`, #paceAtMs = ${nowMs}, #paceShare = ${pace.share}, #paceLimitShare = ${pace.limitShare}`);
      const change = parts.reduce((all, part) => expr`${all}${part}`);
      const { state } = await table.change(provider, change, sameTime('throttledAtMs', seenAtMs));
      return state;
    },

    ...providerBreaker(table),
  };
}
