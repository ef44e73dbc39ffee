import { usableRate } from '../../lambdas/domain/providers/config.ts';
import { account, beginCount } from '../drills/account.ts';
import { submitGenerated, untilClosed } from '../drills/rig.ts';
import { seenCalls, type SeenCalls } from './calls.ts';
import { recordsWithin, type BenchContext, type ProviderLimit } from './context.ts';
import { atLeast, atMost, decimals, exactly, reported, type BenchResult } from './result.ts';

const RECORDS = 40_000;
/** A machine that cannot feed the limit for 40,000 records in this time drains fewer. */
const MOST_SECONDS = 240;
const PATIENCE_MS = 900_000;
const LEAST_UTILISATION = 0.98;
const MOST_PEAK = 1.01;
/** The strict provider's drain is as long as it takes to see what it does. */
const STRICT_SECONDS = 20;

/** A large file at a limit that the machine can feed, and a short one at a provider that tolerates no burst. */
export async function drain(context: BenchContext): Promise<BenchResult> {
  const limit = await context.limit();
  const records = context.records ?? recordsWithin(limit, RECORDS, MOST_SECONDS);
  const tolerant = await drainAt(context, limit, records);
  const strict = { ratePerSecond: limit.ratePerSecond, burst: 1 };
  const strictRecords = Math.min(records, Math.ceil(usableRate(strict) * STRICT_SECONDS));
  const atStrict = await drainAt(context, strict, strictRecords);
  const share = (of: (seen: SeenCalls) => number, seen: readonly SeenCalls[]) =>
    seen.map((each) => of(each) / limit.ratePerSecond);
  const percent = decimals(3);
  return {
    name: 'drain',
    figures: [
      reported('limit', `${limit.ratePerSecond} calls/s, burst ${limit.burst}; ${records} records`),
      atLeast('rate ÷ limit', Math.min(...share((seen) => seen.steadyPerSecond, tolerant.seen)), LEAST_UTILISATION),
      reported('from first call to last', percent(Math.min(...share((seen) => seen.perSecond, tolerant.seen)))),
      exactly('429s', sum(tolerant.seen, 'throttled'), 0),
      atMost('busiest second ÷ limit', Math.max(...share((seen) => seen.peakPerSecond, tolerant.seen)), MOST_PEAK),
      exactly('records without an outcome', tolerant.lost + atStrict.lost, 0),
      exactly('429s at burst 1', sum(atStrict.seen, 'throttled'), 0),
      reported('rate ÷ limit at burst 1', percent(Math.min(...share((seen) => seen.steadyPerSecond, atStrict.seen)))),
    ],
  };
}

async function drainAt(
  { withRig, say }: BenchContext,
  limit: ProviderLimit,
  records: number,
): Promise<{ seen: SeenCalls[]; lost: number }> {
  say(`drain: ${records} records at ${limit.ratePerSecond} calls per second, burst ${limit.burst} …`);
  return withRig({ limit }, async (rig) => {
    await beginCount(rig);
    const { id } = await submitGenerated(rig, records);
    const view = await untilClosed(rig, id, PATIENCE_MS);
    const { accounted, goodFailed } = await account(rig, view);
    return { seen: await seenCalls(rig), lost: records - accounted + goodFailed };
  });
}

const sum = (seen: readonly SeenCalls[], what: 'throttled' | 'calls'): number =>
  seen.reduce((all, each) => all + each[what], 0);
