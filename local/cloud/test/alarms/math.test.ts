import { describe, expect, test } from '@jest/globals';
import { evaluateMath } from '../../alarms/math/evaluate.ts';
import { parseMath } from '../../alarms/math/parse.ts';
import type { Series } from '../../alarms/math/values.ts';

const gap = undefined;

/** What an expression makes of series that are all equally long. */
function compute(expression: string, metrics: Readonly<Record<string, Series>> = { m1: [1, 2, 3] }): Series {
  return evaluateMath(parseMath(expression), {
    metricIds: Object.keys(metrics),
    periodSeconds: 60,
    length: Object.values(metrics)[0]?.length ?? 0,
    query(id) {
      const series = metrics[id];
      if (series === undefined) throw new Error(`There is no ${id}.`);
      return series;
    },
  });
}

describe('metric math', () => {
  test.each<[string, Series]>([
    ['m1 + 2 * 3', [7, 8, 9]],
    ['(m1 + 2) * 3', [9, 12, 15]],
    ['2 ^ m1', [2, 4, 8]],
    ['-m1 - 1', [-2, -3, -4]],
    ['10 - m1 - 1', [8, 7, 6]],
    ['100 / (m1 - 2)', [-100, gap, 100]],
    ['m1 > 1 AND m1 < 3', [0, 1, 0]],
    ['m1 <= 1 || m1 == 3', [1, 0, 1]],
    ['m1 != 2 && m1 >= 1', [1, 0, 1]],
    ['m1 - MIN(m1)', [0, 1, 2]],
    ['m1 / MAX(m1) * SUM(m1) / AVG(m1)', [1, 2, 3]],
    ['m1 / PERIOD(m1)', [1 / 60, 2 / 60, 3 / 60]],
    ['TIME_SERIES(5) + m1', [6, 7, 8]],
    ['ABS(m1 - 3)', [2, 1, 0]],
    ['CEIL(m1 / 2) + FLOOR(m1 / 2)', [1, 2, 3]],
  ])('computes %s', (expression, expected) => {
    expect(compute(expression)).toEqual(expected);
  });

  // The examples of https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
  const metrics = { metric1: [30, 20, 0, 0], metric2: [20, gap, 20, gap] };
  test.each<[string, Series]>([
    ['metric1 < metric2', [0, 0, 1, 0]],
    ['metric1 >= 30', [1, 0, 0, 0]],
    ['metric1 > 15 AND metric2 > 15', [1, 0, 0, 0]],
    ['metric2 * 2', [40, gap, 40, gap]],
    ['metric1 + metric2', [50, 20, 20, 0]],
  ])('treats what one series lacks as 0 in %s', (expression, expected) => {
    expect(compute(expression, metrics)).toEqual(expected);
  });

  const chosen = { metric1: [1, 1, 0, 0, gap], metric2: [30, gap, 0, 0, 30], metric3: [0, 0, 20, gap, 20] };
  test.each<[string, Series]>([
    ['IF(metric1, metric2, metric3)', [30, 0, 20, gap, gap]],
    ['IF(metric1, 5, metric3)', [5, 5, 20, gap, gap]],
    ['IF(metric1, metric2, 5)', [30, 0, 5, 5, gap]],
    ['IF(metric1, metric2)', [30, 0, gap, gap, gap]],
    ['IF(1 > 2, metric2, metric3)', chosen.metric3],
    ['IF(metric2 > 10, 1, 0)', [1, gap, 0, 0, 1]],
  ])('chooses by %s', (expression, expected) => {
    expect(compute(expression, chosen)).toEqual(expected);
  });

  const sparse = { m1: [gap, 4, gap, gap, 10], m2: [1, 2, gap, 4, 5], m3: [gap, gap, gap, gap, gap] };
  test.each<[string, Series]>([
    ['FILL(m1, 0)', [0, 4, 0, 0, 10]],
    ['FILL(m1, REPEAT)', [gap, 4, 4, 4, 10]],
    ['FILL(m1, m2)', [1, 4, gap, 4, 10]],
    ['FILL(m3, 0)', [0, 0, 0, 0, 0]],
    ['SUM([m1, m2, m3])', [1, 6, gap, 4, 15]],
    ['SUM(METRICS())', [1, 6, gap, 4, 15]],
    ['MAX([m1, m2])', [1, 4, gap, 4, 10]],
    ['MIN([m1, m2])', [1, 2, gap, 4, 5]],
    ['AVG([m1, m2])', [0.5, 3, gap, 2, 7.5]],
    ['SUM(FILL(METRICS("m"), 1) * 2)', [6, 14, 6, 12, 32]],
    ['DIFF(m2)', [gap, 1, gap, 2, 1]],
    ['RATE(m1)', [gap, gap, gap, gap, 6 / 180]],
  ])('deals with gaps in %s', (expression, expected) => {
    expect(compute(expression, sparse)).toEqual(expected);
  });

  test.each([
    ['ANOMALY_DETECTION_BAND(m1)', /does not know ANOMALY_DETECTION_BAND/],
    ['FILL(m1, LINEAR)', /LINEAR/],
    ['FILL(m1)', /FILL of metric math cannot be used with these 1 arguments/],
    ['m1 +', /ends too early/],
    ['(m1', /lacks a \)/],
    ['m1 m1', /cannot be read at "m1"/],
    ['m1 % 2', /cannot be read from/],
    ['SUM(m1)', /watches one time series/],
    ['METRICS()', /watches one time series/],
  ])('refuses %s by name', (expression, message) => {
    expect(() => compute(expression)).toThrow(message);
  });
});
