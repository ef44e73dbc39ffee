import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { SCHEMA_KEYWORDS } from '../../lambdas/domain/records/schema-keywords.ts';

const ajv = new Ajv({ strict: true, allowUnionTypes: true });
ajv.addVocabulary(Object.values(SCHEMA_KEYWORDS));
addFormats.default(ajv);
const validate = ajv.compile(recordSchema);
const accepts = (record: unknown): boolean => validate(record);

describe('the record schema', () => {
  it.each([
    [{ record_id: 'r1' }],
    [{ record_id: '1', name: '', email: '', domain: '', country: '', postal_code: '' }],
    [{ record_id: '1', name: null, email: null, domain: null, country: null, postal_code: null }],
    [{ record_id: '1', email: 'a@example.com', domain: 'Shop.example.co.uk', country: 'gb', postal_code: 'SW1A 1AA' }],
    [{ record_id: '1', domain: 'müller.example', amount: '1234,50', nested: { passes: ['through', 1] } }],
    [{ record_id: '1', domain: 'xn--mller-kva.xn--vermgensberater-ctb', postal_code: '10115' }],
  ])('accepts %j', (record) => expect(accepts(record)).toBe(true));

  it.each([
    [{}, ''],
    [{ record_id: '' }, '/record_id'],
    [{ record_id: '  ' }, '/record_id'],
    [{ record_id: 17 }, '/record_id'],
    [{ record_id: 'x'.repeat(201) }, '/record_id'],
    [{ record_id: '1', email: 'not an address' }, '/email'],
    [{ record_id: '1', domain: 'https://example.com' }, '/domain'],
    [{ record_id: '1', domain: '..' }, '/domain'],
    [{ record_id: '1', domain: 'example.com/../admin' }, '/domain'],
    [{ record_id: '1', domain: 'localhost' }, '/domain'],
    [{ record_id: '1', domain: '10.0.0.1' }, '/domain'],
    [{ record_id: '1', country: 'Germany' }, '/country'],
    [{ record_id: '1', country: '..' }, '/country'],
    [{ record_id: '1', postal_code: 10_115 }, '/postal_code'],
    [{ record_id: '1', postal_code: '../..' }, '/postal_code'],
    [{ record_id: '1', name: ['a'] }, '/name'],
    [['record_id'], ''],
    ['record', ''],
  ])('refuses %j and points at %s', (record, path) => {
    expect(accepts(record)).toBe(false);
    expect(validate.errors?.[0]?.instancePath).toBe(path);
  });

  it('decides about the longest values at once', () => {
    const labels = `${'a-'.repeat(31)}a.`.repeat(3) + '-';
    expect(accepts({ record_id: '1', domain: labels })).toBe(false);
  });
});
