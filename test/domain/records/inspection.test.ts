import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { createRecordInspector, sentencesOf } from '../../../lambdas/domain/records/inspection.ts';

const LOOKUPS = ['domain', 'country', 'postal_code'];
const inspect = createRecordInspector(recordSchema, LOOKUPS);

describe('the inspection of a record', () => {
  test('names every wrong field at once', () => {
    const { problems } = inspect({ domain: 'no host', country: 'Germany', postal_code: '!' });
    expect(problems.map(({ field = '' }) => field).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'country',
      'domain',
      'postal_code',
      'record_id',
    ]);
    expect(sentencesOf(problems).length).toBeLessThanOrEqual(300);
  });

  test('only warns of a field that no provider looks up by', () => {
    const fields = { record_id: '1', email: 'none', domain: 'acme.example' };
    expect(inspect(fields)).toMatchObject({ problems: [], warnings: [{ field: 'email' }] });
    expect(createRecordInspector(recordSchema, undefined)(fields).problems).toHaveLength(1);
    expect(inspect({ record_id: '', email: 'a@b.example' }).problems).toHaveLength(1);
  });

  test('shows characters that nobody sees', () => {
    const { problems } = inspect({ record_id: '1', domain: 'ac\u200Bme.example' });
    expect(problems[0]?.detail).toContain('Its character 3 is U+200B (zero-width space).');
  });

  test.each([
    'müller.example',
    'mu\u0308ller.example',
    'उदाहरण.भारत',
    'ตัวอย่าง.ไทย',
    'a_b.example',
    'xn--mller-kva.example',
  ])('accepts the host %s', (domain) => {
    expect(inspect({ record_id: '1', domain, email: `info@${domain}` })).toEqual({ problems: [], warnings: [] });
  });
});
