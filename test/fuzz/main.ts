/**
 * Sends requests of all kinds to every operation of an API and holds the answers against the OpenAPI document.
 *
 * `npm run fuzz` starts the local cloud; `npm run fuzz -- --api URL --key KEY` asks another one. `--calls N` and `--seed N`.
 */
import { parseArgs } from 'node:util';
import { createApiClient } from '../../cli/client/client.ts';
import { OPERATIONS } from '../../lambdas/domain/api/operations.ts';
import { startLocal } from '../../local/start.ts';
import { violations } from '../support/api/document.ts';
import { Coverage, fuzzCall, type FuzzCall, type KnownIds } from '../support/api/fuzz.ts';
import { seededRandom } from '../support/memory/index.ts';

const { values } = parseArgs({
  options: {
    api: { type: 'string' },
    key: { type: 'string' },
    calls: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
});
const started = values.api === undefined ? await startLocal({ schedules: 'manual' }) : undefined;
const api = values.api ?? started?.apiUrl ?? '';
const keys = {
  good: values.key ?? started?.tenants[0]?.apiKey,
  foreign: started?.tenants[1]?.apiKey ?? values.key,
  none: undefined,
};

try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await started?.stop();
}

async function run(): Promise<boolean> {
  const random = seededRandom(Number(values.seed));
  const known = await arrange();
  const coverage = new Coverage();
  let isClean = true;
  for (let calls = 0; calls < Number(values.calls); calls++) {
    const call = fuzzCall(random, known);
    const { status, problem } = await send(call);
    if (call.method === OPERATIONS[call.operation].method) coverage.add(call.operation, status);
    if (problem === undefined) continue;
    isClean = false;
    console.error(`${problem}\n${JSON.stringify(call).slice(0, 2_000)}`);
  }
  console.log(coverage.toString());
  console.log(isClean ? 'No undocumented status, no server error.' : 'Answers that are not as described: see above.');
  return isClean;
}

/** An upload and submissions for valid requests to find. */
async function arrange(): Promise<KnownIds> {
  const client = createApiClient(api, keys.good ?? '');
  const { data: upload } = await client.POST('/v1/uploads', { body: { fileName: 'a.csv' } });
  if (upload === undefined) throw new Error('The API makes no upload for this key.');
  await fetch(upload.url, { method: upload.method, headers: upload.headers, body: 'record_id,name\n1,a\n' });
  const { data: submission } = await client.POST('/v1/submissions', { body: { uploadId: upload.uploadId } });
  if (submission === undefined) throw new Error('The API accepts no submission for this key.');
  const { data: webhook } = await client.POST('/v1/webhooks', { body: { url: 'https://hooks.sluice.example/events' } });
  const params = { path: { webhookId: webhook?.id ?? '' } };
  const { data: delivery } = await client.POST('/v1/webhooks/{webhookId}/test', { params, body: {} });
  if (!webhook || !delivery) throw new Error('The API makes no webhook.');
  return {
    uploads: [upload.uploadId],
    submissions: [submission.id],
    webhooks: [webhook.id],
    deliveries: [delivery.id],
  };
}

async function send(call: FuzzCall): Promise<{ status: number; problem?: string }> {
  const { operation, method, path, query, headers, body, key } = call;
  const search = new URLSearchParams(query).toString();
  const apiKey = keys[key];
  const response = await fetch(`${api}${path}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: { ...headers, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
    ...(body !== undefined && method !== 'HEAD' && { body: typeof body === 'string' ? body : Buffer.from(body) }),
  });
  const text = await response.text();
  const { status } = response;
  if (status >= 500) return { status, problem: `${status}: ${text}` };
  if (!response.headers.has('x-request-id')) return { status, problem: `${status} without X-Request-Id` };
  if (method !== OPERATIONS[operation].method) return { status };
  const contentType = response.headers.get('content-type') ?? undefined;
  const answer = { status, contentType, headers: {}, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  const [problem] = violations({ method, resource: OPERATIONS[operation].path }, answer);
  return { status, ...(problem !== undefined && { problem }) };
}
