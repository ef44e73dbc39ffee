import * as v from 'valibot';
import type { Dimensions } from './store.ts';

/** One value of one metric under one set of dimensions. */
export interface EmfValue {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Dimensions;
  readonly value: number;
  readonly unit: string | undefined;
  readonly atMs: number;
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
const documentSchema = v.looseObject({
  _aws: v.object({
    Timestamp: v.number(),
    CloudWatchMetrics: v.array(
      v.object({
        Namespace: v.string(),
        Dimensions: v.array(v.array(v.string())),
        Metrics: v.array(v.object({ Name: v.string(), Unit: v.optional(v.string()) })),
      }),
    ),
  }),
});

/** The metric values in a line of a log; none when the line is not in the embedded metric format. */
export function readEmf(line: string): EmfValue[] {
  if (!line.includes('"CloudWatchMetrics"')) return [];
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), documentSchema), line);
  if (!parsed.success) return [];
  const document: Record<string, unknown> = parsed.output;
  const { Timestamp, CloudWatchMetrics } = parsed.output['_aws'];
  return CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) => {
      const dimensions = dimensionsOf(names, document);
      return Metrics.flatMap(({ Name, Unit }) =>
        numbersOf(document[Name]).map((value) => ({
          namespace: Namespace,
          name: Name,
          dimensions,
          value,
          unit: Unit,
          atMs: Timestamp,
        })),
      );
    }),
  );
}

function dimensionsOf(names: readonly string[], document: Record<string, unknown>): Dimensions {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = document[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

const numbersOf = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is number => typeof one === 'number');
