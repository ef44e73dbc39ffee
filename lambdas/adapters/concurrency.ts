/**
 * Runs `work` for every item, at most `limit` at the same time. After the first error no new work begins; it is thrown
 * once everything that had begun has ended, so that nothing goes on behind the caller's back.
 */
export async function eachLimited<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const errors: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && errors.length === 0; next = rest.next()) {
      try {
        await work(next.value);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, lane));
  if (errors.length > 0) throw errors[0];
}
