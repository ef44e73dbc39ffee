import { priceOf } from '../../config/prices.ts';
import { ownSeries } from './own-series.ts';

/** The most that watching a stage may cost: about what its tables and functions cost for some million records. */
export const MONITORING_CAP_USD = 60;

export interface MonitoringCost {
  readonly series: number;
  readonly alarmMetrics: number;
  readonly usdPerMonth: number;
}

/**
 * What watching a stage costs a month, when every metric is emitted all the time: an upper bound, since CloudWatch charges for the
 * hours in which a series has values. Logs and their queries are charged by bytes and not in it.
 *
 * @param alarmMetrics - Metrics that alarms look at; an alarm on an expression is charged for each metric in it.
 */
export function monitoringCost(
  stageName: string,
  providerNames: readonly string[],
  alarmMetrics: number,
): MonitoringCost {
  const series = ownSeries(stageName, providerNames).length;
  const usd =
    priceOf('metric', series) +
    priceOf('alarmMetric', alarmMetrics) +
    priceOf('compositeAlarm', 1) +
    priceOf('dashboard', 1);
  return { series, alarmMetrics, usdPerMonth: Math.round(usd * 100) / 100 };
}
