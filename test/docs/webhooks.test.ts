import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signedHeaders } from '../../lambdas/domain/webhooks/signature.ts';

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const snippet = (language: string): string =>
  new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page.slice(page.indexOf('## Verify it')))?.[1] ?? '';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const ROTATED = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BODY = '{"type":"submission.completed","data":{"reference":"Jänner"}}';

const directory = mkdtempSync(join(tmpdir(), 'sluice-webhooks-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** What each language's snippet says of deliveries: headers, body, secret. */
const RUN = {
  typescript(cases: string) {
    const program = `${stripTypeScriptTypes(snippet('typescript'))}
      console.log(JSON.stringify(${cases}.map(([secret, headers, body]) => isGenuine(secret, headers, body))));`;
    writeFileSync(join(directory, 'verify.mjs'), program);
    return execFileSync(process.execPath, [join(directory, 'verify.mjs')]);
  },
  python(cases: string) {
    const program = `${snippet('python')}
import json, sys
print(json.dumps([is_genuine(secret, headers, body.encode()) for secret, headers, body in json.load(sys.stdin)]))`;
    writeFileSync(join(directory, 'verify.py'), program);
    return execFileSync('python3', [join(directory, 'verify.py')], { input: cases });
  },
};

test.each(Object.entries(RUN))('the %s snippet takes what we send and nothing else', (_language, run) => {
  const now = Date.now();
  const secrets = { current: ROTATED, previous: SECRET, previousUntilMs: now + 60_000 };
  const good = signedHeaders({ eventId: 'evt_1', body: BODY }, { current: SECRET }, now);
  const cases = [
    [SECRET, good, BODY],
    [SECRET, signedHeaders({ eventId: 'evt_1', body: BODY }, secrets, now), BODY],
    [ROTATED, signedHeaders({ eventId: 'evt_1', body: BODY }, secrets, now), BODY],
    [ROTATED, good, BODY],
    [SECRET, good, `${BODY} `],
    [SECRET, { ...good, 'webhook-id': 'evt_2' }, BODY],
    [SECRET, signedHeaders({ eventId: 'evt_1', body: BODY }, { current: SECRET }, now - 400_000), BODY],
  ];
  const answers: unknown = JSON.parse(run(JSON.stringify(cases)).toString('utf8'));
  expect(answers).toEqual([true, true, true, false, false, false, false]);
});
