import * as v from 'valibot';
import { LocalError } from '../errors.ts';

/** Ways in which a stand-in provider can misbehave; `ok` is none. */
export const MODES = ['ok', 'outage', 'hang', 'garbage', 'reset', 'slow_body', 'unauthorized', 'error_in_200'] as const;
export type Mode = (typeof MODES)[number];

/** How a stand-in behaves at this moment. */
export interface Settings {
  /** Typical time to answer; single answers spread around it by a quarter. */
  latencyMs: number;
  ratePerSecond: number;
  /** Calls that the limit tolerates at one moment: the size of the token bucket. */
  burst: number;
  mode: Mode;
  /** Answer every call with this status instead of the usual one. */
  status?: number | undefined;
  /** `Retry-After` of refusals: seconds, or any text, sent as it is. */
  retryAfter?: number | string | undefined;
}

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** Every field of a change, with the words that say what it may be. */
const FIELDS = {
  latencyMs: { schema: whole(0, 600_000), allowed: 'a whole number of milliseconds from 0 to 600000' },
  ratePerSecond: {
    schema: v.pipe(v.number(), v.gtValue(0), v.maxValue(1_000_000)),
    allowed: 'a number above 0, up to 1000000',
  },
  burst: { schema: whole(1, 1_000_000), allowed: 'a whole number from 1 to 1000000' },
  mode: { schema: v.picklist(MODES), allowed: `one of ${MODES.join(', ')}` },
  status: { schema: whole(200, 599), allowed: 'an HTTP status from 200 to 599' },
  retryAfter: {
    schema: v.union([v.pipe(v.number(), v.minValue(0)), v.pipe(v.string(), v.maxLength(100))]),
    allowed: 'a number of seconds, or a text of at most 100 characters that is sent as it is',
  },
  forMs: { schema: whole(1, 86_400_000), allowed: 'a whole number of milliseconds from 1 to 86400000' },
} as const;

const objectSchema = v.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

const changeSchema = v.strictObject({
  latencyMs: v.optional(FIELDS.latencyMs.schema),
  ratePerSecond: v.optional(FIELDS.ratePerSecond.schema),
  burst: v.optional(FIELDS.burst.schema),
  mode: v.optional(FIELDS.mode.schema),
  status: v.optional(FIELDS.status.schema),
  retryAfter: v.optional(FIELDS.retryAfter.schema),
  forMs: v.optional(FIELDS.forMs.schema),
});

/** A change of the settings. With `forMs` it lasts that long, then what was set before it holds again. */
export type SettingsChange = v.InferOutput<typeof changeSchema>;

/**
 * Parses the JSON body of a change.
 *
 * @throws LocalError naming the field and what is allowed there
 */
export function parseChange(body: string): SettingsChange {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new LocalError('The body is not JSON: send an object such as {"mode":"outage","forMs":30000}.', {
      cause,
    });
  }
  const parsed = v.safeParse(v.pipe(objectSchema, changeSchema), value);
  if (parsed.success) return parsed.output;
  const path = v.getDotPath(parsed.issues[0]) ?? '';
  throw new LocalError(describeIssue(path.split('.')[0] ?? '', value));
}

function describeIssue(field: string, value: unknown): string {
  if (field === '') return `The body must be an object with any of ${Object.keys(FIELDS).join(', ')}.`;
  const known = Object.entries(FIELDS).find(([name]) => name === field)?.[1];
  if (known === undefined) return `Unknown field "${field}": allowed are ${Object.keys(FIELDS).join(', ')}.`;
  const given: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
  return `${field} must be ${known.allowed}; it was ${JSON.stringify(given)}.`;
}

/** The settings over time: lasting ones, and at most one temporary change on top. */
export class SettingsTimeline {
  #lasting: Settings;
  #temporary: { settings: Settings; untilMs: number } | undefined;

  constructor(initial: Settings) {
    this.#lasting = initial;
  }

  /** A lasting change also ends a temporary one; a temporary one replaces the one before it. */
  change({ forMs, ...change }: SettingsChange, nowMs: number): void {
    const settings = merge(this.#lasting, change);
    if (forMs !== undefined) {
      this.#temporary = { settings, untilMs: nowMs + forMs };
      return;
    }
    this.#temporary = undefined;
    this.#lasting = settings;
  }

  at(nowMs: number): Settings {
    if (this.#temporary !== undefined && nowMs >= this.#temporary.untilMs) this.#temporary = undefined;
    return this.#temporary?.settings ?? this.#lasting;
  }
}

/** `mode`, `status` and `retryAfter` describe one fault together: naming a mode drops what an earlier fault had set. */
function merge(settings: Settings, change: Omit<SettingsChange, 'forMs'>): Settings {
  const base = change.mode === undefined ? settings : { ...settings, status: undefined, retryAfter: undefined };
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return { ...base, ...given };
}
