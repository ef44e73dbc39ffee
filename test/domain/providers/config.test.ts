import { PROVIDERS } from '../../../config/providers.ts';
import { isSafeBaseUrl } from '../../../lambdas/domain/providers/config.ts';
import { withOverrides } from '../../../lambdas/domain/providers/config.ts';

const baseUrls = { company: 'http://127.0.0.1:4100/company', geo: 'https://geo.example.com' };
const ratesPerSecond = { company: 7, geo: 9 };
const bursts = { company: 3, geo: 1 };

describe('the settings of a stage', () => {
  it('replace base URL, rate and burst of every provider and nothing else', () => {
    const [company, geo] = withOverrides(PROVIDERS, { baseUrls, ratesPerSecond, bursts });
    expect(company).toEqual({ ...PROVIDERS[0], baseUrl: baseUrls.company, ratePerSecond: 7, burst: 3 });
    expect(geo).toEqual({ ...PROVIDERS[1], baseUrl: baseUrls.geo, ratePerSecond: 9, burst: 1 });
  });

  it.each([
    [{ baseUrls: { company: baseUrls.company }, ratesPerSecond, bursts }, /"geo" has no base URL/],
    [{ baseUrls, ratesPerSecond: { geo: 1 }, bursts }, /"company" has no rate/],
    [{ baseUrls, ratesPerSecond, bursts: { geo: 1 } }, /"company" has no burst/],
    [
      { baseUrls: { ...baseUrls, weather: 'https://w.example.com' }, ratesPerSecond, bursts },
      /"weather" is set for this stage/,
    ],
    [{ baseUrls, ratesPerSecond: { ...ratesPerSecond, weather: 1 }, bursts }, /"weather" is set for this stage/],
    [{ baseUrls, ratesPerSecond, bursts: { ...bursts, weather: 1 } }, /"weather" is set for this stage/],
  ])('that do not fit the providers are refused (%#)', (overrides, message) => {
    expect(() => withOverrides(PROVIDERS, overrides)).toThrow(message);
  });
});

describe('a credential', () => {
  it.each(['https://api.example.com', 'https://api.example.com/v2', 'http://127.0.0.1:9/x', 'http://[::1]:9'])(
    'may be sent to %s',
    (url) => expect(isSafeBaseUrl(url)).toBe(true),
  );

  it.each([
    'http://api.example.com',
    'http://127.0.0.1.example.com',
    'https://u:p@api.example.com',
    'https://a.example/?k=1',
    'ftp://127.0.0.1',
    'x',
  ])('may not be sent to %s', (url) => expect(isSafeBaseUrl(url)).toBe(false));
});
