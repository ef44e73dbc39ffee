import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { resolveProfile, type Profile } from '../../../lambdas/domain/profiles/profile.ts';
import { TERMS } from '../../support/factories.ts';
import { createFinalizeRig } from '../../support/slices/finalize-rig.ts';

const termsOf = (profile: Profile) => ({ ...TERMS, ...resolveProfile(profile, recordSchema) });

/** The failed list in CSV of a file whose records all fail, and what was read. */
async function failedOf(file: string, profile: Profile = {}) {
  const rig = createFinalizeRig();
  await rig.submit(file, { terms: termsOf(profile) });
  await rig.run();
  await rig.work(() => ({ state: 'failed', reason: 'provider_rejected', answers: {} }));
  await rig.finalize();
  const fields = rig.sent().map(({ content }) => (content.kind === 'defect' ? {} : content.fields));
  return {
    csv: rig
      .lines('failed', 'csv')
      .map((line) => `${line}\r\n`)
      .join(''),
    fields,
  };
}

const FILE = [
  'record_id;phone;note',
  'r1;+49 30 123;@name',
  'r2;-2,610.12;"=1+1"',
  "r3;'quoted;'=x",
  'r4;-5;"a ""b""; c"',
  '',
].join('\n');

test.each<[string, Profile]>([
  ['as it is', {}],
  ['with a byte order mark', { results: { bom: true } }],
  ['without apostrophes', { results: { guard: false } }],
])('a list of failed records, %s, comes back with the same values however often', async (_how, profile) => {
  const first = await failedOf(FILE, profile);
  expect(first.csv.startsWith('\uFEFF')).toBe(profile.results?.bom === true);
  expect(first.csv.includes("'+49")).toBe(profile.results?.guard !== false);
  const second = await failedOf(first.csv, profile);
  expect(second.fields).toEqual(first.fields);
  expect(second.csv.split('\r\n')[0]).toBe(first.csv.split('\r\n')[0]);
  const third = await failedOf(second.csv, profile);
  expect(third.fields).toEqual(first.fields);
});
