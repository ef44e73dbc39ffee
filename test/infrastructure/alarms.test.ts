import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { clearableRecords, providersOf } from '../../config/stage.ts';
import { isEmittedIn, type MetricKey } from './known-metrics.ts';
import { synthesize } from './synthesized.ts';

const dimensionsSchema = v.pipe(
  v.optional(v.array(v.object({ Name: v.string(), Value: v.unknown() })), []),
  v.transform((list) => Object.fromEntries(list.map(({ Name, Value }) => [Name, Value]))),
);
const metricSchema = v.pipe(
  v.object({ Namespace: v.string(), MetricName: v.string(), Dimensions: dimensionsSchema }),
  v.transform(({ Namespace, MetricName, Dimensions }): MetricKey => ({
    namespace: Namespace,
    name: MetricName,
    dimensions: Dimensions,
  })),
);
const shared = {
  AlarmName: v.string(),
  AlarmDescription: v.string(),
  AlarmActions: v.tuple([v.unknown()]),
  OKActions: v.tuple([v.unknown()]),
};
const watch = {
  ...shared,
  ComparisonOperator: v.string(),
  DatapointsToAlarm: v.number(),
  EvaluationPeriods: v.number(),
  Threshold: v.number(),
  TreatMissingData: v.picklist(['breaching', 'notBreaching']),
};
/** An alarm on one metric or on an expression: either way, what it looks at and how often. */
const alarmSchema = v.union([
  v.pipe(
    v.object({
      ...watch,
      MetricName: v.string(),
      Namespace: v.string(),
      Dimensions: dimensionsSchema,
      Period: v.number(),
      Statistic: v.optional(v.string()),
      ExtendedStatistic: v.optional(v.string()),
    }),
    v.transform(({ MetricName, Namespace, Dimensions, ...alarm }) => ({
      ...alarm,
      Expression: undefined,
      metrics: [{ namespace: Namespace, name: MetricName, dimensions: Dimensions }] as MetricKey[],
    })),
  ),
  v.pipe(
    v.object({
      ...watch,
      Metrics: v.array(
        v.union([
          v.object({ Id: v.string(), Expression: v.string(), ReturnData: v.optional(v.boolean(), true) }),
          v.object({
            Id: v.string(),
            MetricStat: v.object({ Metric: metricSchema, Period: v.number(), Stat: v.string() }),
            ReturnData: v.literal(false),
          }),
        ]),
      ),
    }),
    v.transform(({ Metrics, ...alarm }) => ({
      ...alarm,
      Expression: Metrics.flatMap((entry) => ('Expression' in entry ? [entry.Expression] : [])).join('; '),
      Period: Math.max(...Metrics.flatMap((entry) => ('MetricStat' in entry ? [entry.MetricStat.Period] : []))),
      metrics: Metrics.flatMap((entry) => ('MetricStat' in entry ? [entry.MetricStat.Metric] : [])),
    })),
  ),
]);
const compositeSchema = v.object({ ...shared, AlarmRule: v.unknown() });

const runbook = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'runbook.md'), 'utf8');
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
/** Sections by their anchors, as a Markdown viewer makes them of headings. */
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [anchorOf(section.slice(0, section.indexOf('\n'))), section]),
);
const sectionOf = (description: string): string => /#([\w-]+)$/.exec(description)?.[1] ?? '';

describe.each([dev, prod])('the alarms of $name', (stage) => {
  const { ofType, referenced, resources } = synthesize(stage);
  const alarms = ofType('AWS::CloudWatch::Alarm', alarmSchema);
  const composites = ofType('AWS::CloudWatch::CompositeAlarm', compositeSchema);
  const all = [...alarms, ...composites];
  const topic = resources.find(({ type }) => type === 'AWS::SNS::Topic')?.id;
  const prefix = `sluice-${stage.name}-pipeline/`;
  const named = (name: string) => {
    const found = alarms.find(({ properties }) => properties.AlarmName === `${prefix}${name}`)?.properties;
    if (found === undefined) throw new Error(`There is no alarm ${name}.`);
    return found;
  };
  const watching = (metric: string, id: string) =>
    alarms.filter(
      ({ properties: { metrics } }) =>
        metrics.length === 1 &&
        metrics.every(
          ({ name, dimensions }) => name === metric && JSON.stringify(Object.values(dimensions)).includes(`"${id}"`),
        ),
    );

  it.each(all)('$id says how bad it is, what to do, and which section of the runbook helps', ({ properties }) => {
    const [text = '', section] = properties.AlarmDescription.split(` ${stage.alarms.runbookUrl}#`);
    expect(text).toMatch(/^\[(?:page|ticket)\] .{20,}: .{20,}\.$/);
    expect(section).toMatch(/^[a-z-]+$/);
    expect([...sections.keys()]).toContain(sectionOf(properties.AlarmDescription));
  });

  it.each(all)('$id tells the topic when it begins and when it ends', ({ properties }) => {
    expect(referenced(properties.AlarmActions[0])).toBe(topic);
    expect(referenced(properties.OKActions[0])).toBe(topic);
  });

  it.each(alarms)('$id watches what is really emitted, under those very dimensions', ({ properties: { metrics } }) => {
    expect(metrics).not.toEqual([]);
    expect(metrics.filter((metric) => !isEmittedIn(stage)(metric))).toEqual([]);
  });

  it('take silence for health, except that of the reconciler, which never rests', () => {
    const breaching = alarms.filter(({ properties }) => properties.TreatMissingData === 'breaching');
    expect(breaching.map(({ properties }) => properties.AlarmName)).toEqual([`${prefix}Reconciliation/NotRunning`]);
  });

  it('are named by their place', () => {
    expect(new Set(all.map(({ properties }) => properties.AlarmName)).size).toBe(all.length);
    for (const { properties } of all) expect(properties.AlarmName.startsWith(prefix)).toBe(true);
  });

  it('ring two days before a dead letter may expire, by what the reconciler measures', () => {
    const expiring = alarms.filter(({ properties }) => properties.AlarmName.endsWith('/DeadLettersExpiring'));
    expect(expiring.flatMap(({ properties }) => properties.metrics.map(({ name }) => name)).toSorted()).toEqual([
      'DeadLettersAge',
      'DeadLettersAge',
      'FanOutDeadLettersAge',
      'FinalizationDeadLettersAge',
      'PrepareDeadLettersAge',
      'WebhookDeadLettersAge',
    ]);
    // Ages count from the move, expiry from the sending: two days are left even to what had waited for as long as it could.
    for (const { properties } of expiring)
      expect(properties.Threshold).toBe((14 - stage.queueRetentionDays - 2) * 86_400_000);
  });

  it('watch every queue for its age and what is in flight, and every dead-letter queue for what is in it', () => {
    for (const { id } of resources.filter(({ type }) => type === 'AWS::SQS::Queue')) {
      if (/Dlq\w{8}$/.test(id)) {
        const [depth] = watching('ApproximateNumberOfMessagesVisible', id);
        expect(depth?.properties).toMatchObject({
          Statistic: 'Maximum',
          Threshold: 0,
          ComparisonOperator: 'GreaterThanThreshold',
        });
      } else {
        const [age] = watching('ApproximateAgeOfOldestMessage', id);
        const { small, bulk } = stage.contractAgeSeconds;
        const promised = id.startsWith('Webhooks') ? 1_800 : small;
        expect(age?.properties.Threshold).toBe(id.startsWith('BulkLane') ? bulk : promised);
        expect(watching('ApproximateNumberOfMessagesNotVisible', id)[0]?.properties.Threshold).toBe(96_000);
      }
    }
  });

  it('watch every function for errors, throttles and its timeout', () => {
    const functions = resources.filter(({ type }) => type === 'AWS::Lambda::Function');
    expect(functions).toHaveLength(12);
    for (const { id, properties } of functions) {
      expect(watching('Errors', id)).toHaveLength(1);
      expect(watching('Throttles', id)).toHaveLength(1);
      const near = watching('Duration', id).map((alarm) => alarm.properties.Threshold);
      // A redrive goes on for as long as it may.
      expect(near).toEqual(id.startsWith('Redrive') ? [] : [Number(properties['Timeout']) * 900]);
    }
  });

  it('watch what functions catch by themselves, of every function that counts it', () => {
    const watched = (name: string) =>
      alarms.flatMap(({ properties: { metrics } }) =>
        metrics.filter((metric) => metric.name === name).map(({ dimensions }) => dimensions['service']),
      );
    const functions = [
      'fan-out',
      'finalizer',
      'prepare',
      'preview',
      'reconciler',
      'redrive',
      'status',
      'submit',
      'webhooks',
    ];
    expect(watched('UnexpectedErrors')).toEqual(expect.arrayContaining(functions));
    expect(watched('DependencyFailures')).toEqual(expect.arrayContaining(functions));
    expect(watched('Misconfigurations')).toEqual(expect.arrayContaining(functions));
    expect(watched('WorkerMisconfigurations')).toEqual(['worker', 'worker']);
    expect(watched('WorkerErrors')).toEqual(['worker', 'worker']);
    expect(watched('WorkerDependencyFailures')).toEqual(['worker', 'worker']);
  });

  it('watch each lane by its own promise: by the ledger, by what finishes, and by what can be cleared', () => {
    for (const lane of ['small', 'bulk'] as const) {
      const place = lane === 'small' ? 'SmallLane' : 'BulkLane';
      expect(named(`${place}/OldestUnfinished`).Threshold).toBe(stage.contractAgeSeconds[lane] * 1_000);
      const backlog = named(`${place}/Backlog`);
      expect(backlog.Threshold).toBe(clearableRecords(stage)[lane]);
      expect(backlog.metrics.map(({ name }) => name).sort()).toEqual([
        'ApproximateNumberOfMessagesDelayed',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesVisible',
      ]);
      const standing = named(`${place}/NothingFinishes`);
      expect(standing.Expression).toBe(
        'IF(visible + delayed > 0 AND FILL(finished, 0) == 0 AND FILL(troubled, 0) == 0, 1, 0)',
      );
      // Before the promise is broken.
      expect(standing.EvaluationPeriods * standing.Period).toBeLessThanOrEqual(stage.contractAgeSeconds[lane]);
    }
  });

  it('stay silent while a burst of 40,000 records is worked off, and with the largest file', () => {
    const { small, bulk } = clearableRecords(stage);
    expect(small).toBeGreaterThan(40_000);
    expect(bulk).toBeGreaterThan(stage.limits.maxRecords);
  });

  it('watch every provider for its breaker, its limit and our credential', () => {
    for (const { name } of providersOf(stage)) {
      const place = `Providers/${name}`;
      expect(named(`${place}/BreakerOpen`)).toMatchObject({
        Expression: 'open + blocked',
        metrics: [{ name: 'ProviderBreakerOpen' }, { name: 'ProviderBlocked' }],
      });
      expect(named(`${place}/CallsThrottled`).metrics[0]).toMatchObject({ name: 'ProviderCallsThrottled' });
      expect(named(`${place}/PaceLowered`).metrics[0]).toMatchObject({ name: 'ProviderGrantedRate' });
      expect(named(`${place}/CanaryRefused`).metrics[0]).toMatchObject({ name: 'ProviderCanaryDistrusted' });
      expect(named(`${place}/CredentialRefused`).metrics[0]).toMatchObject({ name: 'ProviderCredentialsRefused' });
    }
  });

  it('watch what the reconciler finds', () => {
    expect(named('FanOut/Stalled').metrics[0]?.name).toBe('StalledFanOuts');
    expect(named('Submission/OutboxWaits').metrics[0]?.name).toBe('OutboxAge');
    const { metrics } = named('Reconciliation/Unconserved');
    expect(metrics.map(({ name, dimensions }) => [name, dimensions['service']])).toEqual([
      ['ConservationDifference', 'reconciler'],
      ['ConservationDifference', 'finalizer'],
    ]);
    expect(named('Reconciliation/Unconserved')).toMatchObject({
      Threshold: 0,
      ComparisonOperator: 'GreaterThanThreshold',
    });
  });

  it('notice within minutes that the reconciler stopped or the API fails', () => {
    const seconds = (name: string) => named(name).Period * named(name).EvaluationPeriods;
    expect(seconds('Reconciliation/NotRunning')).toBe(300);
    expect(seconds('Api/ServerErrors')).toBe(300);
    expect(seconds('Api/SlowAnswers')).toBe(900);
  });

  it('ring as soon, and as loudly, as the runbook says', () => {
    const rows = [...runbook.matchAll(/^\| `(\w+)` +\| (page|ticket) +\| (\d+) /gm)];
    const told = new Map(rows.map(([, name = '', severity, minutes]) => [name, `${severity} ${minutes}`]));
    const actual = alarms.map(({ properties: alarm }) => {
      const severity = /^\[(\w+)\]/.exec(alarm.AlarmDescription)?.[1];
      const minutes = (alarm.Period * alarm.DatapointsToAlarm) / 60;
      return [alarm.AlarmName.split('/').at(-1) ?? '', `${severity} ${minutes}`] as const;
    });
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(actual));
    expect(new Set(actual.map((each) => each.join())).size).toBe(told.size);
  });

  it('that page ring one alarm together, and no ticket does', () => {
    expect(composites.map(({ properties }) => properties.AlarmName)).toEqual([`${prefix}Page`]);
    const rule = JSON.stringify(composites[0]?.properties.AlarmRule);
    const inRule = (id: string): boolean => rule.includes(`"${id}"`);
    const severe = alarms.filter(({ properties }) => properties.AlarmDescription.startsWith('[page]'));
    expect(severe.length).toBeGreaterThan(10);
    expect(alarms.filter(({ id }) => inRule(id))).toEqual(severe);
    // The longest rule that the service takes, https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
    const ruleLength = severe.reduce((sum, { properties }) => sum + properties.AlarmName.length + 80, 0);
    expect(ruleLength).toBeLessThan(10_240);
    expect(severe.length).toBeLessThanOrEqual(100);
  });
});

describe('the runbook', () => {
  const { ofType } = synthesize(prod);
  const leadingTo = new Set(
    [
      ...ofType('AWS::CloudWatch::Alarm', alarmSchema),
      ...ofType('AWS::CloudWatch::CompositeAlarm', compositeSchema),
    ].map(({ properties }) => sectionOf(properties.AlarmDescription)),
  );
  const aboutAlarms = [...sections].filter(([, text]) => /^_Alarms?: /m.test(text));

  it('has a section for every alarm, and every section about an alarm is one that an alarm leads to', () => {
    expect(aboutAlarms.map(([anchor]) => anchor).sort()).toEqual([...leadingTo].sort());
  });

  it.each(aboutAlarms)('says in "%s" all that somebody needs at night', (_anchor, text) => {
    const parts = [...text.matchAll(/^\*\*(\w[\w, ]+?)\.?\*\*/gm)].flatMap(([, part = '']) =>
      part.toLowerCase().split(', '),
    );
    expect(parts).toEqual(expect.arrayContaining(['means', 'look', 'fix', 'verify', 'escalate', 'false alarm']));
  });

  it('links only to sections that there are', () => {
    const links = [...runbook.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor ?? '');
    expect(links.filter((anchor) => !sections.has(anchor))).toEqual([]);
  });
});
