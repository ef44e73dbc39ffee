import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { headItem, parseHead } from '../../../lambdas/adapters/dynamodb/submission-item.ts';
import { resolveProfile, type Profile } from '../../../lambdas/domain/profiles/profile.ts';
import { UnsupportedVersionError } from '../../../lambdas/domain/versions.ts';
import { makeSubmission, TERMS } from '../../support/factories.ts';

const PROFILE: Profile = {
  reading: {
    delimiter: ';',
    quote: "'",
    escape: '\\',
    headerRow: 'found',
    skipRowsAtEnd: 2,
    shortRows: 'fill',
    nullTexts: ['NULL'],
    sheet: 'A',
    encoding: 'latin1',
  },
  columns: {
    record_id: { rowNumber: true },
    domain: 'Site',
    country: { constant: 'DE' },
    postal_code: { position: 3 },
  },
  normalise: { domain: ['trim', 'host_of_url'] },
  duplicates: 'reject_later',
  results: { bom: true, guard: false },
};
const { reading, mapping, results = {} } = resolveProfile(PROFILE, recordSchema);
const dialect = {
  delimiter: ';',
  header: ['a'],
  quote: "'",
  escape: '\\' as const,
  surplus: 1,
  failureColumns: 6,
  headerLine: 3,
};
const submission = makeSubmission({
  terms: { ...TERMS, reading, mapping, results },
  fanOut: { done: false, byteOffset: 9, records: 1, line: 4, dialect },
});

test('a head gives back everything that its profile said and that was found of the file', () => {
  expect(parseHead(headItem(submission, 'creator')).submission).toEqual(submission);
});

test('a step that a newer version added stops this one, and is no garbage', () => {
  const domain = { ...mapping.fields['domain'], steps: ['guess'] };
  const terms = { ...submission.terms, mapping: { ...mapping, fields: { ...mapping.fields, domain } } };
  expect(() => parseHead({ ...headItem(submission, 'creator'), terms })).toThrow(UnsupportedVersionError);
});
