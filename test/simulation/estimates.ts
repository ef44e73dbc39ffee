import { OVERHEAD_MS } from '../../lambdas/domain/api/estimate.ts';
import { EstimatedDrain, type EstimatesOptions, type Sample } from './estimated-drain.ts';

/** One file alone, at the rate and with the workers of the full drain. */
export const FULL_ESTIMATES: EstimatesOptions = {
  seed: 1,
  records: { small: 0, bulk: 40_000 },
  workers: { small: 0, bulk: 50 },
  ratePerSecond: 1_000,
  smallLaneShare: 0.5,
  disorder: Infinity,
  bytesPerRecord: 130,
};

/** Both lanes have work, of which the small one gets a quarter of the pace. */
export const SHARED_ESTIMATES: EstimatesOptions = {
  ...FULL_ESTIMATES,
  records: { small: 8_000, bulk: 32_000 },
  workers: { small: 50, bulk: 150 },
  smallLaneShare: 0.25,
  // A snapshot counts the work of others by chunks that are closed: it overstates a lane the more, the more that one is out of order.
  disorder: 1,
};

export interface EstimatesResult {
  samples: readonly Sample[];
  /** The largest deviation as a share of what remained, where a fifth of it is more than the fixed overhead. */
  largestShare: Sample | undefined;
  /** The largest one closer to the end. */
  largestAtEnd: Sample | undefined;
  isMet: boolean;
}

const MOST_DEVIATION = 0.2;
/** What is under way at the moment of an estimate counts as pending, although it nearly is done. */
const UNDER_WAY_MS = 500;
const LEAST_ALLOWED_MS = OVERHEAD_MS + UNDER_WAY_MS;
/** Drains, and holds every estimate against the moment at which the last record was finished. */
export async function runEstimates(options: EstimatesOptions): Promise<EstimatesResult> {
  return judge(await new EstimatedDrain(options).run());
}

/** Whether an estimate was as near to the truth as it is promised to be. */
export const isWithin = (sample: Sample): boolean => Math.abs(sample.deviationMs) <= allowedMs(sample);

const allowedMs = ({ remainingMs }: Sample): number => Math.max(remainingMs * MOST_DEVIATION, LEAST_ALLOWED_MS);
const isFar = ({ remainingMs }: Sample): boolean => remainingMs * MOST_DEVIATION > LEAST_ALLOWED_MS;
const shareOf = ({ deviationMs, remainingMs }: Sample): number => Math.abs(deviationMs) / remainingMs;

function judge(samples: readonly Sample[]): EstimatesResult {
  const [largestShare] = samples.filter(isFar).toSorted((a, b) => shareOf(b) - shareOf(a));
  const [largestAtEnd] = samples
    .filter((sample) => !isFar(sample))
    .toSorted((a, b) => Math.abs(b.deviationMs) - Math.abs(a.deviationMs));
  const isMet = samples.every((sample) => isWithin(sample));
  return { samples, largestShare, largestAtEnd, isMet };
}

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export function formatEstimates({ samples, largestShare, largestAtEnd, isMet }: EstimatesResult): string {
  const lines = [`${samples.length} estimates after the end of fan-out`];
  if (largestShare !== undefined) {
    const { lane, remainingMs, deviationMs, snapshotAgeMs } = largestShare;
    lines.push(
      `${(shareOf(largestShare) * 100).toFixed(1)} % off at most (${MOST_DEVIATION * 100} %): ${inSeconds(deviationMs)} of ` +
        `${inSeconds(remainingMs)} in the ${lane} lane, by a snapshot of ${inSeconds(snapshotAgeMs ?? 0)}`,
    );
  }
  if (largestAtEnd !== undefined) {
    lines.push(
      `${inSeconds(largestAtEnd.deviationMs)} off in the last ${inSeconds(LEAST_ALLOWED_MS / MOST_DEVIATION)} at most (${inSeconds(LEAST_ALLOWED_MS)})`,
    );
  }
  return [...lines, isMet ? 'met' : 'not met'].join('\n');
}
