import { isPassingFailure } from '../errors.ts';
import { LANES } from '../model.ts';
import { REASONS, REASON_CODES } from '../reasons.ts';
import { redrive } from '../redrive/redrive.ts';
import { MAX_REDRIVES } from '../redrive/request.ts';
import { DEAD_LETTER_QUEUES, type DeadLetterLog, type DeadLetterQueue } from '../tenants/ports.ts';
import type { TimeBudget } from '../time.ts';
import type { LossThresholds, ReconcileDeps } from './deps.ts';

/** A queue counts as empty once no message was seen for so long: SQS's counts are approximate. */
const EMPTY_AFTER_MS = 5 * 60_000;

/** The dead-letter queues at one moment. */
export interface DeadLetters {
  log: DeadLetterLog;
  counts: Record<DeadLetterQueue, number>;
}

/**
 * Counts the messages of the dead-letter queues, without receiving any, and reports for how long each queue has not been empty. No message
 * came later than that into its queue, so the figure is never below the age of the oldest one. SQS's own age leaves out messages
 * that were received three times or more, which every redrive does.
 */
export async function measureDeadLetters(deps: ReconcileDeps): Promise<DeadLetters> {
  const { admission, deadLetterQueues, clock, telemetry } = deps;
  const previous = (await admission.deadLetters()) ?? { waiting: {} };
  const [small, bulk, prepare, fanOut, finalize, webhooks] = await Promise.all([
    deadLetterQueues.small.depth(),
    deadLetterQueues.bulk.depth(),
    deadLetterQueues.prepare.depth(),
    deadLetterQueues.fanOut.depth(),
    deadLetterQueues.finalize.depth(),
    deadLetterQueues.webhooks.depth(),
  ]);
  const counts = { small, bulk, prepare, fanOut, finalize, webhooks };
  const nowMs = clock.now();
  const waiting: DeadLetterLog['waiting'] = {};
  for (const queue of DEAD_LETTER_QUEUES) {
    const known = previous.waiting[queue];
    if (counts[queue] > 0) waiting[queue] = { sinceMs: known?.sinceMs ?? nowMs, seenMs: nowMs };
    else if (known !== undefined && nowMs - known.seenMs < EMPTY_AFTER_MS) waiting[queue] = known;
  }
  const log = { ...previous, waiting };
  await admission.saveDeadLetters(log);
  for (const queue of DEAD_LETTER_QUEUES) {
    const ageMs = nowMs - (waiting[queue]?.sinceMs ?? nowMs);
    const of = queue === 'small' || queue === 'bulk' ? { lane: queue } : {};
    const outcome = 'lane' in of ? 'dead_letters_age' : `dead_letters_age_${queue}`;
    telemetry.emit({ name: 'gauge', level: 'debug', outcome, ...of, ageMs });
  }
  return { log, counts };
}

const OUTAGE_REASONS = REASON_CODES.filter((code) => REASONS[code].outage);

/**
 * Replays what providers' outages dead-lettered, in the half hour after every provider works again. How often a record is replayed is
 * bounded, so a provider that comes and goes cannot keep it going for ever; one replay is left to operators. Once a pass has found
 * nothing to replay, the queues are received from again only when their number of messages has changed: what cannot be replayed would be
 * received every minute.
 *
 * @returns how many records were replayed.
 */
export async function redriveAfterOutage(
  { admission, automaticRedrive, settings, clock, telemetry }: ReconcileDeps,
  { troubledAtMs }: LossThresholds,
  deadLetters: DeadLetters | undefined,
  budget: TimeBudget,
): Promise<number> {
  const calmMs = clock.now() - troubledAtMs;
  if (!automaticRedrive || calmMs < settings.calmMs || calmMs > settings.redriveWithinMs) return 0;
  const left = deadLetters && LANES.reduce((sum, lane) => sum + deadLetters.counts[lane], 0);
  const pass = deadLetters?.log.pass;
  if (left === 0 || (pass?.troubledAtMs === troubledAtMs && pass.left === left)) return 0;
  const request = {
    mode: 'dead_letter_queue',
    reason: OUTAGE_REASONS,
    dryRun: false,
    maxRedrives: MAX_REDRIVES - 1,
    limit: settings.redrivesPerRun,
  };
  try {
    const { replayed, deadLettersDeleted, stoppedEarly } = await redrive(automaticRedrive, request, budget);
    const foundNothing = replayed === 0 && deadLettersDeleted === 0 && !stoppedEarly;
    if (deadLetters && left !== undefined && foundNothing) {
      await admission.saveDeadLetters({ ...deadLetters.log, pass: { troubledAtMs, left } });
    }
    return replayed;
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: isPassingFailure(error) ? 'warn' : 'error', error });
    return 0;
  }
}
