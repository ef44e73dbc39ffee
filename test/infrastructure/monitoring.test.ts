import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { DependencyMisconfiguredError, SluiceError } from '../../lambdas/domain/errors.ts';
import type { DomainEvent } from '../../lambdas/domain/telemetry.ts';
import { createTelemetry } from '../../lambdas/runtime/telemetry.ts';
import { metricSeries, monitoringCost, MONITORING_CAP_USD } from '../../lib/constructs/metrics.ts';
import { SAVED_QUERIES } from '../../lib/constructs/saved-queries.ts';
import { isEmittedIn, type MetricKey } from './known-metrics.ts';
import { synthesize, type Synthesized } from './synthesized.ts';

const bodySchema = v.object({ DashboardBody: v.unknown(), DashboardName: v.string() });
const joinSchema = v.object({ 'Fn::Join': v.tuple([v.literal(''), v.array(v.unknown())]) });
const widgetSchema = v.looseObject({
  type: v.string(),
  width: v.number(),
  properties: v.looseObject({
    title: v.optional(v.string()),
    markdown: v.optional(v.string()),
    query: v.optional(v.string()),
    metrics: v.optional(v.array(v.array(v.unknown())), []),
  }),
});
const dashboardSchema = v.object({ widgets: v.array(widgetSchema) });

/** The widgets, with what CloudFormation fills in left as the id of the resource. */
function widgetsOf({ ofType }: Synthesized) {
  const [dashboard] = ofType('AWS::CloudWatch::Dashboard', bodySchema);
  const parts = v.parse(joinSchema, dashboard?.properties.DashboardBody)['Fn::Join'][1];
  const text = parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part).replaceAll(/[^\w]/g, '')));
  return v.parse(dashboardSchema, JSON.parse(text.join(''))).widgets;
}

/** `[namespace, name, dimension, value, …, options]`; expressions are `[options]`. */
function metricOf(entry: readonly unknown[]): MetricKey[] {
  const words = entry.filter((word) => typeof word === 'string');
  const [namespace, name, ...dimensions] = words;
  if (namespace === undefined || name === undefined) return [];
  const pairs = dimensions.flatMap((word, index) => (index % 2 === 0 ? [[word, dimensions[index + 1]]] : []));
  return [{ namespace, name, dimensions: Object.fromEntries(pairs) }];
}

describe.each([dev, prod])('the dashboard of $name', (stage) => {
  const synthesized = synthesize(stage);
  const widgets = widgetsOf(synthesized);

  it('answers five questions, in the order in which people ask', () => {
    const headings = widgets.flatMap(({ properties: { markdown = '' } }) => /^# (.+)$/m.exec(markdown)?.slice(1) ?? []);
    expect(headings).toEqual([
      'Are the promises kept?',
      'Where is the backlog?',
      'What is failing, and why?',
      'What do the providers do?',
      'What does it cost?',
    ]);
  });

  it('shows only metrics that a function or a service emits, under those very dimensions', () => {
    const metrics = widgets.flatMap(({ properties }) => properties.metrics.flatMap(metricOf));
    expect(metrics.length).toBeGreaterThan(100);
    expect(metrics.filter((metric) => !isEmittedIn(stage)(metric))).toEqual([]);
  });

  it('shows every alarm that pages', () => {
    const alarms = widgets.find(({ type }) => type === 'alarm');
    const paging = synthesized
      .ofType('AWS::CloudWatch::Alarm', v.object({ AlarmDescription: v.string() }))
      .filter(({ properties }) => properties.AlarmDescription.startsWith('[page]'));
    for (const { id } of paging) expect(JSON.stringify(alarms)).toContain(id);
  });

  it('shows every function and every queue', () => {
    const text = JSON.stringify(widgets);
    const shown = synthesized.resources.filter(({ type }) => /^AWS::(?:Lambda::Function|SQS::Queue)$/.test(type));
    expect(shown).toHaveLength(12 + 12);
    expect(shown.filter(({ id }) => !text.includes(id))).toEqual([]);
  });
});

describe('what it costs to watch a stage', () => {
  const alarmSchema = v.object({
    Metrics: v.optional(v.array(v.looseObject({ MetricStat: v.optional(v.unknown()) }))),
  });

  it.each([dev, prod])('stays below the cap in $name, and is told on the dashboard', (stage) => {
    const synthesized = synthesize(stage);
    const alarmMetrics = synthesized
      .ofType('AWS::CloudWatch::Alarm', alarmSchema)
      .reduce((sum, { properties: { Metrics } }) => sum + (Metrics?.filter((each) => each.MetricStat).length ?? 1), 0);
    const cost = monitoringCost(stage.name, ['company', 'geo'], alarmMetrics);
    expect(cost.usdPerMonth).toBeLessThan(MONITORING_CAP_USD);
    const told = `at most ${cost.usdPerMonth} dollars a month: ${cost.series} metrics, ${alarmMetrics} metrics in alarms`;
    expect(JSON.stringify(widgetsOf(synthesized))).toContain(told);
    expect(toldInDocs).toEqual({ series: cost.series, usdPerMonth: cost.usdPerMonth });
  });

  it('grows with lanes and providers only: no dimension has values that customers make', () => {
    const one = metricSeries('test', ['a']);
    const two = metricSeries('test', ['a', 'b']);
    const names = new Set(two.flatMap(({ dimensions }) => Object.keys(dimensions)));
    expect([...names].sort((a, b) => a.localeCompare(b))).toEqual(['lane', 'provider', 'service', 'stage']);
    expect(two.length - one.length).toBe(one.filter(({ dimensions }) => 'provider' in dimensions).length);
    expect(new Set(two.map((series) => JSON.stringify(series))).size).toBe(two.length);
  });
});

const docs = join(import.meta.dirname, '..', '..', 'docs');
const [, series, usdPerMonth] =
  /(\d+) series[^$]*at most \$([\d.]+) a\s+month/.exec(readFileSync(join(docs, 'architecture.md'), 'utf8')) ?? [];
const toldInDocs = { series: Number(series), usdPerMonth: Number(usdPerMonth) };
const runbook = readFileSync(join(docs, 'runbook.md'), 'utf8');

/** Every field that an event may have, so that a line of it has all fields that lines of functions can have. */
const FULL: Required<DomainEvent> = {
  name: 'unexpected_error',
  level: 'error',
  submissionId: 'sub_1',
  tenantId: 'acme',
  recordNo: 1,
  attempt: 1,
  generation: 0,
  lane: 'small',
  provider: 'geo',
  outcome: 'failed',
  reason: 'invalid_record',
  detail: 'A detail.',
  count: 1,
  durationMs: 1,
  ageMs: 1,
  error: new SluiceError('Ours.', { cause: Object.assign(new Error('Theirs.'), { code: 'E' }) }),
};

/** Paths of the fields of a line, with dots as Logs Insights writes them. */
const pathsOf = (value: unknown, prefix = ''): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [`${prefix}${key}`, ...pathsOf(inner, `${prefix}${key}.`)])
    : [];

function fieldsOfFunctions(): string[] {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    jest.spyOn(stream, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  }
  const telemetry = createTelemetry({ service: 'worker', stage: 'test', namespace: 'Sluice', logLevel: 'INFO' });
  telemetry.begin({ awsRequestId: 'request-1' });
  telemetry.emit({ ...FULL, error: Object.assign(FULL.error as Error, { code: 'E' }) });
  const refused = { action: 's3:GetObject', resource: 'bucket/key' };
  telemetry.emit({ ...FULL, error: new DependencyMisconfiguredError('Denied.', refused) });
  jest.restoreAllMocks();
  return lines.filter((line) => line.startsWith('{')).flatMap((line) => pathsOf(JSON.parse(line)));
}

const accessLogSchema = v.object({ AccessLogSetting: v.object({ Format: v.pipe(v.string(), v.parseJson()) }) });
const fieldsOfApi = (): string[] =>
  synthesize(prod)
    .ofType('AWS::ApiGateway::Stage', accessLogSchema)
    .flatMap(({ properties }) => pathsOf(properties.AccessLogSetting.Format));

/** Commands, functions and words of the language, https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html */
const LANGUAGE = new Set(
  'fields filter stats sort limit by as and or not in like asc desc count sum min max avg pct bin ispresent'.split(' '),
);

/** Names in a query that are neither of the language, nor values, nor defined by the query itself. */
function fieldsIn(query: string): string[] {
  const bare = query.replaceAll(/"[^"]*"|\/[^/]*\/|(?<![.\w])\d+\w*/g, ' ');
  const defined = new Set([...bare.matchAll(/\bas (\w+)/g)].map(([, name]) => name));
  return [...bare.matchAll(/[@a-zA-Z][\w.]*/g)]
    .map(([name]) => name)
    .filter((name) => !LANGUAGE.has(name) && !defined.has(name));
}

/** What CloudWatch adds to every line, and to Lambda's reports. */
const DISCOVERED = ['@timestamp', '@message', '@log', '@type', '@duration'];

describe('queries', () => {
  const known = {
    functions: new Set([...fieldsOfFunctions(), ...DISCOVERED]),
    api: new Set([...fieldsOfApi(), ...DISCOVERED]),
  };
  const asked = [...runbook.matchAll(/\bask '([^']+)'/g)].map(([, query = '']) => query);

  it.each(SAVED_QUERIES)('"$name" names fields that its lines have', ({ query, logs }) => {
    expect(fieldsIn(query)).not.toEqual([]);
    expect(fieldsIn(query).filter((field) => !known[logs].has(field))).toEqual([]);
  });

  it('of the runbook name fields that lines have', () => {
    expect(asked.length).toBeGreaterThan(20);
    const unknown = asked.flatMap(fieldsIn).filter((field) => !known.functions.has(field) && !known.api.has(field));
    expect(unknown).toEqual([]);
  });

  it('name events that functions emit', () => {
    const ports = readFileSync(join(docs, '..', 'lambdas', 'domain', 'telemetry.ts'), 'utf8');
    const events = new Set([...ports.matchAll(/\| '(\w+)'/g)].map(([, name]) => name));
    const named = [...SAVED_QUERIES.map(({ query }) => query), ...asked].flatMap((query) =>
      [...query.matchAll(/message (?:= |in \[)((?:"\w+"(?:, )?)+)/g)].flatMap(
        ([, list = '']) => list.match(/\w+/g) ?? [],
      ),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((name) => !events.has(name))).toEqual([]);
  });

  it('are saved for the logs that they ask', () => {
    const definitions = synthesize(prod).ofType(
      'AWS::Logs::QueryDefinition',
      v.object({ Name: v.string(), QueryString: v.string(), LogGroupNames: v.array(v.unknown()) }),
    );
    expect(definitions.map(({ properties }) => properties.Name)).toEqual(
      SAVED_QUERIES.map(({ name }) => `sluice-prod/${name}`),
    );
    for (const { properties } of definitions) {
      expect(properties.LogGroupNames).toHaveLength(properties.Name.endsWith('of the API') ? 1 : 12);
    }
  });
});
