import { randomBytes } from 'node:crypto';
import { PutItemCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import { putProvidersSecret } from '../../local/setup.ts';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { call, clientOf, ended, waitFor } from '../integration/support/sluice.ts';

/*
 * Whatever a customer, a provider or an operator hands in carries a word of its own. Every function then does what it can do,
 * well and badly, with every line of its log switched on; none of the words may be in anything that was written.
 */
jest.setTimeout(600_000);

/** Words that occur nowhere else, by what they were put into. */
const planted = new Map<string, string>();
function plant(where: string): string {
  const word = `zq${randomBytes(6).toString('hex')}`;
  planted.set(where, word);
  return word;
}

let sluice: LocalSluice;
const written: { source: string; text: string }[] = [];

beforeAll(async () => {
  sluice = await startLocal({
    schedules: 'manual',
    variables: { POWERTOOLS_LOG_LEVEL: 'DEBUG', SUCCESS_LOG_SHARE: '1' },
  });
  sluice.functions.logs.observe(({ source, text }) => void written.push({ source, text }));
  for (const { tenantId, apiKey } of sluice.tenants) planted.set(`API key of ${tenantId}`, apiKey.slice(13));
});
afterAll(() => sluice?.stop());

const operator = () => {
  const { awsEndpoint: endpoint, region, operatorCredentials } = sluice.cloud;
  return { endpoint, region, credentials: { ...operatorCredentials } };
};

async function rotateTo(credentials: Record<string, string>): Promise<void> {
  const [secretArn = ''] = Object.values(sluice.resources.secrets);
  await putProvidersSecret(sluice.cloud, secretArn, credentials);
}

const submit = async (body: string, contentType: string, query = ''): Promise<SubmissionView> => {
  const { status, body: answer } = await call(sluice, `/v1/submissions${query}`, { method: 'POST', contentType, body });
  expect([status, answer]).toMatchObject([202, { state: 'accepted' }]);
  return answer as SubmissionView;
};
const untilEnded = async ({ id }: SubmissionView): Promise<SubmissionView> => ended(clientOf(sluice), id);

describe('a rotated credential', () => {
  test('is used without a deployment: the old one is refused, and no record pays for it', async () => {
    const records = (from: number): string =>
      Array.from({ length: 5 }, (_, n) =>
        JSON.stringify({ record_id: `${from + n}`, domain: `r-${from + n}.example` }),
      ).join('\n');
    expect(await untilEnded(await submit(records(1), 'application/x-ndjson'))).toMatchObject({ state: 'complete' });

    const next = { company: plant('credential of company'), geo: plant('credential of geo') };
    await sluice.providers.rotate('company', [next.company]);
    await sluice.providers.rotate('geo', [next.geo]);
    await rotateTo(next);
    const after = await untilEnded(await submit(records(11), 'application/x-ndjson'));

    expect(after).toMatchObject({ state: 'complete', counts: { succeeded: 5, failed: 0 } });
    const { ok, failed } = await sluice.providers.counters('company');
    // Refused with the old one at least once, and every record answered with the new one.
    expect([ok, failed > 0]).toEqual([10, true]);
  });
});

describe('the output of all functions', () => {
  let failing: SubmissionView;

  /** Everything that customers can put a word into, where it goes well. */
  async function allGoesWell(): Promise<void> {
    const [column, cell] = [plant('name of a column'), plant('cell of an unknown column')];
    const good = {
      record_id: plant('record_id'),
      name: plant('name'),
      email: `${plant('email')}@example.org`,
      // The provider repeats it in its answer.
      domain: `${plant('domain and answer of a provider')}.example`,
      country: 'DE',
      postal_code: plant('postal code').slice(0, 12),
      [column]: cell,
    };
    const query = new URLSearchParams({
      fileName: `${plant('file name')}.ndjson`,
      reference: plant('reference'),
      callbackUrl: `https://${plant('host of a callback')}.example/${plant('path of a callback')}?t=${plant('query of a callback')}`,
    });
    planted.set('postal code', good.postal_code);
    const view = await untilEnded(
      await submit(`${JSON.stringify(good)}\n`, 'application/x-ndjson', `?${query.toString()}`),
    );
    expect(view).toMatchObject({ state: 'complete' });
    for (const path of ['', `/${view.id}`, `/${view.id}/records`, `/${view.id}/records/1`, `/${view.id}/results`]) {
      expect((await call(sluice, `/v1/submissions${path}`)).status).toBe(200);
    }
  }

  /** Records that fail for every kind of reason, and files that are refused. */
  async function recordsGoBadly(): Promise<SubmissionView> {
    const lines = [
      JSON.stringify({
        record_id: plant('id of a bad record'),
        email: plant('bad email'),
        domain: `${plant('bad host')} x`,
      }),
      JSON.stringify({ record_id: '2', country: plant('bad country'), domain: { [plant('nested name')]: 1 } }),
      `{"record_id": ${plant('broken JSON')}`,
      JSON.stringify({ record_id: '4', domain: `status-400.${plant('domain of a 400')}.example.com` }),
      JSON.stringify({ record_id: '5', domain: `${plant('domain that is invalid')}.invalid` }),
    ];
    const failed = await untilEnded(await submit(lines.join('\n'), 'application/x-ndjson'));
    expect(failed).toMatchObject({ state: 'failed', counts: { failed: 5 } });
    const twice = plant('column that comes twice');
    const rejected = await submit(`${twice},${twice}\n${plant('cell of a rejected file')},x\n`, 'text/csv');
    expect(await untilEnded(rejected)).toMatchObject({ state: 'rejected' });
    const ragged = await submit(
      `record_id,name\n1,a,${plant('cell too many')}\n"${plant('open quote')},b\n`,
      'text/csv',
    );
    await untilEnded(ragged);
    return failed;
  }

  /** Providers that do not work, while a file waits for them. */
  async function providersGoBadly(): Promise<void> {
    for (const mode of ['garbage', 'error_in_200', 'reset', 'unauthorized'] as const) {
      await sluice.providers.control('geo', { mode });
      const record = {
        record_id: plant(`id under ${mode}`),
        country: 'DE',
        postal_code: plant(`code under ${mode}`).slice(0, 12),
      };
      planted.set(`code under ${mode}`, record.postal_code);
      await submit(JSON.stringify(record), 'application/x-ndjson');
      await waitFor(
        () => sluice.providers.counters('geo'),
        ({ failed }) => failed > 0,
      );
      // Until it has met the record, however long a busy machine takes: with a time, the record could come too late for ever.
      await sluice.providers.control('geo', { mode: 'ok' });
      await sluice.providers.resetCounters('geo');
    }
  }

  /** Requests that are refused, each with a word in every place. */
  async function requestsGoBadly(): Promise<void> {
    const headers = (name: string): Record<string, string> => ({
      'x-custom': plant(`${name}: custom header`),
      'user-agent': plant(`${name}: user agent`),
      cookie: plant(`${name}: cookie`),
      origin: `https://${plant(`${name}: origin`)}.example`,
      'idempotency-key': plant(`${name}: idempotency key`),
    });
    const contentType = 'application/json';
    const post = { method: 'POST', contentType };
    const all = [
      await call(sluice, `/v1/submissions?${plant('parameter')}=${plant('value of a parameter')}`, {
        headers: headers('list'),
      }),
      await call(sluice, `/v1/submissions/${plant('id in a path')}`, { headers: headers('get') }),
      await call(sluice, `/v1/${plant('path')}`, { headers: headers('path') }),
      await call(sluice, `/v1/submissions?cursor=${plant('cursor')}`, {}),
      await call(sluice, '/v1/uploads', {
        ...post,
        body: JSON.stringify({ [plant('member')]: plant('value') }),
        headers: headers('member'),
      }),
      await call(sluice, '/v1/uploads', {
        ...post,
        body: `{"fileName": "${plant('broken body')}`,
        headers: headers('broken'),
      }),
      await call(sluice, '/v1/submissions', {
        ...post,
        body: JSON.stringify({ uploadId: plant('upload id') }),
        headers: headers('upload'),
      }),
      await call(sluice, '/v1/submissions', {
        method: 'POST',
        contentType: `text/${plant('content type')}`,
        body: plant('body of unknown type'),
      }),
      await call(sluice, '/v1/submissions', {
        headers: { authorization: `Bearer slk_00000000_${plant('bad key').padEnd(43, '0')}` },
      }),
      await call(sluice, '/v1/submissions', { headers: { authorization: `Basic ${plant('basic credentials')}` } }),
    ];
    expect(all.filter(({ status }) => status < 400 || status > 499)).toEqual([]);
  }

  /** Messages that nobody can read, and events that are none, at every function. */
  async function messagesGoBadly(): Promise<void> {
    const sqs = new SQSClient({ ...operator(), useQueueUrlAsEndpoint: false });
    const lambda = new LambdaClient(operator());
    for (const [path, QueueUrl] of Object.entries(sluice.resources.queues)) {
      if (path.endsWith('Dlq')) continue;
      for (const MessageBody of [
        plant(`message to ${path}`),
        JSON.stringify({ v: 1, [plant(`name to ${path}`)]: plant(`value to ${path}`) }),
      ]) {
        await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: 'somebody' }));
      }
    }
    for (const { name } of sluice.functions.specs) {
      const event = {
        Records: [{ body: plant(`event of ${name}`) }],
        headers: plant(`headers of ${name}`),
        authorizationToken: plant(`token of ${name}`),
      };
      await lambda.send(new InvokeCommand({ FunctionName: name, Payload: Buffer.from(JSON.stringify(event)) }));
    }
    sqs.destroy();
    lambda.destroy();
  }

  async function redrive(request: object): Promise<{ failed: boolean; answer: string }> {
    const lambda = new LambdaClient(operator());
    const Payload = Buffer.from(JSON.stringify(request));
    const invoked = await lambda.send(new InvokeCommand({ FunctionName: sluice.functionOf('redrive').name, Payload }));
    lambda.destroy();
    return { failed: invoked.FunctionError !== undefined, answer: invoked.Payload?.transformToString() ?? '' };
  }

  /** What operators replay, and what they ask for that cannot be done: of a refused request only the wrong field is repeated. */
  async function operatorsReplay({ id }: SubmissionView): Promise<void> {
    const everything = { submissionId: id, force: true, dryRun: false };
    expect(JSON.parse((await redrive(everything)).answer)).toMatchObject({ replayed: 5, unsent: 0 });
    await waitFor(
      () => clientOf(sluice).submission(id),
      ({ state, counts }) => state === 'failed' && counts.failed === 5,
    );
    expect(JSON.parse((await redrive({ mode: 'dead_letter_queue', dryRun: false })).answer)).toMatchObject({
      // Messages that nobody could read.
      byReason: { unreadable_message: expect.any(Number) },
    });
    const nobody = { tenantId: plant('tenant of a redrive'), finishedAfter: '2026-01-01T00:00:00Z' };
    expect(JSON.parse((await redrive(nobody)).answer)).toMatchObject({ replayed: 0 });

    const others = () => ({
      submissionId: plant('submission of a refused redrive'),
      tenantId: plant('tenant of a refused redrive'),
      provider: plant('provider of a refused redrive'),
      cursor: plant('cursor of a refused redrive'),
    });
    const wrong = `zw${randomBytes(6).toString('hex')}`;
    const { failed, answer } = await redrive({ ...others(), limit: wrong });
    // What an operator got wrong is an answer, not a failure of the function.
    expect([failed, answer.includes(`limit is \\"${wrong}`)]).toEqual([false, true]);
    const unknown = await redrive({ ...others(), recordId: plant('value of an unknown field') });
    expect([unknown.failed, unknown.answer.includes('There is no field recordId')]).toEqual([false, true]);
  }

  /** What is stored is damaged, and services fail: functions end in ways that nobody foresaw. */
  async function storesGoBadly({ id }: SubmissionView): Promise<void> {
    const s3 = new S3Client({ ...operator(), forcePathStyle: true });
    const dynamo = new DynamoDBClient(operator());
    // Of the second results: the submission was replayed.
    const Key = `results/acme/${id}/v2/manifest.json`;
    const Body = `${plant('damaged manifest')}\n    at ${plant('frame in a manifest')} (file.ts:1:1)`;
    await s3.send(new PutObjectCommand({ Bucket: sluice.resources.buckets['Files/Bucket'] ?? '', Key, Body }));
    expect((await call(sluice, `/v1/submissions/${id}/results`)).status).toBe(500);
    const damaged = {
      submissionId: { S: id },
      part: { S: 'head' },
      [plant('damaged name')]: { S: plant('damaged value') },
      state: { S: plant('damaged state') },
    };
    await dynamo.send(
      new PutItemCommand({ TableName: sluice.resources.tables['Tables/Submissions'] ?? '', Item: damaged }),
    );
    expect((await call(sluice, `/v1/submissions/${id}`)).status).toBe(500);
    expect((await call(sluice, `/v1/submissions/${id}/cancel`, { method: 'POST' })).status).toBe(500);
    expect((await redrive({ submissionId: id, dryRun: false })).failed).toBe(true);
    const restore = sluice.cloud.faults.add({ match: { service: 'dynamodb' }, rate: 1, error: 'unavailable' });
    const down = await call(sluice, '/v1/submissions', { headers: { 'x-custom': plant('header in an outage') } });
    expect(down.status).toBe(503);
    const key = `slk_00000000_${plant('key in an outage').padEnd(43, '0')}`;
    expect((await call(sluice, '/v1/submissions', { headers: { authorization: `Bearer ${key}` } })).status).toBe(503);
    await sluice.fireSchedule('reconciler').catch(() => undefined);
    restore();
    s3.destroy();
    dynamo.destroy();
  }

  beforeAll(async () => {
    await allGoesWell();
    failing = await recordsGoBadly();
    await providersGoBadly();
    await requestsGoBadly();
    await messagesGoBadly();
    await operatorsReplay(failing);
    await storesGoBadly(failing);
    await sluice.fireSchedule('reconciler');
  });

  test('has a line of every function, and tells what happened', () => {
    const sources = new Set(written.map(({ source }) => source));
    const silent = sluice.functions.specs.filter(({ name }) => !sources.has(name));
    expect(silent.map(({ name }) => name)).toEqual([]);
    const text = written.map((line) => line.text).join('\n');
    for (const expected of [
      failing.id,
      'invalid_record',
      'malformed_row',
      'provider_rejected',
      'credential_refused',
      'unexpected_error',
      'SyntaxError',
      '_aws',
      '"status":"500"',
      'DependencyUnavailableError',
      'redriven',
    ]) {
      expect(text).toContain(expected);
    }
    expect(planted.size).toBeGreaterThan(80);
  });

  test('has none of the words that were planted, from wherever', () => {
    const leaks = [...planted].flatMap(([where, word]) =>
      written
        .filter(({ text }) => text.toLowerCase().includes(word.toLowerCase()))
        .map(({ source, text }) => ({ where, source, text: text.slice(0, 500) })),
    );
    expect(leaks).toEqual([]);
  });
});
