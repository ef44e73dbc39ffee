import { describe, expect, it } from '@jest/globals';
import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { PROVIDERS } from '../../../config/providers.ts';
import { checkSchema, compileSchema, createRecordValidator } from '../../../lambdas/domain/records/validation.ts';
import { makeFields } from '../../support/factories.ts';

const check = createRecordValidator(recordSchema);

describe('record validation', () => {
  it('accepts a good record, other columns and empty optional fields included', () => {
    expect(check(makeFields())).toBeUndefined();
    expect(check({ ...makeFields(), email: '', domain: null, extra: { nested: [1] } })).toBeUndefined();
  });

  it.each([
    ['a missing identifier', { record_id: undefined }, /record_id/],
    ['an empty identifier', { record_id: '' }, /^Field "record_id"/],
    [
      'a malformed e-mail address',
      { email: 'planted-marker' },
      /^Field "email" must have another form: One e-mail address, without a name before it\.$/,
    ],
    [
      'a malformed domain',
      { domain: 'planted-marker!' },
      /^Field "domain" must have another form: Host name of the company's site, without scheme or path\.$/,
    ],
    ['a malformed postal code', { postal_code: '!planted-marker' }, /^Field "postal_code" does not have the form/],
    ['a number where text is expected', { name: 4711 }, /^Field "name" must be string/],
  ])('names field and rule of %s, never the value', (_, change, expected) => {
    const fields = JSON.parse(JSON.stringify({ ...makeFields(), ...change }));
    const problem = check(fields);
    expect(problem).toMatch(expected);
    expect(problem).not.toMatch(/planted-marker|4711/);
  });

  it('does not repeat the name of a column that the schema does not declare', () => {
    const closed = compileSchema('schema', { type: 'object', additionalProperties: { type: 'string' } }, 'The record');
    expect(closed({ 'jane@example.com': 1 })).toBe('A field must be string.');
  });

  it('bounds what it says', () => {
    const long = compileSchema(
      'schema',
      { type: 'object', properties: { a: { description: 'y'.repeat(999), pattern: '^y+$' } } },
      'The record',
    );
    expect(long({ a: 'x' })?.length).toBeLessThanOrEqual(300);
  });

  it('refuses a schema that is not one, and says which', () => {
    expect(() => createRecordValidator({ type: 'objekt' })).toThrow(/config\/record\.schema\.json is not a usable/);
  });
});

describe('the configured schemas', () => {
  it.each([
    ['config/record.schema.json', recordSchema],
    ...PROVIDERS.map(({ name, responseSchema }) => [`responseSchema of ${name}`, responseSchema] as const),
  ])('%s is a JSON Schema by the standard', (name, schema) => {
    expect(() => checkSchema(name, schema)).not.toThrow();
  });

  it('would be found out if they were not', () => {
    expect(() => checkSchema('x', { type: 'object', required: 'record_id' })).toThrow(/x is not a usable JSON Schema/);
  });

  it('may have the same $id', () => {
    const schema = { $id: 'https://example.com/x', type: 'string' };
    for (const name of ['a', 'b']) expect(compileSchema(name, { ...schema }, 'It')('text')).toBeUndefined();
  });
});
