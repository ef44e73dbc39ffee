/** A wait that a provider asks for is honoured within these bounds. */
const SHORTEST_BLOCK_MS = 1_000;
const LONGEST_BLOCK_MS = 900_000;

/** Delay-seconds of RFC 9110 §10.2.3; a fraction is not in the standard, and is met all the same. */
const SECONDS = /^\d{1,15}(?:\.\d{1,9})?$/;
/** An HTTP-date of RFC 9110 §5.6.7: all three forms begin with a day's name; two of them end with the zone. */
const HTTP_DATE =
  /^(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? .*\d{2}:\d{2}:\d{2}(?: GMT| \d{4})$/;

/**
 * Milliseconds that a `Retry-After` header asks to wait, between {@link SHORTEST_BLOCK_MS} and {@link LONGEST_BLOCK_MS};
 * `undefined` when there is no header or it makes no sense.
 *
 * @param headers - Lower-case names. A date is measured against the answer's own `Date`, which spares us the difference of clocks.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined) return undefined;
  if (SECONDS.test(value)) return clamp(Number(value) * 1_000);
  const atMs = parseHttpDate(value);
  if (atMs === undefined) return undefined;
  return clamp(atMs - (parseHttpDate(headers['date']?.trim() ?? '') ?? nowMs));
}

const clamp = (ms: number): number => Math.min(LONGEST_BLOCK_MS, Math.max(SHORTEST_BLOCK_MS, Math.ceil(ms)));

function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}
