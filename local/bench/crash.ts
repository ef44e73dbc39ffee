import { PACE_SHARE } from '../../lambdas/domain/providers/config.ts';
import { account, beginCount } from '../drills/account.ts';
import { submitGenerated, untilClosed, untilFinished, type Rig } from '../drills/rig.ts';
import { recordsWithin, type BenchContext, type ProviderLimit } from './context.ts';
import { atMost, decimals, exactly, reported, type BenchResult } from './result.ts';

const RECORDS = 10_000;
/** What is left of them on a machine that needs longer for as many. */
const MOST_SECONDS = 80;
const PATIENCE_MS = 600_000;

/** Every worker is killed once, in the middle of what it does. Nothing is shortened: what they held comes back when the template says. */
export async function crash({ limit, withRig, say, ...given }: BenchContext): Promise<BenchResult> {
  const providers = await limit();
  const records = given.records ?? recordsWithin(providers, RECORDS, MOST_SECONDS);
  say(`crash: ${records} records, every worker killed once …`);
  const setup = { limit: providers, variables: { LOST_AFTER_SECONDS: '3600' } };
  return withRig(setup, async (rig) => {
    await beginCount(rig);
    const { id } = await submitGenerated(rig, records);
    const done = await untilFinished(rig, id, records / 3, PATIENCE_MS);
    const killedAt = performance.now();
    const { killed, busy } = rig.sluice.killWorkers();
    const view = await untilClosed(rig, id, PATIENCE_MS);
    const tookMs = performance.now() - killedAt;
    const told = await account(rig, view);
    const { batchSize, visibilityMs } = laneOf(rig);
    const callsPerRecord = Object.keys(rig.sluice.providers.baseUrls).length;
    return {
      name: 'crash',
      figures: [
        reported('killed', `${killed} workers, ${busy} of them in a batch, of ${records} records`),
        exactly('records without exactly one outcome', records - told.accounted, 0),
        exactly('good records failed', told.goodFailed, 0),
        atMost('repeated calls', told.extraCalls, busy * batchSize * callsPerRecord, decimals(0)),
        atMost(
          'end behind the undisturbed one',
          (tookMs - undisturbedMs(records - done, providers)) / 1_000,
          visibilityMs / 1_000,
          decimals(1, ' s'),
        ),
      ],
    };
  });
}

/** What is left takes at least this long at the full pace, without an end's finalization. */
const undisturbedMs = (records: number, { ratePerSecond }: ProviderLimit): number =>
  (records * 1_000) / (ratePerSecond * PACE_SHARE);

function laneOf({ sluice }: Rig): { batchSize: number; visibilityMs: number } {
  const worker = sluice.functionOf('worker', 'bulk');
  const { mapping } = sluice.events.sourceOf(worker.name);
  const queue = sluice.cloud.find(mapping.queueArn);
  return { batchSize: mapping.batchSize, visibilityMs: Number(queue?.properties['VisibilityTimeout']) * 1_000 };
}
