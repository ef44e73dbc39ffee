import { describe, expect, test } from '@jest/globals';
import type { AlarmState, Comparison, MissingData } from '../../alarms/definitions.ts';
import { evaluateAlarm } from '../../alarms/evaluation.ts';

const TREATMENTS = ['missing', 'ignore', 'breaching', 'notBreaching'] as const satisfies MissingData[];

/** 0 is within the threshold, X is not, and - is missing. */
const valuesOf = (row: string): (number | undefined)[] =>
  row.split(' ').map((sign) => (sign === '-' ? undefined : sign === 'X' ? 2 : 0));

const rules = { comparison: 'GreaterThanThreshold', threshold: 1 } as const;

function stateOf(row: string, missingData: MissingData, datapointsToAlarm: number): AlarmState | 'retained' {
  return (
    evaluateAlarm({ ...rules, evaluationPeriods: 3, datapointsToAlarm, missingData }, valuesOf(row)).state ?? 'retained'
  );
}

// The tables of https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
describe('an alarm of 3 out of 3 datapoints', () => {
  test.each<[string, (AlarmState | 'retained')[]]>([
    ['0 - X - X', ['OK', 'OK', 'OK', 'OK']],
    ['- - - - 0', ['OK', 'OK', 'OK', 'OK']],
    ['0 - - - -', ['OK', 'OK', 'OK', 'OK']],
    ['- - - - -', ['INSUFFICIENT_DATA', 'retained', 'ALARM', 'OK']],
    ['0 X X - X', ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['- - X - -', ['ALARM', 'retained', 'ALARM', 'OK']],
    ['- - - - X', ['INSUFFICIENT_DATA', 'retained', 'ALARM', 'OK']],
    ['- - - X -', ['INSUFFICIENT_DATA', 'retained', 'ALARM', 'OK']],
    ['X X X 0 X', ['OK', 'OK', 'OK', 'OK']],
  ])('goes by %s to %j', (row, expected) => {
    expect(TREATMENTS.map((treatment) => stateOf(row, treatment, 3))).toEqual(expected);
  });
});

describe('an alarm of 2 out of 3 datapoints', () => {
  test.each<[string, (AlarmState | 'retained')[]]>([
    ['0 - X - X', ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['0 0 X 0 X', ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['0 - X - -', ['OK', 'OK', 'ALARM', 'OK']],
    ['- - - - 0', ['OK', 'OK', 'ALARM', 'OK']],
    ['- - - X -', ['ALARM', 'retained', 'ALARM', 'OK']],
    ['X X 0 0 X', ['OK', 'OK', 'OK', 'OK']],
  ])('goes by %s to %j', (row, expected) => {
    expect(TREATMENTS.map((treatment) => stateOf(row, treatment, 2))).toEqual(expected);
  });
});

test.each<[Comparison, number[], boolean[]]>([
  ['GreaterThanThreshold', [0, 1, 2], [false, false, true]],
  ['GreaterThanOrEqualToThreshold', [0, 1, 2], [false, true, true]],
  ['LessThanThreshold', [0, 1, 2], [true, false, false]],
  ['LessThanOrEqualToThreshold', [0, 1, 2], [true, true, false]],
])('%s of %j and 1 is %j', (comparison, values, expected) => {
  const states = values.map((value) => {
    const one = { comparison, threshold: 1, evaluationPeriods: 1, datapointsToAlarm: 1 };
    return evaluateAlarm({ ...one, missingData: 'missing' }, [value]).state === 'ALARM';
  });
  expect(states).toEqual(expected);
});

describe('the reason', () => {
  const of = (row: string, missingData: MissingData): string =>
    evaluateAlarm({ ...rules, evaluationPeriods: 3, datapointsToAlarm: 3, missingData }, valuesOf(row)).reason();

  test('tells the datapoints, the newest first, and the threshold', () => {
    expect(of('0 0 X X X', 'missing')).toBe(
      'Threshold crossed: the last datapoints [2, 2, 2] were greater than the threshold (1) (minimum 3 datapoints for ALARM).',
    );
    expect(of('X 0 X X 0', 'missing')).toMatch(/\[0, 2, 2\] were not greater than .*minimum 1 datapoint for OK/);
  });

  test('tells what was filled in', () => {
    expect(of('- - - - X', 'breaching')).toMatch(
      /\[2\] was greater .* and 2 missing datapoints were treated as breaching/,
    );
    expect(of('- - - - -', 'notBreaching')).toMatch(
      /No datapoints were received and 3 missing datapoints were treated as/,
    );
    expect(of('- - - - -', 'missing')).toBe('Insufficient data: 0 of 3 datapoints were received.');
  });
});
