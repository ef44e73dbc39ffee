import { describe, expect, it } from '@jest/globals';
import { createRequestBuilder } from '../../../lambdas/domain/providers/request.ts';
import { makeProvider } from '../../support/factories.ts';

const place = createRequestBuilder(
  makeProvider({
    baseUrl: 'https://geo.example.com/',
    path: '/v1/places/{country}/{postal_code}',
    lookup: ['country', 'postal_code'],
  }),
);
const company = createRequestBuilder(makeProvider());

describe('a request', () => {
  it('fills the path with the trimmed, encoded fields', () => {
    expect(place({ country: ' GB ', postal_code: 'SW1A 1/AA?#' })).toEqual({
      kind: 'request',
      url: 'https://geo.example.com/v1/places/GB/SW1A%201%2FAA%3F%23',
    });
  });

  it('takes numbers, which NDJSON files have', () => {
    expect(place({ country: 'DE', postal_code: 10115 })).toMatchObject({ url: expect.stringMatching(/\/DE\/10115$/) });
  });

  it.each([
    ['is missing', {}],
    ['is empty', { domain: '' }],
    ['is blank', { domain: ' \t' }],
    ['is null', { domain: null }],
    ['is an object', { domain: { a: 1 } }],
    ['is a truth value', { domain: true }],
  ])('is not applicable when the field %s', (_, fields) => {
    expect(company(fields)).toEqual({ kind: 'not_applicable' });
  });

  it.each(['.', '..', 'x'.repeat(3_000)])('makes no request from a value that a path cannot hold (%#)', (domain) => {
    expect(company({ domain })).toEqual({ kind: 'unusable', field: 'domain' });
  });

  it('survives text that is not well-formed', () => {
    expect(company({ domain: '\ud800x' })).toMatchObject({
      kind: 'request',
      url: expect.stringContaining('%EF%BF%BDx'),
    });
  });

  it('refuses a path with a field that may be empty in a request', () => {
    expect(() => createRequestBuilder(makeProvider({ path: '/v1/{domain}/{country}' }))).toThrow(
      /add "country" to its lookup/,
    );
  });

  it('never leaves the base URL, whatever the record says', () => {
    const request = company({ domain: '//evil.example.com/@x' });
    expect(request.kind === 'request' && new URL(request.url).host).toBe('company.example.com');
  });
});

describe('a request with more than a path', () => {
  const build = createRequestBuilder(
    makeProvider({
      method: 'POST',
      path: '/v2/search',
      query: { country: '{country}', full: '1' },
      headers: { 'X-Country': '{country}' },
      body: { filter: { domain: '{domain}', kinds: ['company'] }, limit: 1, name: 'of {domain} in {country}' },
      lookup: ['domain', 'country'],
    }),
  );

  it('fills each place in its own way', () => {
    const domain = 'a&b"c.example';
    expect(build({ domain, country: 'DE' })).toEqual({
      kind: 'request',
      url: 'https://company.example.com/v2/search?country=DE&full=1',
      headers: { 'X-Country': 'DE' },
      body: JSON.stringify({ filter: { domain, kinds: ['company'] }, limit: 1, name: `of ${domain} in DE` }),
    });
    expect(build({ domain: 'x.example', country: 'ü' })).toEqual({ kind: 'unusable', field: 'country' });
    expect(build({ domain: 'x.example' })).toEqual({ kind: 'not_applicable' });
  });

  it('encodes values of the query, whatever they hold', () => {
    const query = createRequestBuilder(makeProvider({ path: '/v1', query: { q: '{domain}' } }));
    expect(query({ domain: 'a=b&c d?#' })).toMatchObject({
      url: 'https://company.example.com/v1?q=a%3Db%26c%20d%3F%23',
    });
  });

  it.each([
    ['query', { query: { q: '{web}' } }],
    ['headers', { headers: { q: '{web}' } }],
    ['body', { method: 'POST' as const, body: [{ q: '{web}' }] }],
  ])('uses no field in its %s that lookup does not list', (part, change) => {
    expect(() => createRequestBuilder(makeProvider(change))).toThrow(`The ${part} of provider "company" uses {web}`);
  });
});
