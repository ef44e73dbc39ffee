import { describe, expect, it } from '@jest/globals';
import { PROVIDERS } from '../../../config/providers.ts';
import { classify } from '../../../lambdas/domain/providers/classify.ts';
import { prepareProviders } from '../../../lambdas/domain/providers/provider.ts';
import type { TransportFailure, TransportResult } from '../../../lambdas/domain/providers/ports.ts';
import type { ProviderConfig } from '../../../lambdas/domain/providers/config.ts';
import { makeProvider } from '../../support/factories.ts';

const NOW = Date.UTC(2026, 0, 6, 12, 15, 0);
const SECRET_TEXT = 'planted-marker';

const rulesOf = (config: ProviderConfig) => {
  const [provider] = prepareProviders([config]);
  if (provider === undefined) throw new Error('No provider was prepared.');
  return provider.rules;
};
const answer = (
  status: number,
  body: unknown = { name: 'Acme' },
  headers: Record<string, string> = {},
): TransportResult => ({
  kind: 'response',
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  truncated: false,
});

const strict = rulesOf(
  makeProvider({
    answers: {
      statuses: {
        '200': 'found',
        '404': 'not_found',
        '401': 'auth',
        '403': 'auth',
        '429': 'throttled',
        '422': 'permanent',
        '408': 'transient',
        '5xx': 'transient',
        '501': 'permanent',
      },
      bodyCodes: {
        pointer: '/error/code',
        classes: {
          NO_MATCH: 'not_found',
          BUSY: 'throttled',
          BROKEN: 'transient',
          BAD_KEY: 'auth',
          NONSENSE: 'permanent',
          OK: 'found',
        },
      },
    },
    responseSchema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
  }),
);
const outcome = (result: TransportResult) => classify(strict, result, NOW);

describe('classification by status', () => {
  it.each([
    [200, { kind: 'answer', answer: { kind: 'found', data: { name: 'Acme' } } }],
    [404, { kind: 'answer', answer: { kind: 'not_found' } }],
    [422, { kind: 'permanent', reason: 'provider_rejected' }],
    [401, { kind: 'auth' }],
    [403, { kind: 'auth' }],
    [429, { kind: 'throttled' }],
    [408, { kind: 'transient', reason: 'provider_timeout' }],
    [504, { kind: 'transient', reason: 'provider_timeout' }],
    [500, { kind: 'transient', reason: 'provider_unavailable' }],
    [503, { kind: 'transient', reason: 'provider_unavailable' }],
    // The exact status wins over its family.
    [501, { kind: 'permanent', reason: 'provider_rejected' }],
    // What the table does not have means what is usual; what nobody knows is nothing to rely on.
    [418, { kind: 'transient', reason: 'provider_unavailable' }],
    [204, { kind: 'answer', answer: { kind: 'not_found' } }],
    [600, { kind: 'transient', reason: 'provider_bad_response' }],
    [301, { kind: 'transient', reason: 'provider_bad_response' }],
  ])('understands %i', (status, expected) => {
    expect(outcome(answer(status))).toMatchObject(expected);
  });

  it('never takes a redirect for an answer, even where a table says so', () => {
    const rules = rulesOf(makeProvider({ answers: { statuses: { '3xx': 'found' } } }));
    expect(classify(rules, answer(302), NOW)).toMatchObject({ kind: 'transient', reason: 'provider_bad_response' });
  });

  it('passes on how long the provider wants us to wait', () => {
    expect(outcome(answer(429, '', { 'retry-after': '12' }))).toMatchObject({
      kind: 'throttled',
      retryAfterMs: 12_000,
    });
    expect(outcome(answer(503, '', { 'retry-after': '12' }))).toMatchObject({
      kind: 'transient',
      retryAfterMs: 12_000,
    });
    expect(outcome(answer(429))).not.toHaveProperty('retryAfterMs');
  });
});

describe('classification by body', () => {
  it.each([
    ['a code for nothing found', { error: { code: 'NO_MATCH' } }, { kind: 'answer', answer: { kind: 'not_found' } }],
    ['a code for throttling', { error: { code: 'BUSY' } }, { kind: 'throttled' }],
    ['a code for an outage', { error: { code: 'BROKEN' } }, { kind: 'transient', reason: 'provider_unavailable' }],
    ['a code for a refused credential', { error: { code: 'BAD_KEY' } }, { kind: 'auth' }],
    ['a code for a refused request', { error: { code: 'NONSENSE' } }, { kind: 'permanent' }],
    ['a code for success', { error: { code: 'OK' }, name: 'Acme' }, { kind: 'answer' }],
    [
      'a code that the table does not have',
      { error: { code: 'NEW' }, name: 'Acme' },
      { reason: 'provider_bad_response' },
    ],
    ['a code that is none', { error: { code: { a: 1 } }, name: 'Acme' }, { reason: 'provider_bad_response' }],
    [
      'a code named like a built-in',
      { error: { code: 'constructor' }, name: 'Acme' },
      { reason: 'provider_bad_response' },
    ],
    ['no code at all', { error: null, name: 'Acme' }, { kind: 'answer' }],
    ['another shape', { title: 'Acme' }, { kind: 'transient', reason: 'provider_bad_response' }],
    ['an array', [1], { kind: 'transient', reason: 'provider_bad_response' }],
    ['text that is not JSON', '<html>', { kind: 'transient', reason: 'provider_bad_response' }],
    ['half a document', '{"name": "Ac', { kind: 'transient', reason: 'provider_bad_response' }],
    ['nothing', '', { kind: 'transient', reason: 'provider_bad_response' }],
    ['an infinite number', '{"name": "Acme", "n": 1e999}', { kind: 'transient', reason: 'provider_bad_response' }],
  ])('understands a 200 with %s', (_, body, expected) => {
    expect(outcome(answer(200, body))).toMatchObject(expected);
  });

  it('refuses an answer that was cut off', () => {
    expect(
      outcome({ kind: 'response', status: 200, headers: {}, body: Buffer.from('{}'), truncated: true }),
    ).toMatchObject({
      kind: 'transient',
      reason: 'provider_bad_response',
      detail: expect.stringContaining('too large'),
    });
  });

  it('refuses an answer that is not UTF-8', () => {
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect(outcome({ kind: 'response', status: 200, headers: {}, body, truncated: false })).toMatchObject({
      reason: 'provider_bad_response',
    });
  });

  it('refuses an answer that could not be written again', () => {
    const deep = `{"name": "Acme", "x": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    expect(outcome(answer(200, deep))).toMatchObject({ reason: 'provider_bad_response' });
  });

  it('refuses an answer that grows beyond the limit when it is written out', () => {
    const rules = rulesOf(makeProvider({ maxBodyBytes: 1_000 }));
    const body = JSON.stringify({ n: [] }).replace('[]', `[${Array.from({ length: 190 }, () => '1e20').join(',')}]`);
    expect(body.length).toBeLessThan(1_000);
    expect(classify(rules, answer(200, body), NOW)).toMatchObject({ reason: 'provider_bad_response' });
  });
});

describe('classification of what the transport reports', () => {
  it.each<[TransportFailure, string]>([
    ['timeout', 'provider_timeout'],
    ['connect', 'provider_unavailable'],
    ['reset', 'provider_unavailable'],
    ['dns', 'provider_unavailable'],
    ['tls', 'provider_unavailable'],
    ['aborted', 'provider_unavailable'],
    ['refused_target', 'provider_unavailable'],
  ])('takes %s for %s', (cause, reason) => {
    expect(outcome({ kind: 'failure', cause, detail: SECRET_TEXT })).toMatchObject({ kind: 'transient', reason });
  });
});

it('says nothing in a detail that the provider or the record said', () => {
  const results = [
    answer(422, { message: SECRET_TEXT }),
    answer(500, SECRET_TEXT),
    answer(200, { name: 1, [SECRET_TEXT]: SECRET_TEXT }),
    answer(200, { error: { code: SECRET_TEXT } }),
    answer(200, SECRET_TEXT),
    answer(429, SECRET_TEXT, { 'retry-after': SECRET_TEXT, location: SECRET_TEXT }),
    answer(302, SECRET_TEXT, { location: SECRET_TEXT }),
  ];
  for (const result of results) expect(JSON.stringify(outcome(result))).not.toContain(SECRET_TEXT);
});

describe('the configured providers', () => {
  const classOf = (name: string, status: number): string => {
    const config = PROVIDERS.find((provider) => provider.name === name);
    if (config === undefined) throw new Error(`There is no provider ${name}.`);
    const { kind } = classify(rulesOf(config), answer(status, {}), NOW);
    return kind;
  };
  it.each([
    ['company', 404, 'answer'],
    ['company', 408, 'transient'],
    ['company', 202, 'not_ready'],
    ['company', 409, 'not_ready'],
    ['company', 425, 'not_ready'],
    ['company', 429, 'throttled'],
    ['company', 501, 'permanent'],
    ['company', 401, 'auth'],
    ['company', 403, 'auth'],
    ['geo', 404, 'answer'],
    ['geo', 408, 'transient'],
    ['geo', 409, 'permanent'],
    ['geo', 202, 'not_ready'],
    ['geo', 425, 'not_ready'],
    ['geo', 429, 'throttled'],
    ['geo', 501, 'answer'],
    ['geo', 401, 'auth'],
    ['geo', 403, 'auth'],
  ])('%s takes %i for %s', (name, status, expected) => {
    expect(classOf(name, status)).toBe(expected);
  });

  it('each have a canary, so that an outage is told from records that they fail on', () => {
    for (const provider of prepareProviders(PROVIDERS)) expect(provider.canary.url).toMatch(/^https:/);
  });
});

describe('preparing providers', () => {
  it('refuses answers that a row could not hold together', () => {
    expect(() => prepareProviders([makeProvider({ maxBodyBytes: 300_000 })])).toThrow(/lower them/);
  });
  it('refuses a schema with a misspelt keyword, by name', () => {
    expect(() => prepareProviders([makeProvider({ responseSchema: { type: 'object', requierd: ['x'] } })])).toThrow(
      /responseSchema of provider "company".*requierd/,
    );
  });
  it('refuses a canary that makes no request', () => {
    expect(() => prepareProviders([makeProvider({ canary: { domain: '' } })])).toThrow(/canary of provider "company"/);
  });
});

describe('what is kept of an answer', () => {
  const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
  const classified = (change: object, body: unknown) =>
    classify(rulesOf(makeProvider({ responseSchema: schema, ...change })), answer(200, JSON.stringify(body)), NOW);

  it('is what the output names, checked by the schema', () => {
    const output = { name: '/data/0/legal~1name', city: '/data/0/address/city' };
    expect(classified({ output }, { data: [{ 'legal/name': 'Acme', other: 1 }], meta: {} })).toEqual({
      kind: 'answer',
      answer: { kind: 'found', data: { name: 'Acme' } },
    });
    expect(classified({ output }, { data: [] })).toMatchObject({ kind: 'transient', reason: 'provider_bad_response' });
  });

  it('may come from a list, of which parts are named', () => {
    expect(classified({ output: { name: '/0/name' } }, [{ name: 'Acme' }])).toMatchObject({
      answer: { kind: 'found', data: { name: 'Acme' } },
    });
    expect(classified({}, [{ name: 'Acme' }])).toMatchObject({
      kind: 'transient',
      detail: expect.stringContaining('not a JSON object'),
    });
  });

  it.each([[{ data: [] }], [{ data: null }], [{}], [{ data: '' }], [{ data: {} }]])(
    'is nothing where the place of a found answer is empty: %j',
    (body) => {
      const answers = { statuses: { '200': 'found' }, foundAt: '/data' };
      expect(classified({ answers }, body)).toEqual({ kind: 'answer', answer: { kind: 'not_found' } });
      expect(classified({ answers }, { data: [1], name: 'x' })).toMatchObject({ answer: { kind: 'found' } });
    },
  );
});
