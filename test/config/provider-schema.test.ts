import { ConfigError } from '../../config/fields.ts';
import { checkConfiguration } from '../../config/provider-schema.ts';
import { PROVIDERS } from '../../config/providers.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };

const [first, second] = PROVIDERS;

/** Checks the configured providers with members of the first one replaced, as a person may write them, types or not. */
const withProvider = (change: object) => () => checkConfiguration([{ ...first, ...change }, second], recordSchema);
const withRecordSchema = (change: object) => () => checkConfiguration(PROVIDERS, { ...recordSchema, ...change });
const withAnswers = (change: object) => ({ answers: { ...first?.answers, ...change } });
const withStatus = (status: string, answer: string) =>
  withAnswers({ statuses: { ...first?.answers?.statuses, [status]: answer } });
const withHeader = (header: string, prefix = '') => ({ auth: { header, prefix } });
const withSchema = (change: object) => ({ responseSchema: { ...first?.responseSchema, ...change } });

it('accepts what the repository holds', () => {
  expect(() => checkConfiguration(PROVIDERS, recordSchema)).not.toThrow();
});

describe('config/providers.ts', () => {
  it.each<[string, object, string]>([
    ['a placeholder that lookup does not list', { path: '/v1/{domian}' }, 'lookup does not list "domian": add it'],
    ['a placeholder that is not closed', { path: '/v1/{domain' }, 'path is "/v1/{domain": begin with /, close every'],
    ['a path with a query', { path: '/v1/{domain}?full=1' }, 'leave out blanks, ? and #'],
    [
      'a lookup field that records do not have',
      { lookup: ['domain', 'web'] },
      'lookup lists "web", which config/record',
    ],
    ['no lookup field', { lookup: [], path: '/v1', canary: {} }, 'lookup is []: list at least one field'],
    ['a lookup field twice', { lookup: ['domain', 'domain'] }, 'lookup is ["domain","domain"]: list every field once'],
    [
      'a misspelt answer class',
      withStatus('404', 'notfound'),
      'answers.statuses.404 is "notfound": set one of found, not_',
    ],
    [
      'a misspelt status',
      withStatus('4x', 'permanent'),
      'answers.statuses.4x is "4x": use a status like 404 or a family',
    ],
    [
      'no status that finds',
      withAnswers({ statuses: { '200': 'transient' } }),
      'answers.statuses has no "found": give',
    ],
    [
      'a misspelt class of a body code',
      withAnswers({ bodyCodes: { pointer: '/code', classes: { gone: 'not found' } } }),
      'answers.bodyCodes.classes.gone is "not found": set one of',
    ],
    [
      'a broken pointer',
      withAnswers({ bodyCodes: { pointer: 'error.code', classes: {} } }),
      'answers.bodyCodes.pointer is "error.code": set a JSON pointer',
    ],
    [
      'a misspelt keyword',
      withSchema({ propertis: {} }),
      'responseSchema is not a usable JSON Schema: strict mode: unknown keyword: "propertis"',
    ],
    ['an unknown type', withSchema({ type: 'objekt' }), 'responseSchema is not a usable JSON Schema'],
    [
      'a broken pattern',
      withSchema({ properties: { domain: { type: 'string', pattern: '(' } } }),
      'responseSchema is not',
    ],
    ['a required property that is not declared', withSchema({ required: ['nmae'] }), 'required names "nmae", which'],
    ['a response schema that is none', { responseSchema: 'object' }, 'responseSchema is "object": set a JSON Schema'],
    ['a body with GET', { body: { q: '{domain}' } }, 'body is set, and method is GET: set method to POST'],
    ['a method of its own', { method: 'PUT' }, 'method is "PUT": set GET or POST'],
    [
      'a query field that lookup lacks',
      { query: { q: '{web}' } },
      'query.q is "{web}", but lookup does not list "web"',
    ],
    [
      'a body field that lookup lacks',
      { method: 'POST', body: { of: ['{web}'] } },
      'body has its placeholders, but lookup does not list "web"',
    ],
    ['a header of the client', { headers: { Host: 'x' } }, 'leave out headers that the HTTP client sets itself'],
    ['a credential in no parameter', { auth: { query: '' } }, 'auth.query is "": set the name of a parameter'],
    [
      'a token from anywhere',
      { auth: { oauth2: { tokenUrl: 'http://token.example.com' } } },
      'auth.oauth2.tokenUrl is "http://token.example.com": set an https URL',
    ],
    ['an output that is no pointer', { output: { name: 'data.name' } }, 'set a JSON pointer like /error/code'],
    ['an output of nothing', { output: {} }, 'name at least one part of the answer'],
    ['an empty header', withHeader(''), 'auth.header is "": set the name of a header'],
    ['a header with a line break', withHeader('X-Key\r\nX-Other'), 'auth.header is "X-Key\\r\\nX-Other": set the name'],
    ['a header that the client sets', withHeader('Host'), 'auth.header is "Host": name another header'],
    ['a prefix with a line break', withHeader('X-Key', 'Bearer\n'), 'auth.prefix is "Bearer\\n": set printable ASCII'],
    ['an unknown member', { retries: 3 }, 'retries is not a field of a provider: remove it or correct its name'],
    ['a missing member', { timeoutMs: undefined }, 'timeoutMs is missing: set a whole number of milliseconds'],
    ['a name that is no key', { name: 'Company' }, 'name is "Company": use up to 32 lower-case letters'],
    ['a name that is taken', { name: second?.name }, 'name is used twice: rename one of them'],
    [
      'an unprotected URL',
      { baseUrl: 'http://api.example.com' },
      'baseUrl is "http://api.example.com": set an https URL',
    ],
    ['a URL that is none', { baseUrl: 'api.example.com' }, 'baseUrl is "api.example.com": set an https URL'],
    ['no time', { timeoutMs: 0 }, 'timeoutMs is 0: set a whole number of milliseconds from 100 to 120000'],
    ['too much time', { timeoutMs: 900_000 }, 'timeoutMs is 900000: set a whole number'],
    ['answers slower than the timeout', { p99Ms: 6_000 }, 'p99Ms is 6000, above timeoutMs (5000): lower it'],
    ['no burst', { burst: 0 }, 'burst is 0: set a whole number of calls from 1'],
    ['no rate', { ratePerSecond: 0 }, 'ratePerSecond is 0: set a number from 0.01'],
    ['a rate that is text', { ratePerSecond: '100' }, 'ratePerSecond is "100": set a number'],
    [
      'a time to keep that is none',
      { keep: { for: 'all', foundForSeconds: 0 } },
      'keep.foundForSeconds is 0: set a whole',
    ],
    ['kept answers of nobody', { keep: { for: 'everyone' } }, 'keep.for is "everyone": set tenant or all'],
    ['no concurrency', { maxConcurrentCalls: 0 }, 'maxConcurrentCalls is 0: set a whole number of calls'],
    ['answers that do not fit into a row', { maxBodyBytes: 250 * 1024 }, 'maxBodyBytes add up to 272384: lower them'],
    [
      'a canary of another provider',
      { canary: { domain: 'example.com', country: 'DE' } },
      'canary.country is not a lookup field',
    ],
    ['a canary without a request', { canary: {} }, 'The canary of provider "company" makes no request: give every'],
  ])('is refused with %s, naming the provider, the value and the remedy', (_, change, message) => {
    expect(withProvider(change)).toThrow(ConfigError);
    expect(withProvider(change)).toThrow(/^config\/providers.ts is not usable:\n- /);
    expect(withProvider(change)).toThrow(message);
  });

  it('names the provider of every problem, and all problems at once', () => {
    expect(withProvider({ burst: 0, retries: 3, name: 'weather' })).toThrow(/- weather: burst[^]*- weather: retries/);
  });

  it('is refused where its schemas do not fit into an item beside the record schema', () => {
    const described = (bytes: number) => withSchema({ description: 'x'.repeat(bytes) });
    expect(withProvider(described(380_000))).not.toThrow();
    expect(withProvider(described(400_000))).toThrow(ConfigError);
    expect(withProvider(described(400_000))).toThrow(/have 4\d{5} bytes together, and at most 400000 .*: leave out/);
  });

  it('is refused without providers', () => {
    expect(() => checkConfiguration([], recordSchema)).toThrow('PROVIDERS is empty: list at least one provider');
  });
});

describe('config/record.schema.json', () => {
  it.each<[string, object, string]>([
    ['a misspelt keyword', { aditionalProperties: true }, 'unknown keyword: "aditionalProperties"'],
    ['an unknown type of a field', { properties: { record_id: { type: 'text' } } }, 'is not a usable JSON Schema'],
    [
      'an unknown format',
      { properties: { record_id: { type: 'string', format: 'e-mail' } } },
      'unknown format "e-mail"',
    ],
    [
      'a required field that is not declared',
      { required: ['id'] },
      'required names "id", which properties does not declare',
    ],
    [
      'no record_id',
      { required: [], properties: { name: { type: 'string' } } },
      'properties.record_id is missing: declare',
    ],
    [
      'a step that does not exist',
      { properties: { record_id: { type: 'string', 'x-sluice-normalise': ['guess'] } } },
      'name steps of trim, nfc',
    ],
    [
      'another field as identifier that is not declared',
      { 'x-sluice-id': 'sku' },
      'properties.sku is missing: declare',
    ],
    ['another type', { type: 'array' }, 'type is "array": set "object"'],
    ['no fields', { properties: undefined }, 'properties is missing: declare the fields of a record'],
  ])('is refused with %s', (_, change, message) => {
    expect(withRecordSchema(change)).toThrow(/^config\/record.schema.json is not usable:\n- /);
    expect(withRecordSchema(change)).toThrow(message);
  });
});
