import { describe, expect, test } from '@jest/globals';
import { Alarms, type Transition } from '../../alarms/alarms.ts';
import { notificationOf } from '../../alarms/notification.ts';
import type { DeployedResource, JsonObject } from '../../contract.ts';
import { MetricStore } from '../../metrics/store.ts';
import { resource } from '../support/functions.ts';

const MINUTE_MS = 60_000;
const metric = { namespace: 'AWS/SQS', name: 'Age', dimensions: { QueueName: 'lane' } };

const alarm = (id: string, change: JsonObject = {}, type = 'AWS::CloudWatch::Alarm'): DeployedResource =>
  resource(type, id, {
    path: `Test/${id}/Resource`,
    arn: `arn:aws:cloudwatch:us-east-1:1:alarm:${id}`,
    properties: {
      AlarmName: id,
      AlarmActions: ['topic'],
      OKActions: ['topic'],
      ...(type.endsWith('CompositeAlarm')
        ? {}
        : {
            ComparisonOperator: 'GreaterThanThreshold',
            Threshold: 10,
            EvaluationPeriods: 2,
            TreatMissingData: 'notBreaching',
            Namespace: metric.namespace,
            MetricName: metric.name,
            Dimensions: [{ Name: 'QueueName', Value: 'lane' }],
            Period: 60,
            Statistic: 'Maximum',
          }),
      ...change,
    },
  });
const composite = (id: string, rule: string): DeployedResource =>
  alarm(id, { AlarmRule: rule }, 'AWS::CloudWatch::CompositeAlarm');
/** Without the members that name one metric. */
const mathAlarm = (id: string, Metrics: JsonObject[]): DeployedResource => {
  const made = alarm(id, { Metrics });
  for (const name of ['Namespace', 'MetricName', 'Dimensions', 'Period', 'Statistic']) delete made.properties[name];
  return made;
};

function watch(resources: readonly DeployedResource[]) {
  const store = new MetricStore();
  const alarms = new Alarms({ resources, store, sinceMs: 0 });
  const seen: Transition[] = [];
  alarms.observe((transition) => seen.push(transition));
  return {
    store,
    alarms,
    seen,
    /** Reports a value in a minute and evaluates at its end; undefined: nothing is reported. */
    minute(minute: number, value: number | undefined, id = metric): string[] {
      if (value !== undefined) store.put(id, value, minute * MINUTE_MS + 30_000);
      return alarms.evaluate((minute + 1) * MINUTE_MS).map(({ alarm: { name }, from, to }) => `${name} ${from}→${to}`);
    },
    stateOf: (name: string) => alarms.states()[name]?.state,
  };
}

describe('an alarm', () => {
  test('goes to ALARM after its evaluation periods and back when a period is good', () => {
    const { minute, seen, stateOf } = watch([alarm('Age')]);
    expect(stateOf('Age')).toBe('INSUFFICIENT_DATA');
    expect(minute(0, 11)).toEqual(['Age INSUFFICIENT_DATA→OK']);
    expect(minute(1, 12)).toEqual(['Age OK→ALARM']);
    expect(minute(2, 13)).toEqual([]);
    expect(minute(3, 1)).toEqual(['Age ALARM→OK']);
    expect(seen.map(({ atMs, to }) => [atMs / MINUTE_MS, to])).toEqual([
      [1, 'OK'],
      [2, 'ALARM'],
      [4, 'OK'],
    ]);
  });

  test('looks at full minutes only', () => {
    const { store, alarms, stateOf } = watch([alarm('Age', { EvaluationPeriods: 1 })]);
    store.put(metric, 99, MINUTE_MS + 1);
    alarms.evaluate(2 * MINUTE_MS - 1);
    expect(stateOf('Age')).toBe('OK');
    alarms.evaluate(2 * MINUTE_MS);
    expect(stateOf('Age')).toBe('ALARM');
  });

  test('evaluates a period of five minutes every minute', () => {
    const { minute, stateOf } = watch([alarm('Sum', { Period: 300, Statistic: 'Sum', EvaluationPeriods: 1 })]);
    for (let at = 0; at < 3; at++) minute(at, 3);
    expect(stateOf('Sum')).toBe('OK');
    minute(3, 3);
    expect(stateOf('Sum')).toBe('ALARM');
    for (let at = 4; at < 6; at++) minute(at, 0);
    expect(stateOf('Sum')).toBe('OK');
  });

  test.each([
    ['Sum', 60],
    ['Average', 20],
    ['Minimum', 10],
    ['Maximum', 30],
    ['SampleCount', 3],
    ['p50', 20],
    ['p99.9', 30],
  ])('takes the %s of the values of a period', (statistic, value) => {
    const at = (Threshold: number) => {
      const { store, alarms, stateOf } = watch([alarm('A', { Statistic: statistic, EvaluationPeriods: 1, Threshold })]);
      for (const one of [30, 10, 20]) store.put(metric, one, 1_000);
      alarms.evaluate(MINUTE_MS);
      return stateOf('A');
    };
    expect([at(value - 0.5), at(value)]).toEqual(['ALARM', 'OK']);
  });

  test('that takes silence for bad waits until one would have been heard', () => {
    const { minute, stateOf } = watch([alarm('Silent', { TreatMissingData: 'breaching' })]);
    minute(0, undefined);
    expect(stateOf('Silent')).toBe('INSUFFICIENT_DATA');
    minute(1, undefined);
    expect(stateOf('Silent')).toBe('ALARM');
  });

  test('watches the result of an expression', () => {
    const stat = (name: string): JsonObject => ({
      Metric: { Namespace: 'AWS/SQS', MetricName: name, Dimensions: [{ Name: 'QueueName', Value: 'lane' }] },
      Period: 60,
      Stat: 'Sum',
    });
    const { store, alarms, stateOf } = watch([
      mathAlarm('Idle', [
        { Id: 'e1', Expression: 'IF(waiting > 0 AND FILL(done, 0) == 0, 100, 0)' },
        { Id: 'waiting', MetricStat: stat('Waiting'), ReturnData: false },
        { Id: 'done', MetricStat: stat('Done'), ReturnData: false },
      ]),
    ]);
    for (const minute of [0, 1]) store.put({ ...metric, name: 'Waiting' }, 5, minute * MINUTE_MS);
    alarms.evaluate(2 * MINUTE_MS);
    expect(stateOf('Idle')).toBe('ALARM');
    store.put({ ...metric, name: 'Done' }, 1, MINUTE_MS);
    alarms.evaluate(2 * MINUTE_MS);
    expect(stateOf('Idle')).toBe('OK');
  });
});

describe('a composite alarm', () => {
  const other = { ...metric, dimensions: { QueueName: 'other' } };
  const parts = [
    alarm('A', { EvaluationPeriods: 1 }),
    alarm('B', { EvaluationPeriods: 1, Dimensions: [{ Name: 'QueueName', Value: 'other' }] }),
  ];

  test.each([
    ['ALARM("A") OR ALARM("B")', [false, true, true, true]],
    ['ALARM(A) AND ALARM(B)', [false, false, false, true]],
    ['ALARM("A") AND NOT ALARM("arn:aws:cloudwatch:us-east-1:1:alarm:B")', [false, true, false, false]],
    ['(ALARM("A") OR ALARM("B")) AND OK("B")', [false, true, false, false]],
    ['NOT (OK("A") AND OK("B"))', [false, true, true, true]],
    ['INSUFFICIENT_DATA("A") OR FALSE', [false, false, false, false]],
  ])('follows the rule %s', (rule, expected) => {
    // Before those that it names: the order of the templates does not matter.
    const { store, minute, stateOf } = watch([composite('All', rule), ...parts]);
    const states = [
      [1, 1],
      [99, 1],
      [1, 99],
      [99, 99],
    ].map(([a, b], at) => {
      store.put(other, b ?? 0, at * MINUTE_MS);
      minute(at, a);
      return stateOf('All') === 'ALARM';
    });
    expect(states).toEqual(expected);
  });

  test('may name composite alarms, and changes in the same minute as they do', () => {
    const { minute } = watch([composite('Page', 'ALARM("Any")'), composite('Any', 'ALARM("A")'), parts[0]!]);
    minute(0, 1);
    expect(minute(1, 99)).toEqual(['A OK→ALARM', 'Any OK→ALARM', 'Page OK→ALARM']);
  });

  test.each([
    ['ALARM("Page")', /Page leads to itself/],
    ['ALARM("Nobody")', /names Nobody, but the templates have no such alarm/],
    ['ALARM("A") AND', /cannot be read/],
    ['LOUD("A")', /cannot be read from LOUD/],
  ])('with the rule %s is refused', (rule, message) => {
    expect(() => watch([composite('Page', rule), parts[0]!])).toThrow(message);
  });
});

test.each<[string, DeployedResource, RegExp]>([
  ['an unknown statistic', alarm('A', { Statistic: 'tm90' }), /Test\/A.*the statistic tm90 is not known/],
  ['a property it does not know', alarm('A', { Unit: 'Seconds' }), /Unit/],
  ['a period of seconds', alarm('A', { Period: 10 }), /Period/],
  ['an anomaly detector', alarm('A', { ThresholdMetricId: 'ad1' }), /ThresholdMetricId/],
  ['more bad datapoints than periods', alarm('A', { DatapointsToAlarm: 3 }), /3 datapoints cannot be bad within 2/],
  [
    'a suppressor',
    alarm('A', { AlarmRule: 'TRUE', ActionsSuppressor: 'B' }, 'AWS::CloudWatch::CompositeAlarm'),
    /Suppressor/,
  ],
  [
    'an unknown function',
    mathAlarm('A', [{ Id: 'e1', Expression: 'MAGIC(1)', Period: 60 }]),
    /A: .*does not know MAGIC/,
  ],
  ['a query that is not there', mathAlarm('A', [{ Id: 'e1', Expression: 'm9 + 1', Period: 60 }]), /names m9/],
])('%s is refused when the alarms are read', (_, one, message) => {
  expect(() => watch([one])).toThrow(message);
});

describe('what is published', () => {
  const place = { accountId: '123456789012', region: 'eu-west-1' };

  test('has the fields of CloudWatch', () => {
    const { minute, seen } = watch([alarm('Age', { AlarmDescription: 'Look.', EvaluationPeriods: 1 })]);
    minute(0, 1);
    minute(1, 99);
    const { subject, message } = notificationOf(seen[1]!, place);
    expect(subject).toBe('ALARM: "Age" in eu-west-1');
    expect(JSON.parse(message)).toEqual({
      AlarmName: 'Age',
      AlarmDescription: 'Look.',
      AWSAccountId: '123456789012',
      NewStateValue: 'ALARM',
      NewStateReason: expect.stringContaining('[99] was greater than the threshold (10)'),
      StateChangeTime: '1970-01-01T00:02:00.000+0000',
      Region: 'eu-west-1',
      AlarmArn: 'arn:aws:cloudwatch:us-east-1:1:alarm:Age',
      OldStateValue: 'OK',
      OKActions: ['topic'],
      AlarmActions: ['topic'],
      InsufficientDataActions: [],
      Trigger: {
        MetricName: 'Age',
        Namespace: 'AWS/SQS',
        StatisticType: 'Statistic',
        Statistic: 'Maximum',
        Dimensions: [{ name: 'QueueName', value: 'lane' }],
        Period: 60,
        EvaluationPeriods: 1,
        DatapointsToAlarm: 1,
        ComparisonOperator: 'GreaterThanThreshold',
        Threshold: 10,
        TreatMissingData: 'notBreaching',
      },
    });
  });

  test('says which alarms led to a composite one', () => {
    const { minute, seen } = watch([composite('Page', 'ALARM("Age")'), alarm('Age', { EvaluationPeriods: 1 })]);
    minute(0, 99);
    const page = seen.find(({ alarm: { name } }) => name === 'Page')!;
    expect(JSON.parse(notificationOf(page, place).message)).toMatchObject({
      NewStateReason: 'In alarm: Age',
      AlarmRule: 'ALARM("Age")',
      TriggeringChildren: [{ Arn: 'arn:aws:cloudwatch:us-east-1:1:alarm:Age', State: { Value: 'ALARM' } }],
    });
  });
});
