import { LeaseLostError } from '../errors.ts';
import { positionAfter, type ReaderPosition } from '../files/reader.ts';
import type { FanOutMessage } from '../queues/messages.ts';
import type { Submission } from '../model.ts';
import {
  headMissing,
  isPassing,
  newOwner,
  retryDelay,
  sendOne,
  sliceTimer,
  untilLeaseEnds,
} from '../submissions/slices.ts';
import type { SourceItem } from '../source/source-reader.ts';
import { NotPreparedError } from '../prepare/not-prepared.ts';
import { UnreadableSourceError } from '../source/unreadable-source.ts';
import type { TimeBudget } from '../time.ts';
import { beginReading, continueReading, lastPossiblySent, type Reading } from './beginning.ts';
import { ChunkSender } from './chunk-sender.ts';
import type { Claimed, FanOutDeps } from './deps.ts';
import { completeFanOut, rejectFile, repeatEnding } from './ending.ts';

/**
 * Works on the fan-out of one submission for about `settings.sliceMs`: reads the source behind the last checkpoint and sends one
 * message per record. Whatever interrupts it, the next slice goes on behind the last checkpoint with the same numbers.
 *
 * Returns when the message can be acknowledged: fan-out is over, or another message will continue it. Throws otherwise.
 */
export async function fanOutSlice(deps: FanOutDeps, message: FanOutMessage, budget: TimeBudget): Promise<void> {
  const owner = newOwner(deps.random);
  let claimed: Claimed | undefined;
  try {
    const { submissionId } = message;
    const { leaseMs } = deps.settings;
    const claim = await deps.submissions.claimFanOut({ submissionId, owner, nowMs: deps.clock.now(), leaseMs });
    if (claim.outcome === 'missing') throw headMissing(submissionId);
    // The owner may be dead, and this may be its message, delivered again: it must outlive the lease.
    if (claim.outcome === 'busy') {
      await sendOne(deps.fanOutQueue, message, untilLeaseEnds(claim.untilMs, deps.clock));
      return;
    }
    if (claim.outcome === 'over') {
      await repeatEnding(deps, claim.submission);
      return;
    }
    claimed = { deps, submission: claim.submission, owner };
    await work(claimed, message, sliceTimer(deps.clock, budget, deps.settings));
  } catch (error) {
    if (!isPassing(error)) throw error;
    await giveBack(deps, message, claimed, error);
  }
}

async function work(claimed: Claimed, message: FanOutMessage, isOver: () => boolean): Promise<void> {
  const { deps, submission } = claimed;
  const { submissionId, tenantId, lane, stop, fanOut } = submission;
  const sent = lane === undefined ? 0 : await lastPossiblySent(claimed);
  if (stop && sent <= fanOut.records) return completeFanOut(claimed, fanOut.records);
  if (lane === undefined) deps.telemetry.emit({ name: 'fanout_started', level: 'info', submissionId, tenantId });
  try {
    const reading = lane === undefined ? await beginReading(claimed) : await continueReading(claimed, lane, sent);
    await sendRecords({ ...claimed, submission: { ...submission, lane: reading.lane } }, reading, {
      message,
      isOver,
      lastRecord: stop ? sent : Infinity,
    });
  } catch (error) {
    if (error instanceof NotPreparedError) return handToPrepare(claimed, message);
    if (!(error instanceof UnreadableSourceError)) throw error;
    await rejectFile(claimed, error);
  }
}

/** A source that is no text in UTF-8 comes back as one. Its lease is given up for the function that prepares it. */
async function handToPrepare({ deps, submission, owner }: Claimed, message: FanOutMessage): Promise<void> {
  const { submissionId, fanOut } = submission;
  const { byteOffset, records, line } = fanOut;
  await deps.submissions.checkpointFanOut(submissionId, owner, { byteOffset, records, line }, 'release');
  await sendOne(deps.prepareQueue, message);
}

interface SliceEnd {
  message: FanOutMessage;
  isOver: () => boolean;
  /** Where a stop order ends the file. */
  lastRecord: number;
}

async function sendRecords(claimed: Claimed, reading: Reading, end: SliceEnd): Promise<void> {
  const { settings } = claimed.deps;
  const sender = new ChunkSender(claimed, reading);
  let at = reading.from;
  try {
    for await (const batch of reading.batches) {
      for (const items of splitAt(batch, settings.checkpointRecords)) {
        await sender.add(items.filter((item) => item.recordNo <= end.lastRecord));
        at = behind(items, end.lastRecord) ?? at;
        if (at.recordNo >= end.lastRecord) break;
        if (at.recordNo % settings.checkpointRecords !== 0) continue;
        await sender.settle();
        const late = end.isOver();
        const stored = await checkpoint(claimed, reading, at, late);
        if (late) return await continueLater(claimed.deps, end.message, stored);
        if (stored.stop) return await completeFanOut(claimed, at.recordNo);
      }
      if (at.recordNo >= end.lastRecord) break;
    }
    await sender.settle();
  } finally {
    await sender.drain();
  }
  await completeFanOut(claimed, at.recordNo);
}

/** Cuts a batch behind every record number that is a multiple of `every`. */
function* splitAt(batch: readonly SourceItem[], every: number): Generator<readonly SourceItem[], void, undefined> {
  let from = 0;
  for (const [index, item] of batch.entries()) {
    if (item.recordNo % every !== 0) continue;
    yield batch.slice(from, index + 1);
    from = index + 1;
  }
  if (from < batch.length) yield batch.slice(from);
}

function behind(items: readonly SourceItem[], lastRecord: number): ReaderPosition | undefined {
  const last = items.findLast((item) => item.recordNo <= lastRecord);
  return last && positionAfter(last);
}

/** Notes that everything before `at` has been sent. Only ever called when it has been. */
async function checkpoint(
  { deps, submission, owner }: Claimed,
  { dialect, lane }: Reading,
  at: ReaderPosition,
  release: boolean,
): Promise<Submission> {
  const { submissionId, tenantId } = submission;
  const progress = {
    byteOffset: at.byteOffset,
    records: at.recordNo,
    line: at.line,
    ...(dialect && { dialect }),
  };
  const lease = release ? 'release' : { nowMs: deps.clock.now(), leaseMs: deps.settings.leaseMs };
  const stored = await deps.submissions.checkpointFanOut(submissionId, owner, progress, lease);
  const name = 'fanout_checkpoint';
  deps.telemetry.emit({ name, level: 'debug', submissionId, tenantId, lane, count: at.recordNo });
  return stored;
}

async function continueLater(deps: FanOutDeps, message: FanOutMessage, { fanOut }: Submission): Promise<void> {
  await sendOne(deps.fanOutQueue, message);
  const { submissionId, tenantId } = message;
  deps.telemetry.emit({ name: 'fanout_continued', level: 'info', submissionId, tenantId, count: fanOut.records });
}

/** After a failure that passes: another message, and the lease given up so that it need not wait for its end. */
async function giveBack(
  deps: FanOutDeps,
  message: FanOutMessage,
  claimed: Claimed | undefined,
  cause: Error,
): Promise<void> {
  const { leaseMs } = deps.settings;
  const { submissionId, tenantId } = message;
  const released = claimed !== undefined && !(cause instanceof LeaseLostError) && (await release(claimed));
  await sendOne(deps.fanOutQueue, message, released ? retryDelay(cause, deps) : leaseMs);
  const outcome = cause.name;
  deps.telemetry.emit({ name: 'fanout_continued', level: 'warn', submissionId, tenantId, outcome, error: cause });
}

/** Gives the lease up where the last checkpoint left it. False when that failed too: it then ends by itself. */
async function release({ deps, submission, owner }: Claimed): Promise<boolean> {
  try {
    const stored = await deps.submissions.get(submission.submissionId);
    if (!stored) return false;
    const { byteOffset, records, line, dialect } = stored.fanOut;
    const progress = { byteOffset, records, line, ...(dialect && { dialect }) };
    await deps.submissions.checkpointFanOut(stored.submissionId, owner, progress, 'release');
    return true;
  } catch (error) {
    if (!isPassing(error)) throw error;
    return false;
  }
}
