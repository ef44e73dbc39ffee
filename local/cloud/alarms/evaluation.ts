import type { AlarmState, Comparison, MetricAlarm } from './definitions.ts';
import { isPresent, type Series } from './math/values.ts';

/**
 * Periods looked at beyond the evaluation periods, for where data is missing. How many is not documented; the service's own
 * examples look at five for three.
 */
export const SPARE_PERIODS = 2;

export interface Evaluation {
  /** Undefined: the alarm stays as it is. */
  readonly state: AlarmState | undefined;
  /** Put into words only where somebody wants to know. */
  readonly reason: () => string;
}

type Rules = Pick<MetricAlarm, 'evaluationPeriods' | 'datapointsToAlarm' | 'comparison' | 'threshold' | 'missingData'>;

/**
 * The state that an alarm goes to by the values of its last periods, as CloudWatch decides it: real values first, also older
 * ones; missing ones are filled in only where there are too few. See "How alarm state is evaluated when data is missing" and
 * "Avoiding premature transitions to alarm state",
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 *
 * @param values of the evaluation range: the evaluation periods and the spare ones before them, the oldest first
 */
export function evaluateAlarm(rules: Rules, values: Series): Evaluation {
  const { evaluationPeriods, datapointsToAlarm, missingData, comparison, threshold } = rules;
  const real = values.filter(isPresent).slice(-evaluationPeriods);
  const bad = real.filter((value) => BREACHES[comparison](value, threshold)).length;
  const filled = evaluationPeriods - real.length;
  const decided = (isAlarm: boolean): Evaluation => ({
    state: isAlarm ? 'ALARM' : 'OK',
    reason: () => reasonOf(rules, real, filled, isAlarm),
  });
  if (bad >= datapointsToAlarm || filled === 0) return decided(bad >= datapointsToAlarm);
  if (missingData === 'breaching') return decided(bad + filled >= datapointsToAlarm);
  if (missingData === 'notBreaching' || real.length > bad) return decided(false);
  if (missingData === 'ignore') return { state: undefined, reason: () => '' };
  // Every value that there is breaches, but they are few: it counts when it is old enough for newer ones to have come.
  const oldest = values.findIndex(isPresent);
  if (real.length > 0 && values.length - oldest >= datapointsToAlarm) return decided(true);
  return { state: 'INSUFFICIENT_DATA', reason: () => insufficient(rules, values) };
}

const BREACHES: Readonly<Record<Comparison, (value: number, threshold: number) => boolean>> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  GreaterThanThreshold: (value, threshold) => value > threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
};

const WORDS: Readonly<Record<Comparison, string>> = {
  GreaterThanOrEqualToThreshold: 'greater than or equal to',
  GreaterThanThreshold: 'greater than',
  LessThanThreshold: 'less than',
  LessThanOrEqualToThreshold: 'less than or equal to',
};

function reasonOf(rules: Rules, real: readonly number[], filled: number, isAlarm: boolean): string {
  const { comparison, threshold, datapointsToAlarm, missingData } = rules;
  const needed = isAlarm ? datapointsToAlarm : rules.evaluationPeriods - datapointsToAlarm + 1;
  const least = `(minimum ${needed} datapoint${needed === 1 ? '' : 's'} for ${isAlarm ? 'ALARM' : 'OK'})`;
  const were = real.length === 1 ? 'was' : 'were';
  const compared = `${were}${isAlarm ? '' : ' not'} ${WORDS[comparison]} the threshold (${threshold})`;
  const shown = real.map((value) => Math.round(value * 100) / 100).toReversed();
  const missing = `${filled} missing datapoint${filled === 1 ? ' was' : 's were'} treated as ${missingData}`;
  if (real.length === 0) return `No datapoints were received and ${missing} ${least}.`;
  const rest = filled > 0 && missingData !== 'missing' && missingData !== 'ignore' ? `, and ${missing}` : '';
  return `Threshold crossed: the last datapoint${real.length === 1 ? '' : 's'} [${shown.join(', ')}] ${compared}${rest} ${least}.`;
}

function insufficient({ evaluationPeriods }: Rules, values: Series): string {
  const received = values.filter(isPresent).length;
  return `Insufficient data: ${received} of ${evaluationPeriods} datapoints were received.`;
}
