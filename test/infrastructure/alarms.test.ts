import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { synthesize } from './synthesized.ts';

const alarmSchema = v.object({
  AlarmName: v.string(),
  AlarmDescription: v.string(),
  AlarmActions: v.tuple([v.unknown()]),
  OKActions: v.tuple([v.unknown()]),
  ComparisonOperator: v.string(),
  DatapointsToAlarm: v.number(),
  Dimensions: v.array(v.object({ Name: v.string(), Value: v.unknown() })),
  EvaluationPeriods: v.number(),
  MetricName: v.string(),
  Namespace: v.string(),
  Period: v.number(),
  Statistic: v.string(),
  Threshold: v.number(),
  TreatMissingData: v.string(),
});

const runbook = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'runbook.md'), 'utf8');
/** Anchors as a Markdown viewer makes them of headings. */
const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-'),
);
const sectionOf = (description: string): string => /#([\w-]+)$/.exec(description)?.[1] ?? '';

describe.each([dev, prod])('the alarms of $name', (stage) => {
  const { ofType, referenced, resources } = synthesize(stage);
  const alarms = ofType('AWS::CloudWatch::Alarm', alarmSchema);
  const topic = resources.find(({ type }) => type === 'AWS::SNS::Topic')?.id;
  const watching = (metric: string, id: string) =>
    alarms.filter(
      ({ properties: { MetricName, Dimensions } }) =>
        MetricName === metric && Dimensions.some(({ Value }) => JSON.stringify(Value).includes(`"${id}"`)),
    );

  it.each(alarms)('$id says how bad it is, what to do, and which section of the runbook helps', ({ properties }) => {
    expect(properties.AlarmDescription).toMatch(/^\[(?:page|ticket)\] .{20,}: .{20,}\. docs\/runbook\.md#[a-z-]+$/);
    expect(sections).toContain(sectionOf(properties.AlarmDescription));
  });

  it.each(alarms)('$id tells the topic when it begins and when it ends', ({ properties }) => {
    expect(referenced(properties.AlarmActions[0])).toBe(topic);
    expect(referenced(properties.OKActions[0])).toBe(topic);
  });

  it('take silence for health, except that of the reconciler, which never rests', () => {
    const breaching = alarms.filter(({ properties }) => properties.TreatMissingData !== 'notBreaching');
    expect(breaching.map(({ properties }) => [properties.AlarmName, properties.TreatMissingData])).toEqual([
      [`sluice-${stage.name}-pipeline/Reconciliation/NotRunning`, 'breaching'],
    ]);
  });

  it('are named by their place', () => {
    expect(new Set(alarms.map(({ properties }) => properties.AlarmName)).size).toBe(alarms.length);
    for (const { properties } of alarms) expect(properties.AlarmName).toMatch(`sluice-${stage.name}-pipeline/`);
  });

  it('watch every queue for its age and every dead-letter queue for what is in it', () => {
    for (const { id } of resources.filter(({ type }) => type === 'AWS::SQS::Queue')) {
      if (/Dlq\w{8}$/.test(id)) {
        const [depth] = watching('ApproximateNumberOfMessagesVisible', id);
        expect(depth?.properties).toMatchObject({
          Statistic: 'Maximum',
          Threshold: 0,
          ComparisonOperator: 'GreaterThanThreshold',
        });
        const [age] = watching('ApproximateAgeOfOldestMessage', id);
        expect(age?.properties.Threshold).toBeLessThan(14 * 86_400);
      } else {
        const [age] = watching('ApproximateAgeOfOldestMessage', id);
        expect(age?.properties.Threshold).toBe(stage.contractAgeSeconds);
      }
    }
  });

  it('watch every function for errors and throttles', () => {
    const functions = resources.filter(({ type }) => type === 'AWS::Lambda::Function');
    expect(functions).toHaveLength(9);
    for (const { id } of functions) {
      expect(watching('Errors', id)).toHaveLength(1);
      expect(watching('Throttles', id)).toHaveLength(1);
    }
  });

  it('notice within minutes that the reconciler stopped or the API fails', () => {
    const seconds = (name: string) => {
      const alarm = alarms.find(({ properties }) => properties.AlarmName.endsWith(name))?.properties;
      return (alarm?.Period ?? Infinity) * (alarm?.EvaluationPeriods ?? Infinity);
    };
    expect(seconds('Reconciliation/NotRunning')).toBe(300);
    expect(seconds('Api/ServerErrors')).toBe(300);
  });
});

it('every section about an alarm is one that an alarm leads to', () => {
  const used = synthesize(prod)
    .ofType('AWS::CloudWatch::Alarm', alarmSchema)
    .map(({ properties }) => sectionOf(properties.AlarmDescription));
  const about = [...runbook.matchAll(/^## (.+)\n\n_Alarms: /gm)].map(([, heading = '']) =>
    heading.toLowerCase().replaceAll(' ', '-'),
  );
  expect(about.sort()).toEqual([...new Set(used)].sort());
});
