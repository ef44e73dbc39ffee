import { describe, expect, test } from '@jest/globals';
import { START_MS } from '../support/memory/index.ts';
import type { Make, StoreWorld } from './world.ts';

const INTERVAL_MS = 1000 / (50 * 0.985);
const request = { provider: 'geo', slots: 10, intervalMs: INTERVAL_MS, nowMs: START_MS, maxWaitMs: 1000 };

/** Pacer and breaker of one provider. */
export function describeProviderStore(make: Make<StoreWorld>): void {
  test('a provider that was never called is closed, free and idle', async () => {
    const { providers } = await make();

    expect(await providers.get('geo')).toEqual({
      nextAtMs: 0,
      blockedUntilMs: 0,
      throttles: 0,
      throttledAtMs: 0,
      paceAtMs: 0,
      breaker: 'closed',
      epoch: 0,
      openUntilMs: 0,
      failures: 0,
      openings: 0,
    });
  });

  describe('reserving', () => {
    test('the first slot is now, the next reservation begins where the last ends', async () => {
      const { providers } = await make();

      const first = await providers.reserve(request);
      const second = await providers.reserve(request);

      expect(first).toMatchObject({ granted: true, firstSlotMs: START_MS });
      expect(second.granted && second.firstSlotMs).toBeCloseTo(START_MS + 10 * INTERVAL_MS, 2);
      expect(second.state.nextAtMs).toBeCloseTo(START_MS + 20 * INTERVAL_MS, 2);
    });

    test('time that has passed unused is not saved up', async () => {
      const { providers } = await make();
      await providers.reserve(request);

      const later = await providers.reserve({ ...request, nowMs: START_MS + 60_000 });

      expect(later).toMatchObject({ granted: true, firstSlotMs: START_MS + 60_000 });
    });

    test('what lies too far ahead is not granted and not reserved', async () => {
      const { providers } = await make();
      await providers.reserve({ ...request, slots: 100 });

      const refused = await providers.reserve(request);

      expect(refused.granted).toBe(false);
      expect(refused.state.nextAtMs).toBeCloseTo(START_MS + 100 * INTERVAL_MS, 2);
      expect(await providers.get('geo')).toEqual(refused.state);
    });

    test('of many at the same moment no two get the same slot and none gets one beyond the wait', async () => {
      const { providers } = await make();
      const workers = Array.from({ length: 10 }, (_, worker) => ({ ...request, nowMs: START_MS + worker }));

      const outcomes = await Promise.all(workers.map(async (worker) => providers.reserve(worker)));

      const slots = outcomes.flatMap((outcome) => (outcome.granted ? [outcome.firstSlotMs] : []));
      const ordered = slots.toSorted((a, b) => a - b);
      for (const [index, slot] of ordered.entries()) {
        if (index > 0) expect(slot - (ordered[index - 1] ?? 0)).toBeGreaterThanOrEqual(10 * INTERVAL_MS - 0.01);
        expect(slot).toBeLessThanOrEqual(START_MS + 9 + request.maxWaitMs);
      }
      expect(slots.length).toBeGreaterThanOrEqual(5);
    });

    test('a hundred fractional reservations add up without drifting', async () => {
      const { providers } = await make();
      const small = { ...request, slots: 1, maxWaitMs: 1_000_000 };

      for (let index = 0; index < 100; index++) await providers.reserve(small);

      const { nextAtMs } = await providers.get('geo');
      expect(Math.abs(nextAtMs - START_MS - 100 * INTERVAL_MS)).toBeLessThan(0.1);
    });

    test('a blocked provider grants nothing until the block ends', async () => {
      const { providers } = await make();
      await providers.block('geo', START_MS + 500);

      expect(await providers.reserve(request)).toMatchObject({
        granted: false,
        state: { blockedUntilMs: START_MS + 500, blockedReason: 'provider_throttled', nextAtMs: 0 },
      });
      expect((await providers.reserve({ ...request, nowMs: START_MS + 500 })).granted).toBe(true);
    });

    test('providers do not share a pace', async () => {
      const { providers } = await make();
      await providers.reserve(request);

      expect(await providers.reserve({ ...request, provider: 'company' })).toMatchObject({ firstSlotMs: START_MS });
    });
  });

  test('a block is raised and never lowered', async () => {
    const { providers } = await make();
    await providers.block('geo', START_MS + 500);

    const lower = await providers.block('geo', START_MS + 100);
    const higher = await providers.block('geo', START_MS + 900);

    expect(lower).toMatchObject({ blockedUntilMs: START_MS + 500, blockedReason: 'provider_throttled' });
    expect(higher).toMatchObject({ blockedUntilMs: START_MS + 900 });
  });

  describe('a refusal for the rate', () => {
    const report = { seenAtMs: 0, nowMs: START_MS, throttles: 1, blockedUntilMs: START_MS + 500 };

    test('is reported once by all who met it at the same time', async () => {
      const { providers } = await make();

      const [first, second] = await Promise.all([
        providers.throttle('geo', report),
        providers.throttle('geo', { ...report, nowMs: START_MS + 1, blockedUntilMs: START_MS + 900 }),
      ]);

      const state = await providers.get('geo');
      expect([first, second].filter((each) => each.throttledAtMs === state.throttledAtMs)).toHaveLength(2);
      expect(state).toMatchObject({ throttles: 1, blockedReason: 'provider_throttled' });
      expect(state).not.toHaveProperty('paceShare');
    });

    test('without a block leaves the block and, without a pace, the pace as they are', async () => {
      const { providers } = await make();
      await providers.throttle('geo', { ...report, pace: { share: 0.5, limitShare: 1 } });

      const later = { seenAtMs: START_MS, nowMs: START_MS + 10, throttles: 0 };

      expect(await providers.throttle('geo', later)).toMatchObject({
        throttles: 0,
        throttledAtMs: START_MS + 10,
        blockedUntilMs: START_MS + 500,
        paceAtMs: START_MS,
        paceShare: 0.5,
        paceLimitShare: 1,
      });
    });

    test('that lowers the pace refuses reservations that were computed from another one', async () => {
      const { providers } = await make();
      const pace = { share: 0.5, limitShare: 1 };
      await providers.throttle('geo', { seenAtMs: 0, nowMs: START_MS, throttles: 0, pace });

      expect(await providers.reserve(request)).toMatchObject({ granted: false, state: { paceAtMs: START_MS } });
      expect(await providers.reserve({ ...request, paceAtMs: START_MS - 1 })).toMatchObject({ granted: false });
      expect(await providers.reserve({ ...request, paceAtMs: START_MS })).toMatchObject({ granted: true });
    });

    test('is forgotten with the next answer', async () => {
      const { providers } = await make();
      await providers.throttle('geo', report);

      expect(await providers.clearFailures('geo', 0)).toMatchObject({ throttles: 0, throttledAtMs: START_MS });
    });
  });

  describe('the breaker', () => {
    const opened = async (): Promise<StoreWorld> => {
      const world = await make();
      await world.providers.addFailures('geo', 0, 4);
      await world.providers.open('geo', { epoch: 0, openUntilMs: START_MS + 1000 });
      return world;
    };
    const probe = (owner: string, nowMs = START_MS + 1000) => ({ epoch: 1, owner, nowMs, leaseMs: 500 });

    test('failures add up in their epoch, and a success clears them', async () => {
      const { providers } = await make();
      await Promise.all([2, 3, 4].map(async (failures) => providers.addFailures('geo', 0, failures)));

      expect((await providers.get('geo')).failures).toBe(9);
      expect((await providers.addFailures('geo', 1, 50)).failures).toBe(9);
      expect((await providers.clearFailures('geo', 1)).failures).toBe(9);
      expect((await providers.clearFailures('geo', 0)).failures).toBe(0);
    });

    test('says why it is open, as long as it is', async () => {
      const { providers } = await make();

      await providers.open('geo', { epoch: 0, openUntilMs: START_MS, reason: 'provider_auth' });
      expect(await providers.get('geo')).toMatchObject({ breaker: 'open', openReason: 'provider_auth' });
      await providers.claimProbe('geo', { ...probe('a'), epoch: 1 });
      await providers.open('geo', { epoch: 1, openUntilMs: START_MS, probeOwner: 'a' });
      expect(await providers.get('geo')).not.toHaveProperty('openReason');
      await providers.claimProbe('geo', { ...probe('a'), epoch: 2 });
      await providers.open('geo', { epoch: 2, openUntilMs: START_MS, probeOwner: 'a', reason: 'provider_auth' });
      await providers.claimProbe('geo', { ...probe('a'), epoch: 3 });
      expect(await providers.close('geo', { epoch: 3, probeOwner: 'a', nowMs: START_MS })).not.toHaveProperty(
        'openReason',
      );
    });

    test('opens once per epoch, however many ask for it', async () => {
      const { providers } = await make();

      await Promise.all(
        Array.from({ length: 8 }, async (_, index) =>
          providers.open('geo', { epoch: 0, openUntilMs: START_MS + 1000 + index }),
        ),
      );

      expect(await providers.get('geo')).toMatchObject({ breaker: 'open', epoch: 1, openings: 1 });
    });

    test('grants nothing while open, and late news from before it opened change nothing', async () => {
      const { providers } = await opened();

      expect((await providers.reserve({ ...request, nowMs: START_MS + 5000 })).granted).toBe(false);
      await providers.addFailures('geo', 0, 7);
      await providers.clearFailures('geo', 0);
      expect(await providers.get('geo')).toMatchObject({ breaker: 'open', epoch: 1, failures: 0 });
    });

    test('one caller gets the probe, when it is time', async () => {
      const { providers } = await opened();
      expect((await providers.claimProbe('geo', probe('early', START_MS + 999))).claimed).toBe(false);
      const owners = Array.from({ length: 8 }, (_, index) => `owner-${index}`);

      const outcomes = await Promise.all(owners.map(async (owner) => providers.claimProbe('geo', probe(owner))));

      expect(outcomes.filter(({ claimed }) => claimed)).toHaveLength(1);
      const winner = outcomes[0]?.state.probeOwner ?? '';
      expect((await providers.claimProbe('geo', probe(winner))).claimed).toBe(true);
      expect((await providers.claimProbe('geo', probe('heir', START_MS + 1500))).claimed).toBe(true);
      expect((await providers.claimProbe('geo', { ...probe('x', START_MS + 9000), epoch: 0 })).claimed).toBe(false);
    });

    test('keeps until when the canary is not trusted, also when it opens and closes again', async () => {
      const { providers } = await opened();
      const closeAs = async (epoch: number, trust: object) => {
        await providers.claimProbe('geo', { ...probe('a', START_MS + 9_000), epoch });
        return providers.close('geo', { epoch, probeOwner: 'a', nowMs: START_MS + 9_100, ...trust });
      };
      expect(await closeAs(1, { canaryDistrustedUntilMs: START_MS + 50_000 })).toMatchObject({
        breaker: 'closed',
        canaryDistrustedUntilMs: START_MS + 50_000,
      });
      await providers.open('geo', { epoch: 1, openUntilMs: START_MS + 9_000 });
      expect(await closeAs(2, {})).toMatchObject({
        breaker: 'closed',
        canaryDistrustedUntilMs: START_MS + 50_000,
      });
    });

    test('closes for the owner of the probe only, and starts from nothing', async () => {
      const { providers } = await opened();
      await providers.claimProbe('geo', probe('a'));

      expect((await providers.close('geo', { epoch: 1, probeOwner: 'b', nowMs: START_MS + 1100 })).breaker).toBe(
        'open',
      );
      expect((await providers.close('geo', { epoch: 0, probeOwner: 'a', nowMs: START_MS + 1100 })).breaker).toBe(
        'open',
      );
      const closed = await providers.close('geo', { epoch: 1, probeOwner: 'a', nowMs: START_MS + 1100 });

      expect(closed).toMatchObject({ breaker: 'closed', epoch: 1, openings: 0, failures: 0 });
      expect(closed.probeOwner).toBeUndefined();
      expect((await providers.reserve({ ...request, nowMs: START_MS + 1200 })).granted).toBe(true);
    });

    test('a failed probe opens it for longer in a new epoch', async () => {
      const { providers } = await opened();
      await providers.claimProbe('geo', probe('a'));
      const again = { epoch: 1, openUntilMs: START_MS + 5000 };

      expect((await providers.open('geo', { ...again, probeOwner: 'b' })).epoch).toBe(1);
      const reopened = await providers.open('geo', { ...again, probeOwner: 'a' });

      expect(reopened).toMatchObject({ breaker: 'open', epoch: 2, openings: 2, openUntilMs: START_MS + 5000 });
      expect(reopened.probeOwner).toBeUndefined();
    });
  });
}
