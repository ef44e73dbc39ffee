import { beginCount } from '../drills/account.ts';
import { submitGenerated, untilClosed } from '../drills/rig.ts';
import { seenCalls } from './calls.ts';
import { limitOf, type BenchContext, type ProviderLimit } from './context.ts';

const RECORDS = 3_000;
const PATIENCE_MS = 300_000;
/** Far above what this machine does, with a burst that never ends: nothing but the machine limits the calls. */
const UNLIMITED: ProviderLimit = { ratePerSecond: 10_000, burst: 100_000 };
/** At this part of what the machine does it is not the machine that is measured. */
const FEEDABLE_SHARE = 0.5;
const STEP = 10;

/** Measures how many records per second this machine enriches with nothing to limit it, and derives a limit that it can feed. */
export async function calibrate(context: Pick<BenchContext, 'withRig' | 'say'>): Promise<ProviderLimit> {
  context.say(`Measuring what this machine can feed: ${RECORDS} records, no limit …`);
  const capacity = await context.withRig({ limit: UNLIMITED }, async (rig) => {
    await beginCount(rig);
    const { id } = await submitGenerated(rig, RECORDS);
    await untilClosed(rig, id, PATIENCE_MS);
    return Math.min(...(await seenCalls(rig)).map(({ steadyPerSecond }) => steadyPerSecond));
  });
  const limit = limitOf(Math.max(STEP, Math.floor((capacity * FEEDABLE_SHARE) / STEP) * STEP));
  context.say(
    `  ${Math.round(capacity)} records per second without a limit; the providers' limit is ${limit.ratePerSecond} calls per second each.`,
  );
  return limit;
}
