import { SUBMISSION_ID } from '../../support/factories.ts';
import { makeCsv } from '../../support/slices/fan-out-rig.ts';
import { createFinalizeRig, type FinalizeRig } from '../../support/slices/finalize-rig.ts';
import type { FinalizeSettings } from '../../../lambdas/domain/finalize/deps.ts';
import { finalizeSlice } from '../../../lambdas/domain/finalize/finalize-slice.ts';
import { parseFinalizeMessage } from '../../../lambdas/domain/queues/messages.ts';

const BUDGET = { remainingMs: () => 300_000 };

async function ready(settings: Partial<FinalizeSettings> = {}): Promise<FinalizeRig> {
  const rig = createFinalizeRig({ settings: { largePartChunks: 1, largePartsAtOnce: 1, ...settings } });
  await rig.submit(makeCsv(3));
  await rig.run();
  await rig.work();
  return rig;
}

/** Another slice of the process writes a large part until it is told to end. */
function busy({ finalizeDeps: { turns, settings } }: FinalizeRig): { end: () => Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const none = { lease: undefined as never, isOver: () => false };
  const other = turns.write(1, settings, none, async () => promise);
  return {
    end: async () => {
      resolve();
      return other;
    },
  };
}

/** The slice has claimed its submission and waits for its turn. */
async function isWaiting({ clock }: FinalizeRig): Promise<void> {
  while (clock.sleeping() === 0) await new Promise((resolve) => setImmediate(resolve));
}

const slice = async ({ world, finalizeDeps }: FinalizeRig): Promise<void> => {
  const [{ body } = { body: '' }] = await world.queues.live.finalize.receive(1, 60_000);
  await finalizeSlice(finalizeDeps, parseFinalizeMessage(body), BUDGET);
};

describe('a large part', () => {
  it('is written when the one before it has ended, under a lease that is kept', async () => {
    const rig = await ready();
    const other = busy(rig);
    const written = slice(rig);
    await isWaiting(rig);
    await rig.clock.advance(45_000);
    expect(rig.stored().state).toBe('finalizing');
    expect(rig.stored().finalize?.leaseUntilMs).toBeGreaterThan(rig.clock.now() + 30_000);

    await other.end();
    await rig.clock.advance(1_000);
    await written;
    expect(rig.stored()).toMatchObject({ submissionId: SUBMISSION_ID, state: 'complete' });
  });

  it('is left to another slice when its turn does not come in time, and the lease is free', async () => {
    const rig = await ready();
    const other = busy(rig);
    const waited = slice(rig);
    await isWaiting(rig);
    await rig.clock.advance(70_000);
    await waited;
    expect(rig.stored().state).toBe('finalizing');
    expect(rig.stored().finalize?.leaseOwner).toBeUndefined();

    await other.end();
    await rig.finalize();
    expect(rig.stored().state).toBe('complete');
  });

  it('does not hold up a small one', async () => {
    const rig = await ready({ largePartChunks: 2 });
    const other = busy(rig);
    await slice(rig);
    expect(rig.stored().state).toBe('complete');
    await other.end();
  });
});
