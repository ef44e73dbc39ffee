import { isOpen, LANES, type Counts, type Lane, type Submission } from '../model.ts';
import type { Backlog } from '../ports.ts';
import { intervalMs } from '../providers.ts';
import { estimateRecords } from '../admission.ts';

/** From acceptance to the first record, and from the last record to the results: queues, starts, writing. */
const OVERHEAD_MS = 3_000;
/** Part of the pace that a lane gets while the other one has work too: lanes share evenly unless a stage says otherwise. */
const LANE_SHARE = 0.5;

/** Records per second that the providers allow when every record needs each of them: the slowest one decides. */
export const pacePerSecondOf = (ratesPerSecond: Readonly<Record<string, number>>): number =>
  Math.min(...Object.values(ratesPerSecond).map((ratePerSecond) => 1_000 / intervalMs({ ratePerSecond })));

export interface EstimateInput {
  submission: Pick<Submission, 'state' | 'lane' | 'source' | 'fanOut' | 'expectedRecords'>;
  counts: Counts;
  backlog: Backlog | undefined;
  pacePerSecond: number;
  nowMs: number;
}

/**
 * When a submission will be complete, epoch milliseconds; undefined for one that has ended. Everything that is open in its
 * lane counts as being ahead of it (fair queues may do better), while the other lane with work takes its share of the pace.
 */
export function estimateCompletion(input: EstimateInput): number | undefined {
  const { submission, backlog, pacePerSecond, nowMs } = input;
  if (!isOpen(submission.state)) return undefined;
  const own = ownRecords(input);
  if (submission.state !== 'processing' && submission.state !== 'accepted') return nowMs + OVERHEAD_MS;
  const lane = submission.lane ?? 'bulk';
  const left = backlog ? recordsLeft(backlog, pacePerSecond, nowMs) : { small: 0, bulk: 0 };
  // The backlog counts this submission too, unless it is newer.
  const mine = Math.max(own, left[lane]);
  const other = LANES.filter((name) => name !== lane).reduce((sum, name) => sum + left[name], 0);
  const seconds = Math.min((mine + other) / pacePerSecond, mine / (LANE_SHARE * pacePerSecond));
  return nowMs + OVERHEAD_MS + Math.ceil(seconds * 1_000);
}

/** What the snapshot has left by now, if work has gone on at the pace since; lanes with work shared it. */
function recordsLeft({ asOfMs, openRecords }: Backlog, pacePerSecond: number, nowMs: number): Record<Lane, number> {
  const total = openRecords.small + openRecords.bulk;
  if (total === 0) return { small: 0, bulk: 0 };
  const finished = Math.min((Math.max(nowMs - asOfMs, 0) / 1_000) * pacePerSecond, total);
  const evenly = Math.min(openRecords.small, openRecords.bulk, finished * LANE_SHARE);
  const rest = finished - 2 * evenly;
  return openRecords.small > openRecords.bulk
    ? { small: openRecords.small - evenly - rest, bulk: openRecords.bulk - evenly }
    : { small: openRecords.small - evenly, bulk: openRecords.bulk - evenly - rest };
}

/** Records of the submission without an outcome: counted, or estimated from what of the file has been read. */
function ownRecords({ submission, counts }: EstimateInput): number {
  if (submission.fanOut.done) return counts.pending;
  const { source, fanOut, expectedRecords } = submission;
  const finished = counts.succeeded + counts.failed + counts.cancelled;
  const whole =
    fanOut.byteOffset > 0 && fanOut.records > 0
      ? Math.ceil((fanOut.records * source.sizeBytes) / fanOut.byteOffset)
      : estimateRecords(source.sizeBytes, expectedRecords, Infinity);
  return Math.max(whole - finished, counts.pending);
}
