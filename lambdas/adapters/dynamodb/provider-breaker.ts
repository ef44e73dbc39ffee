import type { ProviderStore } from '../../domain/providers/ports.ts';
import { expr, type Expression } from './expression.ts';
import type { ProviderTable } from './provider-table.ts';

type Breaker = Pick<ProviderStore, 'addFailures' | 'clearFailures' | 'open' | 'claimProbe' | 'close'>;

/** Closed in `epoch`; a provider without an item is closed in epoch 0. */
const closedIn = (epoch: number): Expression => {
  const closed = expr`(attribute_not_exists(#breaker) OR #breaker = ${'closed'})`;
  return epoch === 0
    ? expr`${closed} AND (attribute_not_exists(#epoch) OR #epoch = ${0})`
    : expr`${closed} AND #epoch = ${epoch}`;
};

const openIn = (epoch: number): Expression => expr`#breaker = ${'open'} AND #epoch = ${epoch}`;

/** The breaker's part of a provider's item. */
export function providerBreaker(table: ProviderTable): Breaker {
  return {
    /** Counts a batch twice when the reply is lost: the breaker then opens a little earlier in what is an outage anyway. */
    async addFailures(provider, epoch, failures) {
      const { state } = await table.change(provider, expr`ADD #failures ${failures}`, closedIn(epoch));
      return state;
    },

    async clearFailures(provider, epoch) {
      const when = expr`${closedIn(epoch)} AND (#failures > ${0} OR #throttles > ${0})`;
      const { state } = await table.change(provider, expr`SET #failures = ${0}, #throttles = ${0}`, when);
      return state;
    },

    async open(provider, { epoch, openUntilMs, probeOwner, reason }) {
      const change = expr`SET #breaker = ${'open'}, #epoch = ${epoch + 1}, #openUntilMs = ${openUntilMs}, #failures = ${0}`;
      const because = reason === undefined ? change : expr`${change}, #openReason = ${reason}`;
      const forgotten = reason === undefined ? expr`, #openReason` : expr``;
      const { state } = await table.change(
        provider,
        expr`${because} REMOVE #probeOwner, #probeLeaseUntilMs${forgotten} ADD #openings ${1}`,
        probeOwner === undefined ? closedIn(epoch) : expr`${openIn(epoch)} AND #probeOwner = ${probeOwner}`,
      );
      return state;
    },

    async claimProbe(provider, { epoch, owner, nowMs, leaseMs }) {
      const { applied, state } = await table.change(
        provider,
        expr`SET #probeOwner = ${owner}, #probeLeaseUntilMs = ${nowMs + leaseMs}`,
        expr`${openIn(epoch)} AND #openUntilMs <= ${nowMs}
          AND (attribute_not_exists(#probeOwner) OR #probeOwner = ${owner} OR #probeLeaseUntilMs <= ${nowMs})`,
      );
      return { claimed: applied, state };
    },

    async close(provider, { epoch, probeOwner, nowMs, canaryDistrustedUntilMs: distrustedMs }) {
      const distrusted = distrustedMs === undefined ? expr`` : expr`, #canaryDistrustedUntilMs = ${distrustedMs}`;
      const { state } = await table.change(
        provider,
        // closedAtMs is for whoever looks at the table.
        expr`SET #breaker = ${'closed'}, #closedAtMs = ${nowMs}, #openUntilMs = ${0}, #failures = ${0}, #openings = ${0}${distrusted}
          REMOVE #probeOwner, #probeLeaseUntilMs, #openReason`,
        expr`${openIn(epoch)} AND #probeOwner = ${probeOwner}`,
      );
      return state;
    },
  };
}
