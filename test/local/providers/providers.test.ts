import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProviderConfig } from '../../../lambdas/domain/providers/config.ts';
import { startProviders, type Providers } from '../../../local/providers/start.ts';

const provider = (name: string, change: Partial<ProviderConfig> = {}): ProviderConfig => ({
  name,
  baseUrl: `https://${name}.example.com`,
  path: '/v1/companies/{domain}',
  lookup: ['domain'],
  canary: {},
  auth: { header: 'authorization', prefix: 'Bearer ' },
  timeoutMs: 1000,
  maxBodyBytes: 10_000,
  ratePerSecond: 1000,
  burst: 1000,
  p99Ms: 100,
  answers: { statuses: {}, bodyCodes: { pointer: '/fault/code', classes: { TRY_LATER: 'transient' } } },
  responseSchema: {},
  ...change,
});

const DOMAIN = '/company/v1/companies/acme.example.com';
const authorized = { authorization: 'Bearer first' };

let providers: Providers;
beforeAll(async () => {
  const geo = provider('geo', {
    path: '/v1/places/{country}/{postal_code}',
    lookup: ['country', 'postal_code'],
    auth: { header: 'x-api-key', prefix: '' },
  });
  providers = await startProviders({
    providers: [provider('company'), geo],
    credentials: { company: 'first', geo: 'g' },
  });
});
beforeEach(async () => {
  await providers.control('company', { latencyMs: 0, ratePerSecond: 1000, burst: 1000, mode: 'ok' });
  await providers.rotate('company', ['first']);
  await providers.resetCounters('company');
});
afterAll(() => providers.stop());

const get = (path: string, headers: Record<string, string> = authorized): Promise<Response> =>
  fetch(`${providers.providersUrl}${path}`, { headers, redirect: 'manual' });

describe('a healthy stand-in', () => {
  test('answers the same key always the same', async () => {
    const answers = [await get(DOMAIN), await get(DOMAIN)];
    const bodies = await Promise.all(answers.map((answer) => answer.json()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(bodies[0]).toMatchObject({ domain: 'acme.example.com' });
    expect(bodies[1]).toEqual(bodies[0]);
  });

  test('expects its own header and decodes the key', async () => {
    const path = '/geo/v1/places/de/10%20115';
    expect((await get(path)).status).toBe(401);
    expect(await (await get(path, { 'x-api-key': 'g' })).json()).toMatchObject({ postal_code: '10 115' });
    expect(await providers.callsByKey('geo')).toEqual({ 'de/10 115': 2 });
  });

  test.each([
    ['/company/v1/companies/unknown-firm.example', 404],
    ['/company/v1/companies/not_a_domain', 422],
    ['/company/v1/companies/gone.invalid', 422],
    ['/company/v1/companies/status-503.example.com', 503],
    ['/company/v1/other', 404],
  ])('%s is answered with %d', async (path, status) => {
    expect((await get(path)).status).toBe(status);
  });
});

describe('the credential', () => {
  test('is checked, and rotated at once', async () => {
    await providers.rotate('company', ['second']);
    expect((await get(DOMAIN)).status).toBe(401);
    expect((await get(DOMAIN, { authorization: 'Bearer second' })).status).toBe(200);
    expect((await get(DOMAIN, {})).status).toBe(401);
  });
});

describe('the controls', () => {
  test('throttle beyond the rate and count every call under one outcome', async () => {
    await providers.control('company', { ratePerSecond: 0.001, burst: 2 });
    const answers = [await get(DOMAIN), await get(DOMAIN), await get(DOMAIN)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers.get('retry-after')).toBe('1000');
    expect(await providers.counters('company')).toMatchObject({ calls: 3, ok: 2, throttled: 1, failed: 0 });
  });

  test('make it fail with the status and the Retry-After that they name', async () => {
    await providers.control('company', { mode: 'outage', status: 500, retryAfter: 'soon' });
    const answer = await get(DOMAIN);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([500, 'soon']);
    await providers.control('company', { status: 302 });
    expect((await get(DOMAIN)).headers.get('location')).not.toContain('127.0.0.1');
  });

  test('make it answer an error in a 200, at the place that its configuration names', async () => {
    await providers.control('company', { mode: 'error_in_200' });
    const answer = await get(DOMAIN);
    expect([answer.status, await answer.json()]).toEqual([200, { fault: { code: 'TRY_LATER' } }]);
  });

  test('make it answer garbage, or refuse the credential', async () => {
    await providers.control('company', { mode: 'garbage' });
    await expect((await get(DOMAIN)).json()).rejects.toThrow('JSON');
    await providers.control('company', { mode: 'unauthorized' });
    expect((await get(DOMAIN)).status).toBe(401);
  });

  test('make it reset the connection, and go on afterwards', async () => {
    await providers.control('company', { mode: 'reset' });
    await expect(get(DOMAIN)).rejects.toThrow('fetch failed');
    await providers.control('company', { mode: 'ok' });
    expect((await get(DOMAIN)).status).toBe(200);
    expect(await providers.counters('company')).toMatchObject({ ok: 1, failed: 1 });
  });

  test.each(['hang', 'slow_body'] as const)('make it never end (%s)', async (mode) => {
    await providers.control('company', { mode });
    const read = async (): Promise<string> =>
      (
        await fetch(`${providers.providersUrl}${DOMAIN}`, { headers: authorized, signal: AbortSignal.timeout(600) })
      ).text();
    await expect(read()).rejects.toThrow('timeout');
  });

  test('name the field that they do not know', async () => {
    const url = `${providers.providersUrl}/control/company`;
    const answer = await fetch(url, { method: 'PUT', body: '{"speed":3}' });
    expect([answer.status, await answer.json()]).toEqual([400, { error: expect.stringContaining('"speed"') }]);
    expect((await fetch(`${providers.providersUrl}/control/nobody`)).status).toBe(404);
  });

  test('report counters with the settings that hold', async () => {
    await providers.control('company', { mode: 'outage', forMs: 60_000 });
    const report: unknown = await (await fetch(`${providers.providersUrl}/control/company`)).json();
    expect(report).toMatchObject({ calls: 0, peakPerSecond: 0, settings: { mode: 'outage', latencyMs: 0 } });
  });
});

test('a provider that nobody wrote a stand-in for answers as its response schema says', async () => {
  const responseSchema = { type: 'object', properties: { degrees: { type: 'integer', minimum: 5, maximum: 9 } } };
  const weather = provider('weather', { path: '/v1/{postal_code}', lookup: ['postal_code'], responseSchema });
  const derived = await startProviders({ providers: [weather], credentials: { weather: 'w' } });
  const ask = async (key: string) =>
    fetch(`${derived.baseUrls['weather']}/v1/${key}`, { headers: { authorization: 'Bearer w' } });
  const [first, second, unknown] = [await ask('10115'), await ask('10115'), await ask('unknown')];
  const body: unknown = await first.json();
  expect(body).toEqual({ degrees: expect.any(Number) });
  expect(await second.json()).toEqual(body);
  expect(unknown.status).toBe(404);
  await derived.stop();
});
