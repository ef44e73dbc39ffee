import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { resolveProfile, type Profile } from '../../../lambdas/domain/profiles/profile.ts';
import { TERMS } from '../../support/factories.ts';
import { createFanOutRig, type FanOutRig } from '../../support/slices/fan-out-rig.ts';

const termsOf = (profile: Profile = {}) => ({ ...TERMS, mapping: resolveProfile(profile, recordSchema).mapping });
const fileOf = (rows: number, domainOf: (row: number) => string): string =>
  `record_id,domain\n${Array.from({ length: rows }, (_, row) => `r${row},${domainOf(row)}\n`).join('')}`;

async function ran(file: string, profile?: Profile): Promise<FanOutRig> {
  const rig = createFanOutRig();
  await rig.submit(file, { terms: termsOf(profile) });
  await rig.run();
  return rig;
}

describe('a file of whose first records none is valid', () => {
  const urls = fileOf(1_200, (row) => `https://www.c${row}.example/`);

  test('is refused with the rule, examples and the setting that helps, before anything is sent', async () => {
    const rig = await ran(urls);
    expect(rig.sent()).toEqual([]);
    const { state, rejection } = rig.stored();
    expect(state).toBe('rejected');
    expect(rejection?.code).toBe('NO_VALID_RECORDS');
    expect(rejection?.detail).toMatch(/None of the first 1,000 records.*all of them \(for example on lines 2, 3, 4\)/);
    expect(rejection?.detail).toContain('Field "domain" must have another form');
    expect(rejection?.detail).toContain('{"normalise":{"domain":["trim","host_of_url"]}}');
  });

  test.each([
    ['record_id,domain', 'info@acme.example', '{"domain":["trim","host_of_email"]}'],
    ['record_id,country', 'usa', '{"country":["trim","country_alpha2"]}'],
  ])('names the step that makes values of %s right', async (header, value, step) => {
    const rows = [1, 2, 3].map((row) => `${row},${value}\n`).join('');
    expect((await ran(`${header}\n${rows}`)).stored().rejection?.detail).toContain(step);
  });

  test('names no step where none helps', async () => {
    const rig = await ran('record_id,country\n1,?\n2,?\n3,?\n');
    expect(rig.stored().rejection?.detail).toContain('Correct the file, or submit it with a profile');
  });

  test('is worked with that setting', async () => {
    const rig = await ran(urls, { normalise: { domain: ['trim', 'host_of_url'] } });
    expect(rig.stored()).toMatchObject({ state: 'processing', fanOut: { records: 1_200 } });
  });

  test('is refused for rows that are no records, by their most frequent fault', async () => {
    const rig = await ran('record_id,domain\n1,a.example,x\n2,b.example,y\n3\n');
    expect(rig.stored().rejection?.detail).toMatch(
      /For all of them \(for example on lines 2, 3, 4\): The row on line 2 has 3 cells/,
    );
  });
});

test('one valid record among the first thousand is enough', async () => {
  const rig = await ran(fileOf(1_200, (row) => (row === 999 ? 'acme.example' : 'no host')));
  expect(rig.stored()).toMatchObject({ state: 'processing', fanOut: { records: 1_200 } });
  expect((await ran(fileOf(1_200, (row) => (row === 1_000 ? 'acme.example' : 'no host')))).stored().state).toBe(
    'rejected',
  );
});

test('a file of two records, or one that an earlier version accepted, is worked record by record', async () => {
  expect((await ran(fileOf(2, () => 'no host'))).sent()).toHaveLength(2);
  const rig = createFanOutRig();
  await rig.submit(fileOf(5, () => 'no host'));
  await rig.run();
  expect(rig.sent()).toHaveLength(5);
});

describe('a file that was read to its end', () => {
  const counted = async (expectedRecords: number, rows: number) => {
    const rig = createFanOutRig();
    await rig.submit(
      fileOf(rows, () => 'a.example'),
      { terms: termsOf(), expectedRecords },
    );
    await rig.run();
    return rig.stored();
  };

  test('is refused where it has not as many records as are expected', async () => {
    expect((await counted(3, 2)).rejection).toMatchObject({
      code: 'COUNT_MISMATCH',
      detail: expect.stringContaining('has 2 records; 3 are expected'),
    });
    expect((await counted(2, 2)).state).toBe('processing');
  });

  test('is refused where it has none', async () => {
    expect((await ran('record_id,domain\n')).stored().rejection).toMatchObject({ code: 'NO_RECORDS' });
  });
});
