import { RedriveRefusedError, runRedrive } from '../../cli/redrive.ts';
import type { Report } from '../../cli/redrive-report.ts';
import { readCliEnvironment } from '../../cli/environment.ts';
import { UsageError } from '../../cli/usage.ts';
import { SUBMISSION_ID } from '../support/factories.ts';
import { createRedriveRig } from '../support/redrive-rig.ts';

const answer = (change: Partial<Report> = {}): string =>
  JSON.stringify({
    dryRun: true,
    replayed: 0,
    byReason: {},
    submissions: 0,
    providerCalls: { company: 0, geo: 0 },
    seconds: 0,
    skipped: {},
    unsent: 0,
    deadLettersDeleted: 0,
    stoppedEarly: false,
    deadLetters: [],
    ...change,
  });

/** Runs the command against a function that gives these answers in turn. */
async function run(args: readonly string[], payloads: readonly string[], failed = false) {
  const asked: { functionName: string; event: object }[] = [];
  const lines: string[] = [];
  const ended = runRedrive(
    {
      async invoke(functionName, event) {
        asked.push({ functionName, event });
        return { payload: payloads[asked.length - 1] ?? '', failed };
      },
      print: (line) => void lines.push(line),
      redriveFunction: 'redrive-dev',
    },
    args,
  );
  await ended;
  return { asked, text: lines.join('\n') };
}

test('nothing is replayed unless it is said', async () => {
  const args = ['--submission', 'sub_1', '--reason', 'attempts_exhausted,internal_error', '--rate', '5'];
  const { asked, text } = await run(args, [answer({ replayed: 3, byReason: { attempts_exhausted: 3 } })]);

  expect(asked).toEqual([
    {
      functionName: 'redrive-dev',
      event: {
        submissionId: 'sub_1',
        reason: ['attempts_exhausted', 'internal_error'],
        ratePerSecond: 5,
        dryRun: true,
      },
    },
  ]);
  expect(text).toMatch(/^Dry run: nothing was changed\.\n3 records would be replayed\./);
  expect(text).toMatch(/3 {2}attempts_exhausted +The attempts are used up/);
  expect(text).toMatch(/Add --execute to do it\.$/);
});

test('every selector reaches the function', async () => {
  const { asked } = await run(
    (
      '--mode dead_letter_queue --tenant acme --provider geo --lane small --force --after 2026-01-01T00:00:00Z ' +
      '--before 2026-01-02T00:00:00Z --execute --function other'
    ).split(' '),
    [answer({ dryRun: false })],
  );

  expect(asked).toEqual([
    {
      functionName: 'other',
      event: {
        mode: 'dead_letter_queue',
        tenantId: 'acme',
        provider: 'geo',
        lane: 'small',
        force: true,
        finishedAfter: '2026-01-01T00:00:00Z',
        finishedBefore: '2026-01-02T00:00:00Z',
        dryRun: false,
      },
    },
  ]);
});

test('an answer that says where to go on is followed, and the sum is told', async () => {
  const part = {
    dryRun: false,
    byReason: { attempts_exhausted: 2 },
    providerCalls: { company: 2, geo: 1 },
    seconds: 1,
  };
  const { asked, text } = await run(
    ['--tenant', 'acme', '--execute'],
    [
      answer({ ...part, replayed: 2, submissions: 1, nextCursor: 'here' }),
      answer({ ...part, replayed: 3, submissions: 2, skipped: { exhausted: 4 }, unsent: 1 }),
    ],
  );

  expect(asked.map(({ event }) => event)).toEqual([
    { tenantId: 'acme', dryRun: false },
    { tenantId: 'acme', dryRun: false, cursor: 'here' },
  ]);
  expect(text).toMatch(/5 records of 3 submissions were replayed\./);
  expect(text).toMatch(/4 {2}attempts_exhausted/);
  expect(text).toMatch(/company 4, geo 2/);
  expect(text).toMatch(/4 left alone:\n +4 {2}exhausted +replayed 3 times already/);
  expect(text).toMatch(/1 could not be sent now/);
  expect(text).not.toMatch(/--execute/);
});

test('what the function refuses is said in its own sentence', async () => {
  const payload = JSON.stringify({ errorType: 'InvalidDataError', errorMessage: 'lane is "fast": set small or bulk.' });

  await expect(run(['--tenant', 'acme'], [payload], true)).rejects.toEqual(
    new RedriveRefusedError('lane is "fast": set small or bulk.'),
  );
});

test('another function answers something else, which is noticed', async () => {
  await expect(run(['--tenant', 'acme'], ['{"statusCode":200}'])).rejects.toThrow(/is it the redrive function/);
});

test.each([[['--rate', 'fast']], [['--lane', 'middle']]])('arguments %j are explained', async (args) => {
  await expect(run(args, [])).rejects.toThrow(UsageError);
});

test('without a function there is nothing to ask', async () => {
  const deps = { invoke: async () => ({ payload: '', failed: false }), print: () => undefined };
  await expect(runRedrive({ ...deps, redriveFunction: undefined }, ['--tenant', 'acme'])).rejects.toThrow(
    /REDRIVE_FUNCTION/,
  );
  expect(readCliEnvironment({ REDRIVE_FUNCTION: 'redrive' }).redriveFunction).toBe('redrive');
});

test('the answers of the real function are understood', async () => {
  const rig = createRedriveRig();
  await rig.seed(2);
  await rig.finish([
    { recordNo: 1, state: 'dead_lettered', reason: 'attempts_exhausted', attempts: 5 },
    { recordNo: 2, state: 'failed', reason: 'invalid_record' },
  ]);
  const lines: string[] = [];
  const invoke = async (_name: string, event: object) => ({
    payload: JSON.stringify(await rig.ask(event)),
    failed: false,
  });
  const deps = { invoke, print: (line: string) => void lines.push(line), redriveFunction: 'redrive' };

  await runRedrive(deps, ['--submission', SUBMISSION_ID]);

  expect(lines).toEqual([
    'Dry run: nothing was changed.',
    '1 record of 1 submission would be replayed.',
    expect.stringMatching(/^ +1 {2}attempts_exhausted/),
    expect.stringMatching(/company 1, geo 1/),
    '1 left alone:',
    expect.stringMatching(/^ +1 {2}not_helpful .*--force/),
    'Add --execute to do it.',
  ]);
});

test('what the function refuses ends the command with its sentence', async () => {
  const refused = 'submissionId is "nope": there is no such submission, or it has expired.';
  const running = run(['--submission', 'nope'], [JSON.stringify({ refused })]);
  await expect(running).rejects.toThrow(RedriveRefusedError);
  await expect(running).rejects.toThrow(refused);
});

test('dead letters are listed by what they stand for', async () => {
  const deadLetters = [
    { lane: 'bulk', messageId: 'm1', submissionId: 'sub_1', recordNo: 7, reason: 'attempts_exhausted', sentAtMs: 0 },
    { lane: 'small', messageId: 'm2', sentAtMs: 0 },
  ];
  const { text } = await run(['--mode', 'dead_letter_queue'], [answer({ deadLetters, deadLettersDeleted: 2 })]);

  expect(text).toMatch(/2 dead letters deleted/);
  expect(text).toMatch(/bulk +sub_1 record 7 +attempts_exhausted +sent 1970-01-01T00:00Z/);
  expect(text).toMatch(/small +unreadable message m2 +moved by SQS/);
});

test('a submission whose results are lost is given up, and the answer says what becomes of it', async () => {
  const args = ['--mode', 'give_up', '--submission', 'sub_1'];
  const counted = await run(args, [answer({ givenUp: 1 })]);
  expect(counted.asked[0]?.event).toEqual({ mode: 'give_up', submissionId: 'sub_1', dryRun: true });
  expect(counted.text).toMatch(/nothing was changed[^]*would end as rejected/);

  const done = await run([...args, '--execute'], [answer({ dryRun: false, givenUp: 1 })]);
  expect(done.text).toMatch(/^Done\.\nThe submission ends as rejected within ten minutes, unless/);
});
