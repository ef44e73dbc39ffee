import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { resolveProfile, type Profile } from '../../../lambdas/domain/profiles/profile.ts';
import { rebuildMessages } from '../../../lambdas/domain/source/source.ts';
import { createTestApi } from '../../support/api/api.ts';
import { makeFields, TERMS } from '../../support/factories.ts';
import { createFinalizeRig } from '../../support/slices/finalize-rig.ts';
import { createPipeline } from '../../support/pipeline.ts';
import { createWorkerRig } from '../../support/worker-rig.ts';

const PROFILE: Profile = {
  columns: { record_id: 'Customer', domain: 'Website' },
  normalise: { domain: ['trim', 'host_of_url'] },
};
const termsOf = (profile: Profile) => {
  const { reading, mapping } = resolveProfile(profile, recordSchema);
  return { ...TERMS, reading, mapping };
};
const FILE = 'Customer,Website,Note\n7,https://www.acme.example/about,x\n8,beta.example,y\n';
const USED = { record_id: '7', domain: 'acme.example' };

describe('a submission with a profile', () => {
  test('is accepted under it', async () => {
    const api = createTestApi();
    const uploadId = await api.upload(FILE);
    const { status } = await api.call('POST', '/v1/submissions', { body: { uploadId, profile: PROFILE } });
    expect(status).toBe(202);
    expect(api.world.inspect.submissions()[0]?.terms).toMatchObject({ mapping: termsOf(PROFILE).mapping });
  });

  test('is refused with the place of what does not fit', async () => {
    const api = createTestApi();
    const uploadId = await api.upload(FILE);
    const wrong = { columns: { web: 'Website' }, reading: { delimeter: ';' } };
    const unknown = await api.call('POST', '/v1/submissions', { body: { uploadId, profile: wrong } });
    expect(unknown.body).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/profile/reading/delimeter' }],
    });
    const misfit = await api.call('POST', '/v1/submissions', {
      body: { uploadId, profile: { columns: { web: 'Website' } } },
    });
    expect(misfit.body).toMatchObject({
      errors: [{ pointer: '/profile/columns/web', detail: expect.stringContaining('record_id') }],
    });
    expect(api.world.inspect.submissions()).toEqual([]);
  });

  test('is another request than one with another profile', async () => {
    const api = createTestApi();
    const uploadId = await api.upload(FILE);
    const headers = { 'idempotency-key': 'k' };
    expect((await api.call('POST', '/v1/submissions', { headers, body: { uploadId, profile: PROFILE } })).status).toBe(
      202,
    );
    expect((await api.call('POST', '/v1/submissions', { headers, body: { uploadId } })).body.code).toBe(
      'idempotency_key_reused',
    );
  });

  test('sends what was used beside what was sent, and shows both in the results', async () => {
    const rig = createFinalizeRig();
    await rig.submit(FILE, { terms: termsOf(PROFILE) });
    await rig.run();
    const content = {
      kind: 'mapped',
      fields: { Customer: '7', Website: 'https://www.acme.example/about', Note: 'x' },
      used: USED,
    };
    expect(rig.sent()[0]?.content).toEqual(content);
    const rebuilt = await rebuildMessages(rig.deps, rig.stored(), 0, [1]);
    expect(rebuilt.get(1)?.content).toEqual(content);

    await rig.work(({ recordNo }) => (recordNo === 2 ? { state: 'failed', reason: 'invalid_record' } : {}));
    await rig.finalize();
    const [line = '{}'] = rig.lines('succeeded');
    expect(JSON.parse(line)).toMatchObject({ record: content.fields, used: USED });
    const [failed = '{}'] = rig.lines('failed');
    expect(JSON.parse(failed)).toMatchObject({ used: { record_id: '8', domain: 'beta.example' } });
  });

  test('shows what is wrong with fields that nothing looks up by as warnings', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ content: { kind: 'record', fields: { ...makeFields(), email: 'nobody' } } }));
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });

    const results = createFinalizeRig({ recordSchema });
    await results.submit('record_id,email\n1,nobody\n2,a@b.example\n');
    await results.run();
    await results.work();
    await results.finalize();
    const [wrong, right] = results.lines('succeeded').map((line): unknown => JSON.parse(line));
    expect(wrong).toMatchObject({ warnings: [{ field: 'email', detail: expect.stringContaining('"email"') }] });
    expect(right).not.toHaveProperty('warnings');
  });

  test('shows what was sent and what is used of a record that is asked for, and the line of a row that is none', async () => {
    const { api, upload } = createPipeline();
    const { submission } = await upload(`${FILE}9,c.example\n`, 'a.csv', { profile: PROFILE });
    const recordOf = async (recordNo: number) =>
      (await api.call('GET', `/v1/submissions/${submission.id}/records/${recordNo}`)).body;
    const sent = { Customer: '7', Website: 'https://www.acme.example/about', Note: 'x' };
    expect(await recordOf(1)).toMatchObject({ state: 'succeeded', line: 2, record: sent, used: USED });
    const defective = await recordOf(3);
    expect(defective).toMatchObject({ state: 'failed', reason: 'malformed_row', line: 4 });
    expect(defective).not.toHaveProperty('record');
    for (const key of api.world.objects.keys().filter((name) => name.startsWith('uploads/')))
      api.world.objects.delete(key);
    expect(await recordOf(1)).not.toHaveProperty('record');
    expect(await recordOf(1)).toMatchObject({ state: 'succeeded' });
  });

  test('is checked and looked up by what is used, and its row has that identifier', async () => {
    const rig = createWorkerRig();
    const content = { kind: 'mapped' as const, fields: { Customer: '7', domain: 'not a host' }, used: USED };
    await rig.submit(1, () => ({ content }));
    await rig.drain();
    expect(rig.company.calls.map(({ url }) => url)).toEqual([expect.stringContaining('acme.example')]);
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', recordId: '7' });
  });
});
