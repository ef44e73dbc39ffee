import { drillOf } from '../drills/drills.ts';
import { recordsWithin, type BenchContext } from './context.ts';
import { atMost, decimals, exactly, reported, type BenchResult } from './result.ts';

const RECORDS = 10_000;
/** What is left of them on a machine that needs longer for as many. */
const MOST_SECONDS = 80;
const OUTAGE_MS = 30_000;
const MOST_EXTRA_PERCENT = 5;

/** One provider answers 503 for half a minute, after a quarter of the records. */
export async function outage({ limit, withRig, say, ...given }: BenchContext): Promise<BenchResult> {
  const providers = await limit();
  const records = given.records ?? recordsWithin(providers, RECORDS, MOST_SECONDS);
  say(`outage: ${records} records, company out for ${OUTAGE_MS / 1_000} s …`);
  return withRig({ limit: providers }, async (rig) => {
    const report = await drillOf('outage').run(rig, { records, forMs: OUTAGE_MS });
    return {
      name: 'outage',
      figures: [
        exactly('good records failed', report.goodFailed, 0),
        atMost('extra calls', report.extraCallsPercent, MOST_EXTRA_PERCENT, decimals(2, ' %')),
        exactly('records without exactly one outcome', report.records - report.accounted, 0),
        reported('of all calls', `${report.failedCalls} failed, ${report.throttledCalls} throttled`),
        reported('records, seconds', `${report.records}, ${report.seconds}`),
      ],
    };
  });
}
