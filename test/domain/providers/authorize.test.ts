import { expect, it } from '@jest/globals';
import { authorize } from '../../../lambdas/domain/providers/authorize.ts';
import type { Auth } from '../../../lambdas/domain/providers/config.ts';

const url = 'https://api.example.com/v1?q=1';

it.each<[string, Auth, object]>([
  ['a header', { header: 'X-Key', prefix: 'Key ' }, { url, headers: { 'X-Key': 'Key s&c ret' } }],
  ['the query', { query: 'api key' }, { url: `${url}&api%20key=s%26c%20ret` }],
  ['the Basic scheme', { basic: true }, { url, headers: { authorization: 'Basic cyZjIHJldA==' } }],
  ['a token', { oauth2: { tokenUrl: '/token' } }, { url, headers: { authorization: 'Bearer s&c ret' } }],
  ['nothing', { none: true }, { url }],
])('the credential goes into %s', (_where, auth, expected) => {
  expect(authorize({ url }, auth, 's&c ret')).toEqual(expected);
});

it('keeps what the request has of its own', () => {
  const asked = { url: 'https://api.example.com/v1', headers: { accept: 'x' }, body: '{}' };
  expect(authorize(asked, { query: 'key' }, 'c')).toEqual({ ...asked, url: 'https://api.example.com/v1?key=c' });
  expect(authorize(asked, { basic: true }, 'c').headers).toMatchObject({ accept: 'x' });
});
