import { describe, expect, it } from '@jest/globals';
import { START_MS } from '../../support/memory/index.ts';
import { createReconcileRig, MINUTE_MS, type ReconcileRig } from '../../support/reconcile-rig.ts';

const stalled = (rig: ReconcileRig): (number | undefined)[] =>
  rig.world.telemetry.events.filter(({ outcome }) => outcome === 'stalled_results').map(({ count }) => count);

describe('results that do not get on', () => {
  it('are counted from ten minutes after the last part, whatever leases are taken', async () => {
    const rig = createReconcileRig();
    await rig.seed(1, {
      state: 'finalizing',
      finalize: { nextPart: 1, partAtMs: START_MS },
      closedChunks: new Set([0]),
    });
    for (let minute = 0; minute < 12; minute++) {
      await rig.minutes(1);
      const claim = { submissionId: rig.stored().submissionId, owner: `f${minute}`, nowMs: rig.clock.now() };
      await rig.world.submissions.claimFinalize({ ...claim, leaseMs: MINUTE_MS / 2 });
      await rig.world.submissions.checkpointFinalize(claim.submissionId, claim.owner, { nextPart: 1 }, 'release');
    }
    expect(stalled(rig)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
    expect(rig.stored().state).toBe('finalizing');
  });
});
