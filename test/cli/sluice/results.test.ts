import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256, sluice, startStandIn, type StandIn } from './stand-in.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-results-'));
let standIn: StandIn | undefined;
afterEach(async () => standIn?.close());
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const HEADER = '"a\nb",c\n';
const PARTS: Record<string, string> = {
  'csv-1': `${HEADER}1,x\n`,
  'csv-2': `${HEADER}2,y\n`,
  'ndjson-1': '{"a":1}\n',
  'ndjson-2': '{"a":2}\n',
};

/** `stored` answers a download; the results announce PARTS. */
async function start(stored: (name: string, times: number) => { status: number; body: string }): Promise<StandIn> {
  const seen = new Map<string, number>();
  standIn = await startStandIn(({ call }, url) => {
    if (call.startsWith('GET /parts/')) {
      const name = call.slice('GET /parts/'.length);
      seen.set(name, (seen.get(name) ?? 0) + 1);
      const { status, body } = stored(name, seen.get(name) ?? 0);
      return { status, body: Buffer.from(body) };
    }
    const files = Object.entries(PARTS).map(([name, content]) => ({
      kind: 'succeeded',
      format: name.split('-')[0],
      part: Number(name.split('-')[1]),
      url: `${url}/parts/${name}`,
      expiresAt: '',
      records: 1,
      bytes: content.length,
      sha256: sha256(content),
    }));
    // In any order: parts belong together by their number.
    return { status: 200, body: { version: 3, state: 'complete', files: files.toReversed() } };
  });
  return standIn;
}
const whole = (name: string) => ({ status: 200, body: PARTS[name] ?? '' });

test('parts are joined in their order, a CSV with one header', async () => {
  const { url } = await start(whole);
  const out = join(directory, 'joined');
  const { exitCode, output } = await sluice(url, 'results', 'sub_1', '--out', out);
  expect(exitCode).toBe(0);
  expect(readdirSync(out).toSorted()).toEqual(['sub_1-v3-succeeded.csv', 'sub_1-v3-succeeded.ndjson']);
  expect(readFileSync(join(out, 'sub_1-v3-succeeded.csv'), 'utf8')).toBe(`${HEADER}1,x\n2,y\n`);
  expect(readFileSync(join(out, 'sub_1-v3-succeeded.ndjson'), 'utf8')).toBe('{"a":1}\n{"a":2}\n');
  expect(output).toContain(`${join(out, 'sub_1-v3-succeeded.csv')}  (2 records)`);
});

test('a link that has expired is asked for again', async () => {
  const { url, calls } = await start((name, times) => (times === 1 ? { status: 403, body: 'Expired' } : whole(name)));
  expect((await sluice(url, 'results', 'sub_1', '--out', join(directory, 'expired'))).exitCode).toBe(0);
  expect(calls.filter(({ call }) => call.startsWith('GET /v1/')).length).toBe(1 + Object.keys(PARTS).length);
});

test('a part that is not what was announced is not kept, and neither is a file with it', async () => {
  const { url } = await start((name) => (name === 'ndjson-2' ? { status: 200, body: '<Error/>' } : whole(name)));
  const out = join(directory, 'damaged');
  const { exitCode, errors } = await sluice(url, 'results', 'sub_1', '--out', out);
  expect(exitCode).toBe(8);
  expect(errors).toContain('Part 2 of the succeeded records (ndjson) has the SHA-256');
  expect(readdirSync(out).filter((name) => name.includes('ndjson'))).toEqual([]);
});

test('results that cannot be fetched make another exit code than damaged ones', async () => {
  const { url } = await start(() => ({ status: 500, body: '' }));
  const { exitCode, errors } = await sluice(url, 'results', 'sub_1', '--out', join(directory, 'gone'));
  expect(exitCode).toBe(7);
  expect(errors).toContain('the storage answered 500');
});
