import * as v from 'valibot';
import type { DeployedResource } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import type { MetricId } from '../metrics/store.ts';
import { parseMath, type MathNode } from './math/parse.ts';
import { parseRule, type Rule } from './rule.ts';
import { parseStatistic, type Statistic } from './statistics.ts';

export const ALARM_STATES = ['OK', 'ALARM', 'INSUFFICIENT_DATA'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

export type MissingData = 'missing' | 'ignore' | 'breaching' | 'notBreaching';

interface AlarmCommon {
  readonly name: string;
  readonly arn: string;
  /** Place in the stacks, such as `Orders/DeadLetters`. */
  readonly place: string;
  readonly description: string;
  readonly actionsEnabled: boolean;
  /** ARNs of topics, by the state that the alarm goes to. */
  readonly actions: Readonly<Record<AlarmState, readonly string[]>>;
}

/** A metric, or an expression over metrics. */
export type Query =
  | { readonly id: string; readonly kind: 'metric'; readonly metric: MetricId; readonly statistic: Statistic }
  | { readonly id: string; readonly kind: 'math'; readonly text: string; readonly expression: MathNode };

export const COMPARISONS = [
  'GreaterThanOrEqualToThreshold',
  'GreaterThanThreshold',
  'LessThanThreshold',
  'LessThanOrEqualToThreshold',
] as const;
export type Comparison = (typeof COMPARISONS)[number];

export interface MetricAlarm extends AlarmCommon {
  readonly kind: 'metric';
  readonly queries: readonly Query[];
  /** The query whose values are held against the threshold. */
  readonly watched: Query;
  readonly periodSeconds: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly comparison: Comparison;
  readonly threshold: number;
  readonly missingData: MissingData;
}

export interface CompositeAlarm extends AlarmCommon {
  readonly kind: 'composite';
  readonly ruleText: string;
  readonly rule: Rule;
}

export type AlarmDefinition = MetricAlarm | CompositeAlarm;

const actions = v.optional(v.array(v.string()), []);
const common = {
  AlarmName: v.optional(v.string()),
  AlarmDescription: v.optional(v.string(), ''),
  ActionsEnabled: v.optional(v.boolean(), true),
  AlarmActions: actions,
  OKActions: actions,
  InsufficientDataActions: actions,
};
const dimensions = v.optional(v.array(v.object({ Name: v.string(), Value: v.string() })), []);
const count = v.pipe(v.number(), v.integer(), v.minValue(1));
/** Alarms of less than a minute need metrics of less than a minute, which nothing here emits. */
const period = v.pipe(count, v.multipleOf(60));

const querySchema = v.strictObject({
  Id: v.string(),
  Label: v.optional(v.string()),
  ReturnData: v.optional(v.boolean(), true),
  Expression: v.optional(v.string()),
  Period: v.optional(period),
  MetricStat: v.optional(
    v.strictObject({
      Metric: v.strictObject({ Namespace: v.string(), MetricName: v.string(), Dimensions: dimensions }),
      Period: period,
      Stat: v.string(),
    }),
  ),
});

const metricAlarmSchema = v.strictObject({
  ...common,
  ComparisonOperator: v.picklist(COMPARISONS),
  Threshold: v.number(),
  EvaluationPeriods: count,
  DatapointsToAlarm: v.optional(count),
  TreatMissingData: v.optional(v.picklist(['missing', 'ignore', 'breaching', 'notBreaching']), 'missing'),
  Namespace: v.optional(v.string()),
  MetricName: v.optional(v.string()),
  Dimensions: dimensions,
  Period: v.optional(period),
  Statistic: v.optional(v.string()),
  ExtendedStatistic: v.optional(v.string()),
  Metrics: v.optional(v.array(querySchema)),
  Tags: v.optional(v.unknown()),
});
type MetricProperties = v.InferOutput<typeof metricAlarmSchema>;

const compositeAlarmSchema = v.strictObject({ ...common, AlarmRule: v.string(), Tags: v.optional(v.unknown()) });

/**
 * Reads the alarms of the templates.
 *
 * @throws LocalCloudError naming the alarm and what about it the local cloud does not know
 */
export function readAlarms(resources: readonly DeployedResource[]): AlarmDefinition[] {
  return resources.flatMap((resource): AlarmDefinition[] => {
    try {
      if (resource.type === 'AWS::CloudWatch::Alarm') return [metricAlarm(resource)];
      if (resource.type === 'AWS::CloudWatch::CompositeAlarm') return [compositeAlarm(resource)];
      return [];
    } catch (error) {
      if (!(error instanceof LocalCloudError)) throw error;
      throw new LocalCloudError(`${resource.path} (${resource.type}): ${error.message}`, { cause: error });
    }
  });
}

function metricAlarm(resource: DeployedResource): MetricAlarm {
  const properties = parse(metricAlarmSchema, resource);
  const { queries, watched, periodSeconds } = properties.Metrics ? mathOf(properties.Metrics) : metricOf(properties);
  const { EvaluationPeriods: evaluationPeriods, DatapointsToAlarm: datapointsToAlarm = evaluationPeriods } = properties;
  if (datapointsToAlarm > evaluationPeriods) {
    throw new LocalCloudError(`${datapointsToAlarm} datapoints cannot be bad within ${evaluationPeriods} periods.`);
  }
  return {
    kind: 'metric',
    ...commonOf(resource, properties),
    queries,
    watched,
    periodSeconds,
    evaluationPeriods,
    datapointsToAlarm,
    comparison: properties.ComparisonOperator,
    threshold: properties.Threshold,
    missingData: properties.TreatMissingData,
  };
}

function compositeAlarm(resource: DeployedResource): CompositeAlarm {
  const properties = parse(compositeAlarmSchema, resource);
  const { AlarmRule: ruleText } = properties;
  return { kind: 'composite', ...commonOf(resource, properties), ruleText, rule: parseRule(ruleText) };
}

function commonOf(
  { arn, path, physicalId, stack }: DeployedResource,
  properties: Omit<v.InferOutput<typeof compositeAlarmSchema>, 'AlarmRule' | 'Tags'>,
): AlarmCommon {
  return {
    name: properties.AlarmName ?? physicalId,
    arn,
    place: path.replace(`${stack}/`, '').replace(/\/Resource$/, ''),
    description: properties.AlarmDescription,
    actionsEnabled: properties.ActionsEnabled,
    actions: {
      ALARM: properties.AlarmActions,
      OK: properties.OKActions,
      INSUFFICIENT_DATA: properties.InsufficientDataActions,
    },
  };
}

type Watched = Pick<MetricAlarm, 'queries' | 'watched' | 'periodSeconds'>;

function metricOf(properties: MetricProperties): Watched {
  const { Namespace, MetricName, Dimensions, Period, Statistic, ExtendedStatistic } = properties;
  const statistic = Statistic ?? ExtendedStatistic;
  if (Namespace === undefined || MetricName === undefined || Period === undefined || statistic === undefined) {
    throw new LocalCloudError('it names neither a whole metric (namespace, name, period, statistic) nor queries.');
  }
  const metric = { namespace: Namespace, name: MetricName, dimensions: dimensionsOf(Dimensions) };
  const watched: Query = { id: 'm1', kind: 'metric', metric, statistic: parseStatistic(statistic) };
  return { queries: [watched], watched, periodSeconds: Period };
}

function mathOf(metrics: readonly v.InferOutput<typeof querySchema>[]): Watched {
  const periods = new Set(metrics.flatMap(({ Period, MetricStat }) => MetricStat?.Period ?? Period ?? []));
  const [periodSeconds] = periods;
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html
  if (periodSeconds === undefined || periods.size > 1) {
    throw new LocalCloudError(`all metrics of an expression must have one period, not ${[...periods].join(', ')} s.`);
  }
  const queries = metrics.map((query) => queryOf(query));
  const returned = metrics.filter(({ ReturnData }) => ReturnData).map(({ Id }) => Id);
  const watched = queries.find(({ id }) => id === returned[0]);
  if (watched !== undefined && returned.length === 1) return { queries, watched, periodSeconds };
  throw new LocalCloudError(`one query must return data, but ${returned.length} do: ${returned.join(', ')}.`);
}

function queryOf({ Id: id, Expression, MetricStat }: v.InferOutput<typeof querySchema>): Query {
  if (Expression !== undefined) return { id, kind: 'math', text: Expression, expression: parseMath(Expression) };
  if (MetricStat === undefined) throw new LocalCloudError(`the query ${id} has neither an expression nor a metric.`);
  const { Namespace: namespace, MetricName: name, Dimensions } = MetricStat.Metric;
  const metric = { namespace, name, dimensions: dimensionsOf(Dimensions) };
  return { id, kind: 'metric', metric, statistic: parseStatistic(MetricStat.Stat) };
}

const dimensionsOf = (list: v.InferOutput<typeof dimensions>): Record<string, string> =>
  Object.fromEntries(list.map(({ Name, Value }) => [Name, Value]));

function parse<S extends v.GenericSchema>(schema: S, { properties }: DeployedResource): v.InferOutput<S> {
  const parsed = v.safeParse(schema, properties);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new LocalCloudError(`${v.getDotPath(issue) ?? 'it'}: ${issue.message}.`);
}
