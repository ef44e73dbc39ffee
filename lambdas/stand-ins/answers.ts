import { createHash } from 'node:crypto';
import { derivedAnswer, type AnswerShape } from './derived.ts';

/** A well-behaved provider's answer to one key. */
interface KeyAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** What a stand-in knows of its own, in place of samples by the provider's response schema. */
interface StandInDefinition {
  /** The provider's name in `config/providers.ts`. */
  name: string;
  /** By the values of the lookup fields, in their order. The same key always gives the same answer. */
  answer(parts: readonly string[]): KeyAnswer;
}

/** How a provider fails for one key; an outage answers with the status. */
export type Fault =
  { mode: 'outage'; status: number } | { mode: 'hang' | 'garbage' | 'reset' | 'slow_body'; status?: undefined };

/**
 * Keys that make a healthy provider fail for one record only, so that a sample file can hold troubled rows:
 * `status-503.example.com`, `garbage.example.com`, `hang.example.com`, `reset.example.com`, `slow-body.example.com`.
 */
export function faultOfKey(key: string): Fault | undefined {
  const status = /(?:^|\/)status-([2-5]\d\d)\b/i.exec(key)?.[1];
  if (status !== undefined) return { mode: 'outage', status: Number(status) };
  const mode = /(?:^|\/)(hang|garbage|reset|slow-body)\./i.exec(key)?.[1]?.toLowerCase();
  if (mode === 'hang' || mode === 'garbage' || mode === 'reset') return { mode };
  return mode === 'slow-body' ? { mode: 'slow_body' } : undefined;
}

/** A number from 0 to `below` - 1 that depends on the text and the salt only. */
function pick(text: string, salt: string, below: number): number {
  return createHash('sha256').update(`${salt}\n${text}`).digest().readUInt32BE(0) % below;
}

const choose = <T>(text: string, salt: string, from: readonly [T, ...T[]]): T =>
  from[pick(text, salt, from.length)] ?? from[0];

const INDUSTRIES = [
  'Software',
  'Logistics',
  'Food production',
  'Machine building',
  'Retail',
  'Energy',
  'Healthcare',
  'Construction',
] as const;
const SIZES = ['1-10', '11-50', '51-200', '201-500', '501-1000', '1001-5000'] as const;
const SUFFIXES = ['Ltd', 'GmbH', 'Inc.', 'S.A.', 'B.V.', 'AB'] as const;

/** Letters of any script: the customer's files hold names, not their ASCII form. */
const DOMAIN = /^(?=.{1,253}$)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+\p{L}{2,63}$/u;

/** Firmographics by domain. */
const company: StandInDefinition = {
  name: 'company',
  answer([domain = '']) {
    const host = domain.toLowerCase();
    if (!DOMAIN.test(host) || host.endsWith('.invalid')) {
      return refusal('invalid_domain', 'The domain is not one that can be registered.');
    }
    if (host.startsWith('unknown'))
      return { status: 404, body: { error: { code: 'not_found', message: 'No company.' } } };
    const label = host.split('.')[0] ?? host;
    const name = `${label.charAt(0).toUpperCase()}${label.slice(1).replaceAll('-', ' ')}`;
    return {
      status: 200,
      body: {
        domain: host,
        name: `${name} ${choose(host, 'suffix', SUFFIXES)}`,
        industry: choose(host, 'industry', INDUSTRIES),
        employees: choose(host, 'size', SIZES),
        founded: 1950 + pick(host, 'founded', 74),
      },
    };
  },
};

const SYLLABLES = [
  'al',
  'ber',
  'dor',
  'en',
  'fel',
  'gra',
  'hol',
  'lin',
  'mar',
  'nor',
  'ros',
  'ster',
  'tal',
  'wick',
] as const;

/** Somewhere in the middle of some countries, in degrees; places lie up to two degrees around it. */
const MIDDLES: Readonly<Record<string, readonly [latitude: number, longitude: number]>> = {
  DE: [51, 10],
  FR: [47, 2.5],
  GB: [53, -1.5],
  NL: [52.2, 5.5],
  PL: [52, 19],
  SE: [60, 15],
  US: [39, -98],
};

/** Place by country and postal code. */
const geo: StandInDefinition = {
  name: 'geo',
  answer([country = '', postalCode = '']) {
    if (!/^[A-Za-z]{2}$/.test(country)) {
      return refusal('invalid_country', 'The country is not an ISO 3166-1 alpha-2 code.');
    }
    // A code of nothing but zeros or nines is assigned nowhere.
    if (/^[\s-]*(?:[0\s-]+|[9\s-]+)$/.test(postalCode)) {
      return { status: 404, body: { error: { code: 'not_found', message: 'No such place.' } } };
    }
    const key = `${country.toUpperCase()} ${postalCode.toUpperCase()}`;
    const [latitude, longitude] = MIDDLES[country.toUpperCase()] ?? [0, 0];
    const place = ['first', 'second', 'third'].map((salt) => choose(key, salt, SYLLABLES)).join('');
    return {
      status: 200,
      body: {
        country: country.toUpperCase(),
        postal_code: postalCode,
        place: `${place.charAt(0).toUpperCase()}${place.slice(1)}`,
        latitude: Number((latitude - 2 + pick(key, 'latitude', 4000) / 1000).toFixed(3)),
        longitude: Number((longitude - 2 + pick(key, 'longitude', 4000) / 1000).toFixed(3)),
      },
    };
  },
};

const refusal = (code: string, message: string): KeyAnswer => ({ status: 422, body: { error: { code, message } } });

/** Sample data of the providers that the repository comes with. Others answer by their response schema. */
const SAMPLES: readonly StandInDefinition[] = [company, geo];

/** What a provider answers about a key. */
export function answerOf(
  name: string,
  shape: AnswerShape,
  parts: readonly string[],
): { status: number; body: unknown } {
  const own = SAMPLES.find((each) => each.name === name);
  return own === undefined ? derivedAnswer(shape, parts) : own.answer(parts);
}
