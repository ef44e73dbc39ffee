import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startLocal, type LocalSluice } from '../../local/start.ts';
import { clientOf, ended, SAMPLE } from './support/sluice.ts';

let sluice: LocalSluice;
beforeAll(async () => {
  sluice = await startLocal({ stage: 'sandbox', schedules: 'manual' });
});
afterAll(() => sluice.stop());

test('a first deployment finishes a file by itself: its own stand-ins answer, with the credentials of its own secret', async () => {
  const client = clientOf(sluice);
  const { id } = await client.submitFile(SAMPLE, 'first');
  expect(await ended(client, id)).toMatchObject({
    state: 'partially_failed',
    counts: { total: 200, succeeded: 192, failed: 8 },
    failures: { invalid_record: 5, malformed_row: 2, provider_rejected: 1 },
  });
  const asked = sluice.cloud.calls().filter(({ operation }) => operation === 'InvokeFunctionUrl');
  expect(asked.map(({ principal }) => principal)).toEqual(['anonymous']);
  expect(sluice.cloud.denials()).toEqual([]);
});

test('nobody else may call a function without a signature', async () => {
  const { name } = sluice.functionOf('submit');
  const answer = await fetch(`${sluice.awsEndpoint}/function-urls/${name}/`);
  expect(answer.status).toBe(403);
});
