/** A wait that a provider asks for is honoured within these bounds. */
const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 900_000;

/** Delay-seconds of RFC 9110 §10.2.3; a fraction is not in the standard, and is met all the same. */
const SECONDS = /^\d{1,15}(?:\.\d{1,9})?$/;
/** An HTTP-date of RFC 9110 §5.6.7: all three forms begin with a day's name; two of them end with the zone. */
const HTTP_DATE =
  /^(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? .*\d{2}:\d{2}:\d{2}(?: GMT| \d{4})$/;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
/** `"default";r=0;t=12` of the IETF draft; earlier drafts wrote `limit=100, remaining=0, reset=12`. */
const RATE_LIMIT = /(?:^|[;,\s])(?:t|reset)=(\d{1,15})/;

/** From these on a number is a time (2001-09-09), in seconds or in milliseconds, and no number of seconds to wait. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MS = 1e12;

type Headers = Readonly<Record<string, string>>;

/** How long a provider asks to wait. */
export interface WaitHint {
  /** Within the bounds. */
  waitMs: number;
  header: 'retry-after' | 'ratelimit' | 'ratelimit-reset' | 'x-ratelimit-reset' | 'x-rate-limit-reset';
  /** What is worth a line in the log: a value that was cut, or read as a time. */
  note?: string;
}

const HEADERS: readonly WaitHint['header'][] = [
  'retry-after',
  'ratelimit',
  'ratelimit-reset',
  'x-ratelimit-reset',
  'x-rate-limit-reset',
];

/**
 * The wait that an answer's headers ask for, by the first of them that can be read: seconds, a time in seconds or milliseconds since
 * 1970, or a date. `undefined` when there is none.
 *
 * @param headers - Lower-case names. A time is measured against the answer's own `Date`, which spares us the difference of clocks.
 */
export function readWaitHint(headers: Headers, nowMs: number): WaitHint | undefined {
  for (const header of HEADERS) {
    const text = headers[header]?.trim();
    if (text === undefined) continue;
    const value = header === 'ratelimit' ? (RATE_LIMIT.exec(text)?.[1] ?? '') : text;
    const atMs = timeOf(value);
    if (atMs !== undefined) return hint(header, text, atMs - (parseHttpDate(headers['date']) ?? nowMs), true);
    if (SECONDS.test(value)) return hint(header, text, Number(value) * 1_000, false);
  }
  return undefined;
}

/** Says of a header that asks to wait and cannot be read, for the log. */
export function unreadableWait(headers: Headers, nowMs: number): string | undefined {
  const header = HEADERS.find((name) => headers[name] !== undefined);
  if (header === undefined || readWaitHint(headers, nowMs) !== undefined) return undefined;
  return `${header} "${printable(headers[header])}" cannot be read.`;
}

function hint(header: WaitHint['header'], text: string, askedMs: number, isTime: boolean): WaitHint {
  const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, Math.ceil(askedMs)));
  const isCut = askedMs > LONGEST_WAIT_MS;
  if (!isCut && !isTime) return { waitMs, header };
  const read = isTime ? ' was read as a time' : '';
  const cut = isCut ? `${isTime ? ' and' : ''} asks for more than ${LONGEST_WAIT_MS / 1_000} s` : '';
  return { waitMs, header, note: `${header} "${printable(text)}"${read}${cut}: ${waitMs / 1_000} s.` };
}

const printable = (text = ''): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 60);

function timeOf(text: string): number | undefined {
  const value = SECONDS.test(text) ? Number(text) : 0;
  if (value >= EPOCH_MS) return value;
  if (value >= EPOCH_SECONDS) return value * 1_000;
  if (ISO_DATE.test(text)) return valid(Date.parse(text));
  return parseHttpDate(text);
}

function parseHttpDate(text = ''): number | undefined {
  const trimmed = text.trim();
  if (!HTTP_DATE.test(trimmed)) return undefined;
  return valid(Date.parse(trimmed.endsWith('GMT') ? trimmed : `${trimmed} GMT`));
}

const valid = (ms: number): number | undefined => (Number.isNaN(ms) ? undefined : ms);
