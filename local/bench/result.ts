import { markdownTable } from 'markdown-table';

/** One number of a benchmark, in words, and what it should be. */
export interface Figure {
  readonly what: string;
  readonly value: string;
  /** Absent for what is only reported. */
  readonly goal?: string;
  /** Only with a goal. */
  readonly isMet?: boolean;
}

export interface BenchResult {
  readonly name: string;
  readonly figures: readonly Figure[];
}

/** The last line of `--json`. */
export interface BenchSummary {
  readonly allMet: boolean;
  readonly results: readonly { name: string; figure: string; goal: string; met: boolean }[];
}

export const atLeast = (what: string, value: number, goal: number, show = decimals(3)): Figure => ({
  what,
  value: show(value),
  goal: `≥ ${show(goal)}`,
  isMet: value >= goal,
});

export const atMost = (what: string, value: number, goal: number, show = decimals(3)): Figure => ({
  what,
  value: show(value),
  goal: `≤ ${show(goal)}`,
  isMet: value <= goal,
});

export const exactly = (what: string, value: number, goal: number): Figure => ({
  what,
  value: String(value),
  goal: String(goal),
  isMet: value === goal,
});

export const reported = (what: string, value: string): Figure => ({ what, value });

/** Shows numbers with so many decimals at most, and a unit. */
export const decimals =
  (digits: number, unit = '') =>
  (value: number): string =>
    `${Number(value.toFixed(digits))}${unit}`;

export const isMet = ({ figures }: BenchResult): boolean => figures.every((figure) => figure.isMet !== false);

export function summaryOf(results: readonly BenchResult[]): BenchSummary {
  return {
    allMet: results.every(isMet),
    results: results.map((result) => ({
      name: result.name,
      figure: result.figures.map(({ what, value }) => `${what} ${value}`).join('; '),
      goal: result.figures.flatMap(({ what, goal }) => (goal === undefined ? [] : [`${what} ${goal}`])).join('; '),
      met: isMet(result),
    })),
  };
}

const HEAD = ['benchmark', 'figure', 'measured', 'goal', ''] as const;

/** All figures of all benchmarks, one a line. */
export function tableOf(results: readonly BenchResult[]): string {
  const rows = results.flatMap(({ name, figures }) =>
    figures.map(({ what, value, goal = '–', isMet: met }, index) => [
      index === 0 ? name : '',
      what,
      value,
      goal,
      met === undefined ? '' : met ? 'met' : 'NOT MET',
    ]),
  );
  return markdownTable([[...HEAD], ...rows]);
}

/** The value below which `share` of the values lie; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
