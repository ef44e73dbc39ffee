import * as v from 'valibot';
import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { ProfileError, profileSchema, resolveProfile, type Profile } from '../../../lambdas/domain/profiles/profile.ts';
import { storedMappingSchema, storedReadingSchema } from '../../../lambdas/domain/profiles/stored.ts';

const issuesOf = (profile: Profile): ProfileError['issues'] => {
  try {
    resolveProfile(profile, recordSchema);
    return [];
  } catch (error) {
    if (error instanceof ProfileError) return error.issues;
    throw error;
  }
};

describe('a profile', () => {
  test('without content is the default: every field from the column of its name', () => {
    expect(resolveProfile({}, recordSchema)).toEqual({
      reading: {},
      mapping: {
        idField: 'record_id',
        fields: {
          record_id: { numbers: true },
          name: {},
          email: {},
          domain: {},
          country: {},
          postal_code: { numbers: true },
        },
      },
    });
  });

  test('becomes part of the terms with all that it says, and is read again as it is', () => {
    const profile: Profile = {
      reading: {
        format: 'csv',
        encoding: 'latin1',
        delimiter: ';',
        escape: '\\',
        headerRow: 3,
        skipRowsAtEnd: 1,
        nullTexts: ['NULL'],
        sheet: 'A',
      },
      columns: {
        record_id: { rowNumber: true },
        domain: 'Website',
        country: { constant: 'DE' },
        postal_code: { position: 4 },
      },
      normalise: { domain: ['trim', 'host_of_url'] },
      duplicates: 'reject_later',
    };
    const resolved = resolveProfile(v.parse(profileSchema, profile), recordSchema);
    expect(resolved.format).toBe('csv');
    expect(resolved.reading).toEqual({
      delimiter: ';',
      escape: '\\',
      headerRow: 3,
      skipRowsAtEnd: 1,
      sheet: 'A',
      charset: 'windows-1252',
    });
    expect(resolved.mapping).toMatchObject({
      fields: { domain: { from: 'Website', steps: ['trim', 'host_of_url'] }, record_id: { from: { rowNumber: true } } },
      nullTexts: ['NULL'],
      duplicates: 'reject_later',
    });
    expect(v.parse(storedReadingSchema, resolved.reading)).toEqual(resolved.reading);
    expect(v.parse(storedMappingSchema, resolved.mapping)).toEqual(resolved.mapping);
  });

  test('is refused with every place that does not fit the record schema', () => {
    expect(issuesOf({ columns: { web: 'Website' }, normalise: { domain: ['trim', 'postal_code'] } })).toEqual([
      { path: ['columns', 'web'], detail: expect.stringContaining('name one of record_id, name, email') },
      {
        path: ['normalise', 'domain', '1'],
        detail: expect.stringContaining('postal_code is not allowed for domain: trim'),
      },
    ]);
  });

  test.each<[string, unknown]>([
    ['an unknown member', { colums: {} }],
    ['a letter as delimiter', { reading: { delimiter: 'x' } }],
    ['an unknown character set', { reading: { encoding: 'klingon' } }],
    ['a source that says nothing', { columns: { domain: {} } }],
    ['a source that says two things', { columns: { domain: { position: 1, constant: 'x' } } }],
    ['position 0', { columns: { domain: { position: 0 } } }],
    ['an unknown step', { normalise: { domain: ['guess'] } }],
  ])('is refused with %s', (_what, profile) => {
    expect(v.safeParse(profileSchema, profile).success).toBe(false);
  });
});
