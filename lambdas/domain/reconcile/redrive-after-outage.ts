import { isPassingFailure } from '../errors.ts';
import { REASON_CODES, REASONS } from '../reasons.ts';
import { MAX_REDRIVES } from '../redrive/deps.ts';
import { redrive } from '../redrive/redrive.ts';
import type { TimeBudget } from '../time.ts';
import type { ReconcileDeps, Surroundings } from './deps.ts';

const OUTAGE_REASONS = REASON_CODES.filter((code) => REASONS[code].outage);

/**
 * Replays what providers' outages dead-lettered, in the half hour after every provider works again. How often a record is replayed is
 * bounded, so a provider that comes and goes cannot keep it going for ever; one replay is left to operators.
 *
 * @returns how many records were replayed.
 */
export async function redriveAfterOutage(
  { automaticRedrive, settings, clock, telemetry }: ReconcileDeps,
  { troubledAtMs }: Surroundings,
  budget: TimeBudget,
): Promise<number> {
  const calmMs = clock.now() - troubledAtMs;
  if (!automaticRedrive || calmMs < settings.calmMs || calmMs > settings.redriveWithinMs) return 0;
  const request = {
    mode: 'dead_letter_queue',
    reason: OUTAGE_REASONS,
    dryRun: false,
    maxRedrives: MAX_REDRIVES - 1,
    limit: settings.redrivesPerRun,
  };
  try {
    return (await redrive(automaticRedrive, request, budget)).replayed;
  } catch (error) {
    telemetry.emit({ name: 'unexpected_error', level: isPassingFailure(error) ? 'warn' : 'error', error });
    return 0;
  }
}
