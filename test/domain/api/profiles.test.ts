import { createTestApi } from '../../support/api/api.ts';

const PROFILE = { columns: { record_id: 'Nr', domain: 'Site' }, normalise: { domain: ['trim', 'host_of_url'] } };
const put = async (api: ReturnType<typeof createTestApi>, name: string, body: object = PROFILE) =>
  api.call('PUT', `/v1/profiles/${name}`, { body });

describe('a stored profile', () => {
  test('is made, changed, read, listed and deleted', async () => {
    const api = createTestApi();
    expect((await put(api, 'crm')).body).toMatchObject({ name: 'crm', version: 1, profile: PROFILE });
    expect((await put(api, 'crm', {})).body).toMatchObject({ version: 2, profile: {} });
    expect((await api.call('GET', '/v1/profiles/crm')).body).toMatchObject({ version: 2 });
    expect((await api.call('GET', '/v1/profiles/crm@1')).body).toMatchObject({ version: 1, profile: PROFILE });
    expect((await api.call('GET', '/v1/profiles')).body.items).toMatchObject([{ name: 'crm', version: 2 }]);
    expect((await api.call('DELETE', '/v1/profiles/crm')).status).toBe(200);
    for (const [method, path] of [
      ['GET', '/v1/profiles/crm'],
      ['DELETE', '/v1/profiles/crm'],
      ['GET', '/v1/profiles/!'],
    ] as const) {
      expect((await api.call(method, path)).status).toBe(404);
    }
  });

  test('is that of a submission which names it, as it was then', async () => {
    const api = createTestApi();
    await put(api, 'crm');
    const submitWith = async (profile: string) =>
      api.call('POST', '/v1/submissions', { body: { uploadId: await api.upload('Nr,Site\n1,x\n'), profile } });
    expect((await submitWith('crm')).status).toBe(202);
    await put(api, 'crm', {});
    await submitWith('crm@1');
    await submitWith('crm');
    const froms = api.world.inspect.submissions().map(({ terms }) => terms.mapping?.fields['domain']?.from);
    expect(froms.map(String).toSorted((a, b) => a.localeCompare(b))).toEqual(['Site', 'Site', 'undefined']);
    const { status, body } = await submitWith('crm@9');
    expect([status, body.code, body.detail]).toEqual([422, 'profile_missing', expect.stringContaining('crm@9')]);
  });

  test('can be named beside a file in the body', async () => {
    const api = createTestApi();
    await put(api, 'crm', { ...PROFILE, reading: { format: 'csv', delimiter: '^' } });
    const headers = { 'content-type': 'text/csv' };
    expect(
      (await api.call('POST', '/v1/submissions', { headers, query: { profile: 'crm' }, body: 'Nr^Site\n1^x\n' }))
        .status,
    ).toBe(202);
    expect(api.world.inspect.submissions()[0]?.terms.reading).toEqual({ delimiter: '^' });
  });

  test('belongs to its tenant', async () => {
    const api = createTestApi();
    await put(api, 'crm');
    expect((await api.call('GET', '/v1/profiles/crm', { tenant: 'other' })).status).toBe(404);
    expect((await api.call('GET', '/v1/profiles', { tenant: 'other' })).body.items).toEqual([]);
  });

  test.each<[string, string, object, object]>([
    ['a name that is none', 'A B', {}, { errors: [{ parameter: 'name' }] }],
    ['an unknown setting', 'crm', { reading: { header: 1 } }, { errors: [{ pointer: '/reading/header' }] }],
    [
      'a step that the field does not allow',
      'crm',
      { normalise: { name: ['lower'] } },
      { errors: [{ pointer: '/normalise/name/0' }] },
    ],
    [
      'a source that is none',
      'crm',
      { columns: { domain: { position: 0 } } },
      { errors: [{ pointer: '/columns/domain/position' }] },
    ],
  ])('is refused with %s', async (_what, name, body, expected) => {
    const answer = await put(createTestApi(), encodeURIComponent(name), body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject(expected);
  });

  test('is refused above a hundred of them', async () => {
    const api = createTestApi();
    for (let number = 0; number < 100; number++) await put(api, `p${number}`);
    expect((await put(api, 'one-more')).body).toMatchObject({ code: 'too_many_profiles' });
    expect((await put(api, 'p7', {})).status).toBe(200);
  });
});

describe('the format of a file', () => {
  const formatOf = async (content: string, request: object, fileName?: string) => {
    const api = createTestApi();
    const uploadId = await api.upload(content, fileName === undefined ? {} : { fileName });
    await api.call('POST', '/v1/submissions', { body: { uploadId, ...request } });
    return api.world.inspect.submissions()[0]?.format;
  };

  test('is what the request says, then what the profile says, then by name and content', async () => {
    const profile = { reading: { format: 'ndjson' } };
    expect(await formatOf('x', { format: 'json', profile }, 'x.csv')).toBe('json');
    expect(await formatOf('x', { profile }, 'x.csv')).toBe('ndjson');
    expect(await formatOf('{"a":1}\n{"a":2}\n', {}, 'lines.json')).toBe('ndjson');
    expect(await formatOf('[{"a":1}]', {}, 'array.json')).toBe('json');
  });

  test('is lines where application/json is several objects, and a request where it is one', async () => {
    const api = createTestApi();
    const headers = { 'content-type': 'application/json' };
    const lines = '{"record_id":"1","domain":"a.example"}\n'.repeat(1_000);
    expect((await api.call('POST', '/v1/submissions', { headers, body: lines })).status).toBe(202);
    expect(api.world.inspect.submissions()[0]).toMatchObject({ format: 'ndjson' });
    const pretty = '{\n"uploadId":\n{"a":1}\n}';
    expect((await api.call('POST', '/v1/submissions', { headers, body: pretty })).status).toBe(400);
  });
});
