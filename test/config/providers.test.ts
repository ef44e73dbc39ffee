import { Ajv } from 'ajv';
import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { isSafeBaseUrl } from '../../lambdas/domain/providers/config.ts';
import type { AnswerClass } from '../../lambdas/domain/providers/config.ts';

const byName = new Map(PROVIDERS.map((provider) => [provider.name, provider]));

describe.each(PROVIDERS)('the provider $name', (provider) => {
  it('is the only one of its name, and the name fits tables, secret and variables', () => {
    expect(PROVIDERS.filter(({ name }) => name === provider.name)).toHaveLength(1);
    expect(provider.name).toMatch(/^[a-z][a-z0-9_]*$/);
  });

  it('is called over a connection that a credential may go over', () => {
    expect(isSafeBaseUrl(provider.baseUrl)).toBe(true);
    expect(provider.baseUrl).not.toMatch(/\/$/);
    expect(provider.path).toMatch(/^\//);
  });

  it('is asked only with known fields, each of which the lookup requires', () => {
    const placeholders = [...provider.path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field);
    expect(new Set(placeholders)).toEqual(new Set(provider.lookup));
    expect(Object.keys(recordSchema.properties)).toEqual(expect.arrayContaining([...provider.lookup]));
  });

  it('says what every status means, at least by its family', () => {
    const { statuses } = provider.answers;
    for (const family of ['2xx', '3xx', '4xx', '5xx']) expect(statuses[family]).toBeDefined();
    for (const status of [200, 400, 401, 403, 404, 408, 409, 410, 422, 425, 429, 501]) {
      expect(statuses[status]).toBeDefined();
    }
    for (const key of Object.keys(statuses)) expect(key).toMatch(/^[2-5](?:\d\d|xx)$/);
  });

  it('has a response schema that compiles without leniency', () => {
    expect(() => new Ajv({ strict: true, allowUnionTypes: true }).compile(provider.responseSchema)).not.toThrow();
  });

  it('fits its answers into a row: two of them and the rest of it stay far below 400 KB', () => {
    expect(provider.maxBodyBytes).toBeLessThanOrEqual(64 * 1024);
  });
});

describe('the meaning of an answer', () => {
  it.each<[string, Record<string, AnswerClass>]>([
    [
      'company',
      {
        200: 'found',
        404: 'not_found',
        202: 'not_ready',
        409: 'not_ready',
        410: 'not_found',
        501: 'permanent',
        429: 'throttled',
      },
    ],
    ['geo', { 200: 'found', 404: 'not_found', 409: 'permanent', 410: 'not_found', 501: 'not_found', 429: 'throttled' }],
  ])('of %s is its own', (name, meanings) => {
    expect(byName.get(name)?.answers.statuses).toMatchObject(meanings);
  });

  it('inside a 200 of company is mapped by its code', () => {
    expect(byName.get('company')?.answers.bodyCodes).toMatchObject({
      pointer: '/error/code',
      classes: { rate_limited: 'throttled', key_revoked: 'auth', invalid_domain: 'permanent' },
    });
  });
});
