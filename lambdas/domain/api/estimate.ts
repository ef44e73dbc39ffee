import { CHUNK_RECORDS, isOpen, LANES, textOf, type Counts, type Lane, type Submission } from '../model.ts';
import type { Backlog } from '../tenants/ports.ts';
import { intervalMs } from '../providers/config.ts';
import { DRAIN_MS } from '../submissions/stop.ts';
import { estimateRecords } from '../tenants/admission.ts';

/** From acceptance to the first record, and from the last record to the results: queues, starts, writing. */
export const OVERHEAD_MS = 3_000;

/** Records per second that the providers allow when every record needs each of them: the slowest one decides. */
export const pacePerSecondOf = (ratesPerSecond: Readonly<Record<string, number>>): number =>
  Math.min(...Object.values(ratesPerSecond).map((ratePerSecond) => 1_000 / intervalMs({ ratePerSecond })));

/** The pace that the providers are granted at the moment: as configured, unless calls are refused although paced. */
export const grantedPace = (pacePerSecond: number, backlog: Backlog | undefined): number =>
  Math.min(pacePerSecond, backlog?.pacePerSecond ?? Infinity);

/** How fast records are finished. */
export interface PaceSettings {
  pacePerSecond: number;
  /** Part of the pace that the small lane gets while both lanes have work. */
  smallLaneShare: number;
}

export interface EstimateInput extends PaceSettings {
  submission: Pick<
    Submission,
    | 'state'
    | 'lane'
    | 'source'
    | 'prepared'
    | 'format'
    | 'fanOut'
    | 'expectedRecords'
    | 'closedChunks'
    | 'createdAtMs'
    | 'stop'
  >;
  counts: Counts;
  backlog: Backlog | undefined;
  nowMs: number;
}

/**
 * When a submission will be complete, epoch milliseconds; undefined for one that has ended. Everything that is open in its
 * lane counts as being ahead of it (fair queues may do better), while the other lane with work takes its share of the pace.
 */
export function estimateCompletion(configured: EstimateInput): number | undefined {
  const pacePerSecond = grantedPace(configured.pacePerSecond, configured.backlog);
  const input = { ...configured, pacePerSecond };
  const { submission, backlog, smallLaneShare, nowMs } = input;
  if (!isOpen(submission.state)) return undefined;
  const own = ownRecords(input);
  if (submission.stop) return Math.max(nowMs, submission.stop.atMs + DRAIN_MS) + OVERHEAD_MS;
  if (submission.state === 'finalizing') return nowMs + OVERHEAD_MS;
  const lane = submission.lane ?? 'bulk';
  const left = backlog && !isAlone(submission, backlog) ? recordsLeft(backlog, input) : { small: 0, bulk: 0 };
  const mine = own + othersIn(lane, left[lane], input);
  const other = LANES.filter((name) => name !== lane).reduce((sum, name) => sum + left[name], 0);
  const seconds = Math.min((mine + other) / pacePerSecond, mine / (shareOf(lane, smallLaneShare) * pacePerSecond));
  return nowMs + OVERHEAD_MS + Math.ceil(seconds * 1_000);
}

const shareOf = (lane: Lane, smallLaneShare: number): number =>
  lane === 'small' ? smallLaneShare : 1 - smallLaneShare;

type Known = Pick<EstimateInput['submission'], 'createdAtMs'>;
const isIn = ({ createdAtMs }: Known, { asOfMs }: Backlog): boolean => createdAtMs <= asOfMs;
const isAlone = (submission: Known, backlog: Backlog): boolean =>
  isIn(submission, backlog) && backlog.openSubmissions <= 1;

/**
 * What is left of others in a lane: of the snapshot, all but the part that this submission has in it. That is counted as the snapshot counts,
 * by chunks: of records that finish in any order most chunks stay open until nearly the end, and counting them as work of others would
 * double what is left.
 */
function othersIn(lane: Lane, left: number, { submission, backlog }: EstimateInput): number {
  if (backlog === undefined || !isIn(submission, backlog)) return left;
  const elsewhere = LANES.filter((name) => name !== lane && backlog.openRecords[name] > 0).length;
  if (backlog.openSubmissions <= 1 + elsewhere) return 0;
  const { fanOut, expectedRecords, closedChunks } = submission;
  const { source } = textOf(submission);
  const believed = fanOut.done ? 0 : estimateRecords(source.sizeBytes, expectedRecords, Infinity);
  const counted = Math.max(fanOut.records, believed) - closedChunks.size * CHUNK_RECORDS;
  return Math.max(0, left - Math.max(0, counted));
}

/** What the snapshot has left by now, if work has gone on at the pace since; lanes with work shared it. */
function recordsLeft(
  { asOfMs, openRecords }: Backlog,
  { pacePerSecond, smallLaneShare, nowMs }: Pick<EstimateInput, 'pacePerSecond' | 'smallLaneShare' | 'nowMs'>,
): Record<Lane, number> {
  const finished = (Math.max(nowMs - asOfMs, 0) / 1_000) * pacePerSecond;
  const untilOneIsEmpty = Math.min(...LANES.map((lane) => openRecords[lane] / shareOf(lane, smallLaneShare)));
  const shared = Math.min(finished, untilOneIsEmpty);
  const left = (lane: Lane): number => openRecords[lane] - shared * shareOf(lane, smallLaneShare);
  const rest = finished - shared;
  return { small: Math.max(0, left('small') - rest), bulk: Math.max(0, left('bulk') - rest) };
}

/** Records of the submission without an outcome: counted, or estimated from what of the file has been read. */
function ownRecords({ submission, counts }: EstimateInput): number {
  if (submission.fanOut.done) return counts.pending;
  const { fanOut, expectedRecords } = submission;
  const { source } = textOf(submission);
  const finished = counts.succeeded + counts.failed + counts.cancelled;
  const whole =
    fanOut.byteOffset > 0 && fanOut.records > 0
      ? Math.ceil((fanOut.records * source.sizeBytes) / fanOut.byteOffset)
      : estimateRecords(source.sizeBytes, expectedRecords, Infinity);
  return Math.max(whole - finished, counts.pending);
}
