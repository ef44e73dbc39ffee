import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEY, sha256, sluice, startStandIn, submission, type Call, type StandIn } from './stand-in.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-submit-'));
const file = join(directory, 'customers.csv');
const CONTENT = 'record_id,name\n1,Ada\n2,Emre\n';
writeFileSync(file, CONTENT);
let standIn: StandIn | undefined;
afterEach(async () => standIn?.close());
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const upload = (url: string) => ({
  status: 201,
  body: { uploadId: 'up_1', method: 'PUT', url: `${url}/storage`, headers: { 'if-none-match': '*' }, expiresAt: '' },
});
const problem = (status: number, code: string, headers = {}) => ({
  status,
  body: { type: 'about:blank', title: `Title of ${code}`, detail: 'What helps.', code, requestId: 'r-1' },
  headers: { 'content-type': 'application/problem+json', ...headers },
});

type Given = Parameters<typeof startStandIn>[0];
/** A stand-in where all goes well but for what `special` answers. */
async function standInWith(special: (call: string, times: number) => ReturnType<Given> | undefined): Promise<StandIn> {
  const seen = new Map<string, number>();
  standIn = await startStandIn(({ call }: Call, url) => {
    const times = (seen.get(call) ?? 0) + 1;
    seen.set(call, times);
    const given = special(call, times);
    if (given !== undefined) return given;
    if (call === 'POST /v1/uploads') return upload(url);
    if (call === 'PUT /storage') return { status: 200 };
    return { status: call.startsWith('POST') ? 202 : 200, body: submission() };
  });
  return standIn;
}
const callsOf = ({ calls }: StandIn): string[] => calls.map(({ call }) => call);

test('a file is uploaded as it is and submitted under a key that its content makes', async () => {
  const { url, calls } = await standInWith(() => undefined);
  const { exitCode, output, errors } = await sluice(url, 'submit', file, '--reference', 'January', '--expected', '2');
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: '' });
  expect(output).toBe('sub_1  complete: 2 of 2 records succeeded, 0 failed\n');
  const [ask, put, submit] = calls;
  expect(JSON.parse(String(ask?.body))).toEqual({ fileName: 'customers.csv', sizeBytes: CONTENT.length });
  expect(put?.body.toString()).toBe(CONTENT);
  expect(put?.headers).toMatchObject({ 'content-length': String(CONTENT.length), 'if-none-match': '*' });
  expect(put?.headers).not.toHaveProperty('authorization');
  expect(submit?.headers['idempotency-key']).toBe(sha256(CONTENT));
  expect(JSON.parse(String(submit?.body))).toEqual({ uploadId: 'up_1', reference: 'January', expectedRecords: 2 });
});

test('an upload whose connection is lost is sent again, to the same place', async () => {
  const { url, calls } = await standInWith((call, times) =>
    call === 'PUT /storage' && times === 1 ? 'cut' : undefined,
  );
  expect((await sluice(url, 'submit', file)).exitCode).toBe(0);
  const asks = calls.filter(({ call }) => call === 'POST /v1/uploads');
  expect(new Set(asks.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect(calls.filter(({ call }) => call === 'PUT /storage').map(({ body }) => body.toString())).toEqual([
    CONTENT,
    CONTENT,
  ]);
});

test('what storage has already counts as uploaded; what it refuses is told in its words', async () => {
  const there = await standInWith((call) => (call === 'PUT /storage' ? { status: 412 } : undefined));
  expect((await sluice(there.url, 'submit', file)).exitCode).toBe(0);
  await there.close();
  const refusing = await standInWith((call) =>
    call === 'PUT /storage' ? { status: 403, body: 'Expired' } : undefined,
  );
  const { exitCode, errors } = await sluice(refusing.url, 'submit', file);
  expect(exitCode).toBe(3);
  expect(errors).toContain('refused the upload');
  expect(errors).toContain('Expired');
  expect(callsOf(refusing)).toEqual(['POST /v1/uploads', 'PUT /storage']);
});

test('a file whose upload is of another day is uploaded again, under the same key of the submission', async () => {
  const { url, calls } = await standInWith((call, times) =>
    call === 'POST /v1/uploads' && times === 1 ? problem(422, 'upload_expired') : undefined,
  );
  expect((await sluice(url, 'submit', file)).exitCode).toBe(0);
  expect(calls[1]?.headers).not.toHaveProperty('idempotency-key');
  expect(calls.at(-1)?.headers['idempotency-key']).toBe(sha256(CONTENT));
});

test('a file that was submitted with other options is refused with the remedy; --again makes it another request', async () => {
  const { url, calls } = await standInWith((call, times) =>
    call === 'POST /v1/submissions' && times === 1 ? problem(422, 'idempotency_key_reused') : undefined,
  );
  const { exitCode, errors } = await sluice(url, 'submit', file);
  expect({ exitCode, remedy: errors.includes('--again') }).toEqual({ exitCode: 3, remedy: true });
  expect((await sluice(url, 'submit', file, '--again')).exitCode).toBe(0);
  expect(calls.at(-1)?.headers['idempotency-key']).not.toBe(sha256(CONTENT));
});

test.each([
  [problem(401, 'unauthorized'), 4],
  [problem(403, 'missing_scope'), 4],
  [problem(415, 'unsupported_media_type'), 3],
  [problem(503, 'system_busy', { 'retry-after': '3600' }), 7],
])('a refusal is told in the words of the API: %j', async (answer, code) => {
  const { url } = await standInWith((call) => (call === 'POST /v1/submissions' ? answer : undefined));
  const { exitCode, errors, output } = await sluice(url, 'submit', file);
  expect(exitCode).toBe(code);
  expect(errors).toBe(`Title of ${answer.body.code}. What helps. (request r-1)\n`);
  expect(output).toBe('');
});

test('a busy API is asked again after the time that it names, and so is one that cuts the connection of a safe call', async () => {
  const standInNow = await standInWith((call, times) => {
    if (call === 'POST /v1/submissions' && times === 1) return problem(503, 'system_busy', { 'retry-after': '0' });
    return call === 'POST /v1/submissions' && times === 2 ? 'cut' : undefined;
  });
  expect((await sluice(standInNow.url, 'submit', file)).exitCode).toBe(0);
  expect(callsOf(standInNow).filter((call) => call === 'POST /v1/submissions')).toHaveLength(3);
});

test('a call that is not safe to repeat is not repeated when its answer is lost', async () => {
  const standInNow = await standInWith((call) => (call.includes('/cancel') ? 'cut' : undefined));
  const { exitCode, errors } = await sluice(standInNow.url, 'cancel', 'sub_1');
  expect(exitCode).toBe(7);
  expect(errors).toContain('does not answer');
  expect(callsOf(standInNow)).toEqual(['POST /v1/submissions/sub_1/cancel']);
});

test('--watch asks with the ETag of what it knows until the end, and tells by the exit code how it ended', async () => {
  const running = submission({ state: 'processing' });
  const standInNow = await standInWith((call, times) => {
    if (!call.startsWith('GET')) return undefined;
    if (times === 1) return { status: 200, body: running, headers: { etag: '"1"' } };
    if (times === 2) return { status: 304 };
    return { status: 200, body: submission({ state: 'partially_failed', failures: { invalid_record: 1 } }) };
  });
  const { exitCode, output } = await sluice(standInNow.url, 'status', 'sub_1', '--watch', '--json');
  expect(exitCode).toBe(5);
  expect(JSON.parse(output)).toMatchObject({ state: 'partially_failed' });
  expect(standInNow.calls.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', '"1"']);
});

test.each([
  ['rejected', 6],
  ['cancelled', 6],
  ['expired', 6],
  ['failed', 5],
  ['complete', 0],
])('a submission that ends %s makes the exit code %i', async (state, code) => {
  const { url } = await standInWith((call) =>
    call.startsWith('GET') ? { status: 200, body: submission({ state }) } : undefined,
  );
  expect((await sluice(url, 'status', 'sub_1', '--watch')).exitCode).toBe(code);
});

test('lists follow the cursor, with filters as they were given', async () => {
  const standInNow = await standInWith((call) => {
    if (!call.startsWith('GET')) return undefined;
    const isFirst = !call.includes('cursor=');
    return { status: 200, body: { items: [{ recordNo: isFirst ? 1 : 2 }], nextCursor: isFirst ? 'c=1' : null } };
  });
  const { output } = await sluice(standInNow.url, 'records', 'sub_1', '--state', 'failed', '--reason', 'new_reason');
  expect(output).toBe('{"recordNo":1}\n{"recordNo":2}\n');
  expect(callsOf(standInNow)).toEqual([
    'GET /v1/submissions/sub_1/records?limit=500&state=failed&reason=new_reason',
    'GET /v1/submissions/sub_1/records?limit=500&state=failed&reason=new_reason&cursor=c%3D1',
  ]);
});

test('the key is part of no output, whatever goes wrong', async () => {
  const { url } = await standInWith(() => problem(500, 'internal_error'));
  for (const args of [
    ['list'],
    ['submit', file],
    ['frob'],
    ['status'],
    ['list', '--limit', 'x'],
    ['submit', 'nofile'],
  ]) {
    const { exitCode, output, errors } = await sluice(url, ...args);
    expect(exitCode).not.toBe(0);
    expect(output + errors).not.toContain(KEY.slice(13));
  }
});
