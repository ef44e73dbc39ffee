import { PROVIDERS } from '../../config/providers.ts';
import { DEFAULT_STATUSES, type AnswerClass } from '../../lambdas/domain/providers/config.ts';

const byName = new Map(PROVIDERS.map((provider) => [provider.name, provider]));

describe.each(PROVIDERS)('the provider $name', (provider) => {
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
    expect({ ...DEFAULT_STATUSES, ...byName.get(name)?.answers?.statuses }).toMatchObject(meanings);
  });

  it('inside a 200 of company is mapped by its code', () => {
    expect(byName.get('company')?.answers?.bodyCodes).toMatchObject({
      pointer: '/error/code',
      classes: { rate_limited: 'throttled', key_revoked: 'auth', invalid_domain: 'permanent' },
    });
  });
});
