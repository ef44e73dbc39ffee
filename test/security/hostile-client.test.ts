import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { OPERATIONS } from '../../lambdas/domain/api/operations.ts';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { synthesize } from '../../local/synthesize.ts';
import { runTenants } from '../../cli/tenants.ts';
import { createApiKeyRegistry } from '../../lambdas/adapters/dynamodb/api-keys.ts';
import { createDynamoClient } from '../../lambdas/adapters/clients.ts';
import { systemClock } from '../../lambdas/runtime/clock.ts';
import { secureRandom } from '../../lambdas/runtime/random.ts';
import { clientOf, ended, waitFor } from '../integration/support/sluice.ts';

/*
 * A client that means harm, against the whole of it: gateway, authorizer, functions, stores. Whatever it sends, it is told in
 * a few words that it may not; nobody else's bytes are among them, and nothing falls over.
 */
jest.setTimeout(600_000);

const BAD_KEYS = 10_000;
/** After so many of them, memory has taken the shape that it keeps. */
const WARM = 2_000;
/** What was kept of every request would be more than this. */
const MOST_GROWTH = 1.5;
/** What a heap may leave uncollected between two looks at it; keeping the requests of the loops below takes more. */
const MOST_GARBAGE_MB = 100;
const UNKNOWN = 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD';
/** What the victim's submission is full of. */
const MARKER = 'zqvictimzq';

let sluice: LocalSluice;
let directory: string;
let victim: SubmissionView;
/** Of the victim: an upload that was submitted, and one that was not. */
const uploads: { uploadId: string; url: string; headers: Record<string, string> }[] = [];
const answers: { what: string; status: number; text: string }[] = [];

/** The assembly without the API's throttle: what it holds back would prove nothing about what is behind it. */
async function unthrottled(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'sluice-assembly-'));
  await cp(await synthesize({ stage: 'dev' }), copy, { recursive: true });
  for (const file of await readdir(copy)) {
    if (!file.endsWith('.template.json')) continue;
    const template = await readFile(join(copy, file), 'utf8');
    const open = template.replaceAll(/"Throttling(BurstLimit|RateLimit)": ?\d+/g, '"Throttling$1":100000');
    await writeFile(join(copy, file), open);
  }
  return copy;
}

interface Init {
  method?: string;
  tenant?: number | undefined;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/** Any request of the attacker (tenant 1 unless it says otherwise); what it got is kept. */
async function attack(path: string, { method = 'GET', tenant = 1, headers = {}, body }: Init = {}) {
  const response = await fetch(`${sluice.apiUrl}${path}`, {
    method,
    redirect: 'manual',
    headers: { authorization: `Bearer ${sluice.tenants[tenant]?.apiKey ?? ''}`, ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const answer = { what: `${method} ${path.slice(0, 200)}`, status: response.status, text };
  answers.push(answer);
  return answer;
}

/** Sends bytes as they are, and answers the status lines that come back before the connection ends. */
async function raw(pieces: readonly string[], { endsAfterMs }: { endsAfterMs?: number } = {}): Promise<number[]> {
  const { hostname, port } = new URL(sluice.apiUrl);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => {
      for (const piece of pieces) socket.write(piece);
      if (endsAfterMs !== undefined) setTimeout(() => socket.destroy(), endsAfterMs);
    });
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
      for (const status of statuses) answers.push({ what: pieces[0]?.slice(0, 100) ?? '', status, text: received });
      resolve(statuses);
    });
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (body: unknown, headers: Record<string, string> = JSON_TYPE): Init => ({
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const uploadSchema = v.looseObject({
  uploadId: v.string(),
  url: v.string(),
  headers: v.record(v.string(), v.string()),
});

async function newUpload(tenant: number) {
  const { text } = await attack('/v1/uploads', { ...post({ fileName: `${MARKER}.csv` }), tenant });
  return v.parse(v.pipe(v.string(), v.parseJson(), uploadSchema), text);
}
const put = async (url: string, headers: Record<string, string>, body: string, method = 'PUT'): Promise<number> =>
  (await fetch(url, { method, headers, ...(method === 'GET' ? {} : { body }) })).status;

/** Two files of the victim, and what became of the first one. */
async function arrangeVictim(): Promise<void> {
  for (const content of [`record_id,name\n1,${MARKER}\n2,${MARKER}\n`, `record_id\n${MARKER}\n`]) {
    const upload = await newUpload(0);
    expect(await put(upload.url, upload.headers, content)).toBe(200);
    uploads.push(upload);
  }
  const request = post({ uploadId: uploads[0]?.uploadId, reference: MARKER });
  const { text } = await attack('/v1/submissions', { ...request, tenant: 0 });
  victim = await ended(clientOf(sluice), (JSON.parse(text) as SubmissionView).id);
  expect(victim).toMatchObject({ state: 'complete', counts: { succeeded: 2 } });
  answers.length = 0;
}

/** The most memory that any process of a function has had, megabytes, from its own reports. */
function peakMegabytes(service: string): number {
  const peaks = sluice.functions.logs
    .lines(sluice.functionOf(service).name)
    .flatMap(({ text }) => /Max Memory Used: (\d+) MB/.exec(text)?.[1] ?? []);
  return Math.max(...peaks.map(Number));
}

/** Of all that was answered since the last time: nothing fell over, and nothing of the victim's is in it. */
function expectNoHarm(): void {
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(answers.filter(({ text }) => text.includes(MARKER))).toEqual([]);
  answers.length = 0;
}

beforeAll(async () => {
  directory = await unthrottled();
  sluice = await startLocal({ assemblyDirectory: directory, schedules: 'manual' });
  await arrangeVictim();
});
afterAll(async () => {
  await sluice?.stop();
  await rm(directory, { recursive: true, force: true });
});
afterEach(expectNoHarm);

describe("another tenant's submission", () => {
  const routes = Object.values(OPERATIONS).filter(({ path }) => path.includes('{id}'));

  test.each(routes.map(({ method, path }) => [method, path] as const))(
    'answers like one that is not there: %s %s',
    async (method, path) => {
      const at = (id: string) => path.replace('{id}', id).replace('{recordNo}', '1');
      const [foreign, unknown] = [await attack(at(victim.id), { method }), await attack(at(UNKNOWN), { method })];
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      expect(unknown.status).toBe(404);
      expect((await attack(at(victim.id), { method, tenant: 0 })).status).not.toBe(404);
      answers.length = 0;
    },
  );

  test('is in no list, with whatever cursor', async () => {
    const lists = ['/v1/submissions?limit=1', `/v1/submissions/${victim.id}/records?limit=1`];
    const [own] = await Promise.all(lists.map(async (path) => attack(path, { tenant: 0 })));
    answers.length = 0;
    const cursor = v.parse(v.nullable(v.string()), JSON.parse(own?.text ?? '').nextCursor) ?? '';
    const position = Buffer.from(cursor, 'base64url').toString().slice(16);
    const forged = [
      cursor,
      `${cursor}A`,
      cursor.toLowerCase(),
      Buffer.from(`${'0'.repeat(16)}${position}`).toString('base64url'),
      Buffer.from(JSON.stringify({ tenantId: 'acme' })).toString('base64url'),
      '__proto__',
      '%00',
      '..%2f..%2f',
      'A'.repeat(1_024),
    ];
    for (const value of forged.filter((text) => text !== '')) {
      const { status, text } = await attack(`/v1/submissions?cursor=${value}`);
      expect([value, status, /invalid_cursor|invalid_request/.test(text)]).toEqual([value, 400, true]);
    }
    expect((await attack('/v1/submissions')).text).toBe('{"items":[],"nextCursor":null}');
  });

  test('its upload cannot be submitted, nor any that is invented', async () => {
    const [submitted = '', waiting = ''] = uploads.map(({ uploadId }) => uploadId);
    const invented = [
      submitted,
      waiting,
      `${waiting}.csv`,
      `../acme/${waiting}`,
      `acme/${waiting}`,
      waiting.toLowerCase(),
      'up_1',
      '',
      '__proto__',
    ];
    const codes = new Set<string>();
    for (const uploadId of invented) {
      const { status, text } = await attack('/v1/submissions', post({ uploadId }));
      expect([uploadId, status === 400 || status === 422]).toEqual([uploadId, true]);
      codes.add((JSON.parse(text) as { code: string }).code);
    }
    expect([...codes].filter((code) => !['upload_missing', 'invalid_request'].includes(code))).toEqual([]);
  });

  test('the same idempotency key makes a submission of the attacker, and says nothing of the other', async () => {
    const request = (tenant: number): Init => ({
      ...post('record_id\n1\n', { 'content-type': 'text/csv', 'idempotency-key': 'shared' }),
      tenant,
    });
    const mine = await attack('/v1/submissions', request(0));
    const theirs = await attack('/v1/submissions', request(1));
    expect([mine.status, theirs.status]).toEqual([202, 202]);
    expect((JSON.parse(theirs.text) as SubmissionView).id).not.toBe((JSON.parse(mine.text) as SubmissionView).id);
  });
});

describe('a link for an upload', () => {
  test('works once, for its key and its method, with the headers it was signed for', async () => {
    const { url, headers } = await newUpload(1);
    answers.length = 0;
    const elsewhere = url.replace(/uploads\/[^/]+\//, 'uploads/acme/');
    const results = url.replace('/uploads/', '/results/');
    expect(await put(url, {}, 'x')).toBe(403);
    expect(await put(elsewhere, headers, 'x')).toBe(403);
    expect(await put(results, headers, 'x')).toBe(403);
    expect(await put(`${url}&partNumber=1&uploadId=1`, headers, 'x')).toBe(403);
    expect(await put(url.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=604800'), headers, 'x')).toBe(403);
    for (const method of ['GET', 'DELETE', 'POST']) expect(await put(url, headers, 'x', method)).toBe(403);
    expect(await put(url, headers, 'record_id\n1\n')).toBe(200);
    expect(await put(url, headers, 'something else')).toBe(412);
    expect(await put(url, {}, 'something else')).toBe(403);
  });
});

describe('a request that is wrong', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  test.each<[string, string, Init]>([
    ['no JSON', '/v1/uploads', post('{"fileName": ')],
    ['JSON that is cut off', '/v1/uploads', post('{"fileName":"a.csv"')],
    ['deep nesting', '/v1/uploads', post(`{"fileName":${deep}}`)],
    ['an array', '/v1/uploads', post('[]')],
    ['a prototype', '/v1/uploads', post('{"__proto__":{"sizeBytes":1},"constructor":{"prototype":{"scopes":"read"}}}')],
    ['a prototype in the query', '/v1/submissions?__proto__=1&constructor=2', {}],
    ['a number that is none', '/v1/uploads', post('{"sizeBytes":1e999}')],
    ['a negative size', '/v1/uploads', post('{"sizeBytes":-1}')],
    ['a size beyond all limits', '/v1/uploads', post({ sizeBytes: Number.MAX_SAFE_INTEGER })],
    ['a type that is none', '/v1/submissions', post('x', { 'content-type': 'text/html' })],
    ['an odd type', '/v1/submissions', post('x', { 'content-type': ';;=;"' })],
    [
      'a body in an unknown encoding',
      '/v1/submissions',
      post('x', { 'content-type': 'text/csv', 'content-encoding': 'br' }),
    ],
    [
      'an endless idempotency key',
      '/v1/submissions',
      post('record_id\n1\n', { 'content-type': 'text/csv', 'idempotency-key': 'k'.repeat(256) }),
    ],
    [
      'an idempotency key of other letters',
      '/v1/submissions',
      post('record_id\n1\n', { 'content-type': 'text/csv', 'idempotency-key': '\u00e4' }),
    ],
    [
      'a private callback',
      '/v1/submissions?callbackUrl=https://169.254.169.254/latest',
      post('record_id\n1\n', { 'content-type': 'text/csv' }),
    ],
    [
      'a callback without TLS',
      '/v1/submissions?callbackUrl=http://example.com/',
      post('record_id\n1\n', { 'content-type': 'text/csv' }),
    ],
    ['a parameter twice', '/v1/submissions?limit=1&limit=2', {}],
    ['a limit beyond the limit', '/v1/submissions?limit=1000000', {}],
    ['an unknown filter', '/v1/submissions?tenantId=acme', {}],
    ['a record number of another kind', `/v1/submissions/${UNKNOWN}/records/1e3`, {}],
    ['a record number that is no number', `/v1/submissions/${UNKNOWN}/records/NaN`, {}],
    ['a method that is not there', '/v1/uploads', { method: 'DELETE' }],
    ['a body that is too large', '/v1/uploads', post('x'.repeat(11 * 1024 * 1024))],
    [
      'a file that is too large',
      '/v1/submissions',
      { method: 'POST', headers: { 'content-type': 'text/csv' }, body: new Uint8Array(5 * 1024 * 1024).fill(97) },
    ],
    [
      'bytes that are no text',
      '/v1/uploads',
      { method: 'POST', headers: JSON_TYPE, body: Uint8Array.from([0xff, 0xfe, 0x00]) },
    ],
    ['text that says it is base64', '/v1/uploads', post('eyJmaWxlTmFtZSI6ImEifQ==')],
  ])('in this way is refused: %s', async (_what, path, init) => {
    const { status, text } = await attack(path, init);
    expect([status >= 400 && status < 500, text.length < 4_000]).toEqual([true, true]);
    expect(JSON.parse(text)).toMatchObject({
      type: expect.stringMatching(/^urn:sluice:problem:/),
      code: expect.any(String),
    });
  });

  test.each([
    '/v1/submissions/..',
    '/v1/submissions/%2e%2e/%2e%2e/etc/passwd',
    '/v1/submissions/..%2f..%2facme',
    '/v1/submissions/%252e%252e%252f',
    `/v1/submissions/${UNKNOWN}%2Frecords`,
    `/v1/submissions/${UNKNOWN}%00`,
    '/v1/submissions/%ff',
    '/v1/submissions/%',
    '/v1//submissions',
    '/v1/uploads/../submissions/x',
    `/v1/submissions/${'x'.repeat(7_000)}`,
    '/v2/submissions',
    '/__proto__',
  ])('leads nowhere: %s', async (path) => {
    const { hostname, port, pathname } = new URL(sluice.apiUrl);
    const key = sluice.tenants[1]?.apiKey ?? '';
    const head = `GET ${pathname}${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
    const statuses = await raw([head]);
    expect([statuses.length, statuses.every((status) => status >= 400 && status < 500)]).toEqual([1, true]);
  });

  test.each<[string, (key: string) => string[]]>([
    [
      'a body that never comes',
      (key) => [
        `POST /dev/v1/uploads HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"file`,
      ],
    ],
    [
      'a chunk that never ends',
      (key) => [
        `POST /dev/v1/uploads HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{"`,
      ],
    ],
    [
      'two lengths',
      (key) => [`POST /dev/v1/uploads HTTP/1.1\r\nHost: x\r\n${key}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ],
    [
      'length and chunks',
      (key) => [
        `POST /dev/v1/uploads HTTP/1.1\r\nHost: x\r\n${key}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
    ],
    ['no HTTP at all', () => ['\u0016\u0003\u0001 hello\r\n\r\n']],
    [
      'a header without end',
      () => [`GET /dev/v1/submissions HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`],
    ],
    ['two keys', (key) => [`GET /dev/v1/submissions HTTP/1.1\r\nHost: x\r\n${key}${key}Connection: close\r\n\r\n`]],
    [
      'another host',
      (key) => [
        `GET /dev/v1/submissions/x HTTP/1.1\r\nHost: evil.example\r\n${key}X-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n`,
      ],
    ],
  ])('on the wire neither hangs nor breaks anything: %s', async (_what, bytes) => {
    const statuses = await raw(bytes(`Authorization: Bearer ${sluice.tenants[1]?.apiKey ?? ''}\r\n`), {
      endsAfterMs: 1_500,
    });
    expect(statuses.filter((status) => status < 400)).toEqual([]);
    expect((await attack('/v1/openapi.json')).status).toBe(200);
  });

  test('names of headers count in any case, and what only looks like one does not', async () => {
    const key = sluice.tenants[1]?.apiKey ?? '';
    for (const name of ['AUTHORIZATION', 'authorization', 'aUtHoRiZaTiOn']) {
      expect(
        await raw([
          `GET /dev/v1/submissions HTTP/1.1\r\nHost: x\r\n${name}: Bearer ${key}\r\nConnection: close\r\n\r\n`,
        ]),
      ).toEqual([200]);
    }
    for (const other of ['X-Authorization', 'Proxy-Authorization', 'X-Api-Key', 'Cookie']) {
      expect(
        await raw([
          `GET /dev/v1/submissions HTTP/1.1\r\nHost: x\r\n${other}: Bearer ${key}\r\nConnection: close\r\n\r\n`,
        ]),
      ).toEqual([401]);
    }
  });
});

describe('a key', () => {
  const withKey = async (key: string, path: string, init: Init = {}): Promise<number> =>
    (await attack(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } })).status;

  test('is made, rotated without a gap, limited by its scopes, and stops within the cache when it is revoked', async () => {
    const { awsEndpoint: endpoint, region, operatorCredentials } = sluice.cloud;
    const client = createDynamoClient({ endpoint, region, credentials: { ...operatorCredentials } });
    const table = sluice.resources.tables['Tables/Tenants'] ?? '';
    const registry = createApiKeyRegistry(client, table, systemClock);
    const tenants = async (...args: string[]): Promise<string> => {
      const lines: string[] = [];
      const print = (line: string): void => void lines.push(line);
      await runTenants({ registry, clock: systemClock, random: secureRandom, print }, args);
      return /^slk_\w+$/m.exec(lines.join('\n'))?.[0] ?? lines.join('\n');
    };

    const old = await tenants('create', 'initech', '--scopes', 'read');
    expect(await withKey(old, '/v1/submissions')).toBe(200);
    expect(await withKey(old, '/v1/uploads', post({}))).toBe(403);
    const rotated = await tenants('rotate', old);
    expect([await withKey(rotated, '/v1/submissions'), await withKey(old, '/v1/submissions')]).toEqual([200, 200]);
    expect(await tenants('list', 'initech')).not.toContain(old.slice(13));
    const stored = await client.send(new ScanCommand({ TableName: table }));
    expect(JSON.stringify(stored.Items)).not.toContain(rotated.slice(13));

    await tenants('revoke', old);
    await waitFor(
      async () => withKey(old, '/v1/submissions'),
      (status) => status === 401,
    );
    expect(await withKey(rotated, '/v1/submissions')).toBe(200);
    client.destroy();
  });
});

describe('ten thousand bad keys', () => {
  const CONNECTIONS = 20;
  const PIPELINED = 25;
  let serial = 0;

  /** In turn: well formed and looked up, one that the authorizer knows to be none, and what already the gateway refuses. */
  const badCredentials = (): string => {
    serial += 1;
    const number = String(serial);
    if (serial % 2 === 0) return `Basic ${number}`;
    return serial % 4 === 1
      ? `Bearer slk_${number.padStart(8, '0')}_${number.padStart(43, 'x')}`
      : `Bearer nonsense-${number}`;
  };

  async function send(count: number): Promise<Map<number, number>> {
    const seen = new Map<number, number>();
    let left = count;
    const connection = async (): Promise<void> => {
      while (left > 0) {
        const batch = Math.min(PIPELINED, left);
        left -= batch;
        const requests = Array.from({ length: batch }, (_, index) =>
          [
            'GET /dev/v1/submissions HTTP/1.1',
            'Host: x',
            `Authorization: ${badCredentials()}`,
            ...(index === batch - 1 ? ['Connection: close'] : []),
            '\r\n',
          ].join('\r\n'),
        );
        for (const status of await raw([requests.join('')])) seen.set(status, (seen.get(status) ?? 0) + 1);
        answers.length = 0;
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    return seen;
  }

  test('are all refused alike, cost no memory, and let the others in', async () => {
    expect(await send(WARM)).toEqual(new Map([[401, WARM]]));
    const warm = peakMegabytes('authorizer');
    expect(warm).toBeGreaterThan(10);
    expect(await send(BAD_KEYS - WARM)).toEqual(new Map([[401, BAD_KEYS - WARM]]));
    expect(peakMegabytes('authorizer')).toBeLessThan(warm * MOST_GROWTH);
    expect((await attack('/v1/submissions')).status).toBe(200);
  });
});

describe('thousands of damaged requests, no two alike', () => {
  const word = (serial: number): string => `${serial}-`.padEnd(40, 'x');
  // One after the other: all of them meet the same process, which would have to hold whatever is kept.
  async function repeat(from: number, to: number, request: (serial: number) => [string, Init?]): Promise<Set<number>> {
    const seen = new Set<number>();
    for (let serial = from; serial < to; serial += 1) seen.add((await attack(...request(serial))).status);
    expectNoHarm();
    return seen;
  }

  test.each<[string, number, (serial: number) => [string, Init?]]>([
    [
      'submit',
      240,
      (serial) => {
        // Just within what is read of a JSON body, and far beyond it: few, and so large that keeping them would show.
        const long = word(serial).repeat(serial % 2 === 1 ? 50_000 : 390);
        if (serial % 4 === 0) return ['/v1/uploads', post(`{"fileName": "${long}`)];
        if (serial % 4 === 1) return ['/v1/submissions', post({ uploadId: long })];
        return ['/v1/uploads', post({ [word(serial)]: long })];
      },
    ],
    [
      'status',
      5_000,
      (serial) => {
        const long = word(serial).repeat(150);
        if (serial % 3 === 0) return [`/v1/submissions?cursor=${long}`];
        if (serial % 3 === 1) return [`/v1/submissions/${UNKNOWN}/records?cursor=${long}`];
        return [`/v1/submissions/${long}`];
      },
    ],
  ])('are refused, and cost no memory: %s', async (service, count, request) => {
    const warming = await repeat(0, count / 4, request);
    const warm = peakMegabytes(service);
    expect(warm).toBeGreaterThan(10);
    const all = await repeat(count / 4, count, request);
    expect([...warming, ...all].filter((status) => ![400, 404, 413, 422].includes(status))).toEqual([]);
    expect(peakMegabytes(service)).toBeLessThan(warm + MOST_GARBAGE_MB);
    expect((await attack('/v1/submissions')).status).toBe(200);
  });
});
