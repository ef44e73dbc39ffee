import {
  columnNamed,
  createMapper,
  foldName,
  requiredColumns,
  type Mapping,
} from '../../../lambdas/domain/profiles/mapping.ts';

const mapping = (fields: Mapping['fields'], others: Partial<Mapping> = {}): Mapping => ({
  idField: 'record_id',
  fields,
  ...others,
});
const PLAIN = mapping({ record_id: { numbers: true }, domain: {}, country: {} });

describe('a mapper', () => {
  it('answers nothing where the target fields are what was sent', () => {
    const map = createMapper(PLAIN);
    expect(
      map({ record_id: '1', domain: 'acme.example', note: ' kept ' }, 1, ['record_id', 'domain', 'note']),
    ).toBeUndefined();
    expect(map({ record_id: '1', domain: '' }, 2)).toBeUndefined();
    expect(map({ record_id: '1', domain: null }, 3)).toBeUndefined();
  });

  it('answers all target fields and no other column where one of them is another', () => {
    const map = createMapper(PLAIN);
    const fields = { record_id: '1', domain: '\u00A0acme.example\u200B', country: 'DE', note: 'x' };
    expect(map(fields, 1)).toEqual({ record_id: '1', domain: 'acme.example', country: 'DE' });
    expect(fields.domain).toBe('\u00A0acme.example\u200B');
  });

  it('finds columns by name without regard to case, blanks and underscores, an exact name first', () => {
    const map = createMapper(PLAIN);
    expect(map({ 'Record ID': '1', DOMAIN: 'a.example' }, 1)).toEqual({ record_id: '1', domain: 'a.example' });
    expect(map({ record_id: '1', Domain: 'b.example', domain: 'a.example' }, 1)).toBeUndefined();
    expect(columnNamed(['Domain', 'DOMAIN'], 'domain')).toBeUndefined();
    expect(foldName(' Postal-\u00A0Code ')).toBe('postal_code');
  });

  it('takes values from named columns, positions, constants and the row number', () => {
    const map = createMapper(
      mapping({
        record_id: { from: { rowNumber: true } },
        domain: { from: 'Web site', steps: ['trim', 'host_of_url'] },
        country: { from: { constant: 'DE' } },
        postal_code: { from: { position: 2 } },
      }),
    );
    const header = ['web site', '2024'];
    // Keys that look like numbers come first in an object: only the header knows the order of columns.
    expect(map({ '2024': '10115', 'web site': 'https://www.acme.example/x' }, 7, header)).toEqual({
      record_id: '7',
      domain: 'acme.example',
      country: 'DE',
      postal_code: '10115',
    });
  });

  it('normalises postal codes by the country that the record has after its own steps', () => {
    const map = createMapper(
      mapping({
        country: { steps: ['trim', 'country_alpha2'] },
        postal_code: { numbers: true, steps: ['postal_code'] },
      }),
    );
    expect(map({ country: 'usa', postal_code: 2134 }, 1)).toEqual({ country: 'US', postal_code: '02134' });
  });

  it('accepts JSON numbers as text where that is declared, and nowhere else', () => {
    const map = createMapper(PLAIN);
    expect(map({ record_id: 17, domain: 'a.example' }, 1)).toEqual({ record_id: '17', domain: 'a.example' });
    expect(map({ record_id: '17', domain: 5 }, 1)).toBeUndefined();
  });

  it('makes numbers and booleans of cells, and nothing of empty ones', () => {
    const map = createMapper(
      mapping({ seats: { type: 'integer' }, score: { type: 'number' }, active: { type: 'boolean' } }),
    );
    expect(map({ seats: '12', score: ' -1.5e2 ', active: 'TRUE' }, 1)).toEqual({
      seats: 12,
      score: -150,
      active: true,
    });
    expect(map({ seats: '', score: 'n/a', active: '' }, 1)).toEqual({ score: 'n/a' });
  });

  it('leaves out what the profile calls empty', () => {
    const map = createMapper(mapping({ record_id: {}, domain: {} }, { nullTexts: ['NULL', '\\N'] }));
    expect(map({ record_id: '1', domain: ' NULL ' }, 1)).toEqual({ record_id: '1' });
  });

  it('plans each shape of JSON records for itself', () => {
    const map = createMapper(PLAIN);
    for (let shape = 0; shape < 250; shape++) {
      expect(map({ [`x${shape}`]: 1, RECORD_ID: 'a' }, 1)).toEqual({ record_id: 'a' });
    }
  });
});

test('columns that a CSV file must have are those named by the profile, and that of the identifier', () => {
  expect(requiredColumns(PLAIN)).toEqual(['record_id']);
  expect(
    requiredColumns(mapping({ record_id: { from: { rowNumber: true } }, domain: { from: 'Site' }, country: {} })),
  ).toEqual(['Site']);
});
