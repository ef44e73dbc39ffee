/** Values of consecutive periods, the oldest first; undefined where a period has none. */
export type Series = readonly (number | undefined)[];

export type MathValue =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'series'; readonly points: Series }
  | { readonly kind: 'list'; readonly items: readonly Series[] };

/** What an expression can refer to. */
export interface MathScope {
  /** @throws LocalCloudError when no query has this id */
  query(id: string): Series;
  /** Ids of the queries that are metrics and not expressions. */
  readonly metricIds: readonly string[];
  readonly periodSeconds: number;
  /** Number of periods of every series. */
  readonly length: number;
}

export const isPresent = (value: number | undefined): value is number => value !== undefined;

/** Numbers that are none, as a division by zero gives them, are dropped. */
export const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined);
