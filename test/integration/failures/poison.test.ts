import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { lambdaInvoker, runRedrive, type RedriveCliDeps } from '../../../cli/redrive.ts';
import { runWhere } from '../../../cli/where.ts';
import {
  isQuiet,
  queueUrl,
  reconcileNow,
  shortenVisibility,
  startRig,
  submitText,
  untilClosed,
  type Rig,
} from '../../../local/drills/rig.ts';
import { waitFor } from '../../../local/drills/wait.ts';
import { systemClock } from '../../../lambdas/runtime/clock.ts';

/* Single records and messages that would take others with them, if anything let them. */
jest.setTimeout(600_000);
const PATIENCE_MS = 180_000;

let rig: Rig;
let invoke: RedriveCliDeps['invoke'] & { close(): void };
beforeAll(async () => {
  rig = await startRig();
  const { awsEndpoint: endpoint, region, operatorCredentials } = rig.sluice.cloud;
  invoke = lambdaInvoker({ endpoint, region, credentials: { ...operatorCredentials } });
});
afterAll(async () => {
  invoke?.close();
  await rig?.stop();
});

const LANE = 'SmallLane/Records/Queue';
const DEAD_LETTERS = 'SmallLane/Records/Dlq';

const send = async (MessageBody: string): Promise<void> => {
  await rig.sqs.send(
    new SendMessageCommand({ QueueUrl: queueUrl(rig, LANE), MessageBody, MessageGroupId: 'somebody' }),
  );
};

/** What lies in the small lane's dead-letter queue, which it leaves there: the attributes of each message by its body. */
async function deadLetters(): Promise<Map<string, Record<string, string | undefined>>> {
  const answer = await rig.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl(rig, DEAD_LETTERS),
      MaxNumberOfMessages: 10,
      VisibilityTimeout: 0,
      MessageAttributeNames: ['All'],
    }),
  );
  return new Map(
    (answer.Messages ?? []).map(({ Body, MessageAttributes = {} }) => [
      Body ?? '',
      Object.fromEntries(Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue])),
    ]),
  );
}

const parked = async (body: string, redrives?: string) =>
  waitFor(
    async () => {
      const attributes = (await deadLetters()).get(body);
      return attributes !== undefined && attributes['redrives'] === redrives ? attributes : undefined;
    },
    { what: `${body} in the dead-letter queue`, timeoutMs: PATIENCE_MS },
  );

const customers = (domains: readonly string[]): string =>
  ['record_id,name,email,domain', ...domains.map((domain, index) => `C-${index},Ada,ada@${domain},${domain}`)].join(
    '\n',
  );
const domains = (count: number, of: string): string[] => Array.from({ length: count }, (_, i) => `${of}-${i}.example`);

/** Runs the operator's command and answers what it printed. */
async function redrive(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const redriveFunction = rig.sluice.functionOf('redrive').name;
  await runRedrive({ invoke, print: (line) => void lines.push(line), redriveFunction }, args);
  return lines.join('\n');
}

async function where(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const { submissions, records } = rig;
  await runWhere({ submissions, records, clock: systemClock, print: (line) => void lines.push(line) }, args);
  return lines.join('\n');
}

test('a message that is not JSON is parked with a reason, and the rest of its batch is unharmed', async () => {
  const source = rig.sluice.events.sourceOf(rig.sluice.functionOf('worker', 'small').name);
  // The poll that is under way when a source is paused still takes what comes first: one message of its own.
  source.pause();
  await send('not JSON either');
  const { id } = await submitText(rig, customers(domains(5, 'beside')));
  await waitFor(async () => ((await depth(LANE)) >= 5 ? true : undefined), {
    what: 'five records in the lane',
    timeoutMs: PATIENCE_MS,
  });
  await send('this is not JSON');
  source.resume();

  const view = await untilClosed(rig, id, PATIENCE_MS);

  expect(view).toMatchObject({ state: 'complete', counts: { succeeded: 5, failed: 0 } });
  expect(await parked('this is not JSON')).toMatchObject({ reason: expect.stringMatching(/\w/) });
  expect(await parked('not JSON either')).toMatchObject({ reason: expect.stringMatching(/\w/) });
  expect(rig.sluice.cloud.denials()).toEqual([]);
});

test('an unreadable message that was redriven three times is set apart from the dead letters', async () => {
  await send('{"v":0}');
  await parked('{"v":0}');

  for (const redrives of ['1', '2', '3']) {
    expect(await redrive('--mode', 'dead_letter_queue', '--lane', 'small')).toMatch(/would be replayed/);
    expect(await redrive('--mode', 'dead_letter_queue', '--lane', 'small', '--execute')).toMatch(/unreadable_message/);
    await parked('{"v":0}', redrives);
  }

  expect(await redrive('--mode', 'dead_letter_queue', '--lane', 'small', '--execute')).toMatch(/moved to set-apart/);
  expect(await depth(LANE)).toBe(0);
  expect([...(await deadLetters()).keys()]).not.toContain('{"v":0}');
  expect(rig.sluice.cloud.denials()).toEqual([]);
});

test('a record that kills its worker is dead-lettered alone, and its nine neighbours succeed', async () => {
  const restore = await shortenVisibility(rig);
  // The provider never answers for this one, so the worker is killed while it holds it, as for want of memory.
  const poison = 'hang.example.com';
  const { id } = await submitText(rig, customers([...domains(4, 'before'), poison, ...domains(5, 'behind')]));
  let seen = 0;

  const view = await waitFor(
    async () => {
      const { [poison]: calls = 0 } = await rig.sluice.providers.callsByKey('company');
      if (calls > seen) {
        seen = calls;
        rig.sluice.killWorkers('small');
      }
      const now = await rig.client.submission(id);
      if (now.state === 'partially_failed') return now;
      if (await isQuiet(rig)) await reconcileNow(rig, id);
      return undefined;
    },
    { what: `the end of ${id}`, timeoutMs: PATIENCE_MS * 2, everyMs: 50 },
  );
  await restore();

  expect(view).toMatchObject({ counts: { succeeded: 9, failed: 1 }, failures: { worker_crashed: 1 } });
  const rows = await rig.records.chunkRows(id, 0);
  expect(rows.filter(({ state }) => state !== 'succeeded')).toMatchObject([
    { recordNo: 5, state: 'dead_lettered', reason: 'worker_crashed' },
  ]);
  expect(seen).toBeGreaterThanOrEqual(5);
  expect(await where(id)).toMatch(/partially_failed[^]*9 succeeded, 1 failed[^]*1 {2}worker_crashed/);
  expect(await where(id, '5')).toMatch(/^Record 5 of .*: dead_lettered\n +reason +worker_crashed\. /);
  expect(rig.sluice.cloud.denials()).toEqual([]);
});

async function depth(queue: string): Promise<number> {
  const { visible, inFlight, delayed } = await rig.sluice.cloud.inspect.queueDepth(queueUrl(rig, queue));
  return visible + inFlight + delayed;
}
