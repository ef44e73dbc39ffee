import { PROVIDERS } from '../../config/providers.ts';
import { answerCall } from '../../lambdas/stand-ins/stand-ins.ts';
import { compileSchema } from '../../lambdas/domain/records/validation.ts';

const CREDENTIAL = '6f1c';
const call = (path: string, headers: Record<string, string> = { 'x-api-key': CREDENTIAL }, query = '') =>
  answerCall(PROVIDERS, { path, query, headers, body: '' }, CREDENTIAL);

describe('the stand-ins of a sandbox', () => {
  it('answer as the response schemas of the providers ask', () => {
    const paths: Record<string, string> = {
      company: '/company/v1/companies/acme.example',
      geo: '/geo/v1/places/DE/10115',
    };
    for (const { name, responseSchema } of PROVIDERS) {
      const { status, body } = call(paths[name] ?? '');
      expect(status).toBe(200);
      expect(compileSchema(name, responseSchema ?? {}, 'The answer')(body)).toBeUndefined();
    }
  });

  it.each([
    [{}, '', 401],
    [{ authorization: 'Bearer other' }, '', 401],
    [{ authorization: `Bearer ${CREDENTIAL}` }, '', 200],
    [{}, `key=${CREDENTIAL}`, 200],
  ])('know their callers by the credential, in a header or in the query: %j %s', (headers, query, status) => {
    expect(call('/company/v1/companies/acme.example', headers, query).status).toBe(status);
  });

  it.each([
    ['/company/v1/companies/unknown.example', 404, 'not_found'],
    ['/company/v1/companies/no-domain', 422, 'invalid_domain'],
    ['/company/v1/companies/status-503.example.com', 503, 'unavailable'],
    ['/company/v1/companies/hang.example.com', 503, 'unavailable'],
    ['/company/v2/x', 404, 'no_such_path'],
    ['/nobody/x', 404, 'no_such_path'],
    ['/', 404, 'no_such_path'],
    ['/company/v1/companies/%zz', 422, 'invalid_domain'],
  ])('answer %s with %i %s', (path, status, code) => {
    expect(call(path)).toMatchObject({ status, body: { error: { code } } });
  });
});
