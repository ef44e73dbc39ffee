/** Runs `work` for every item, at most `limit` at a time; results in the order of the items. Rejects like Promise.all. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}

/** Groups items by a key, keeping their order. */
export const groupBy = <T>(items: readonly T[], keyOf: (item: T) => string): T[][] => [
  ...Map.groupBy(items, keyOf).values(),
];

/** Lets work in, so much at the same time and the rest in the order in which it came. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** @param limit how much may be inside at the same time, at least 1 */
export function createGate(limit: number): Gate {
  let inside = 0;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    // Whoever is next takes the place over, so that nobody who comes just now gets before it.
    if (next === undefined) inside--;
    else next();
  };
  return async (work) => {
    if (inside < limit) inside++;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
