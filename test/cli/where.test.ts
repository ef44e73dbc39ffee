import { runWhere } from '../../cli/where.ts';
import { UsageError } from '../../cli/usage.ts';
import { InvalidDataError } from '../../lambdas/domain/errors.ts';
import type { LedgerChunk, RecordRow, Submission } from '../../lambdas/domain/model.ts';
import { makeLedgerChunk, makeProcessing, makeRow, makeSubmission, SUBMISSION_ID } from '../support/factories.ts';
import { createTestClock, START_MS } from '../support/memory/index.ts';

interface Stored {
  submission?: Submission;
  ledger?: LedgerChunk[];
  rows?: RecordRow[];
}

async function where(stored: Stored, ...args: string[]): Promise<string> {
  const { submission, ledger = [], rows = [] } = stored;
  const lines: string[] = [];
  const clock = createTestClock();
  await clock.advance(180_000);
  await runWhere(
    {
      submissions: {
        getWithLedger: async () => (submission === undefined ? undefined : { submission, ledger }),
        listByTenant: async () => ({ items: submission === undefined ? [] : [submission], unreadable: [] }),
      },
      records: {
        getMany: async (keys) => rows.filter((row) => keys.some(({ recordNo }) => recordNo === row.recordNo)),
      },
      clock,
      print: (line) => void lines.push(line),
    },
    args.length === 0 ? [SUBMISSION_ID] : args,
  );
  return lines.join('\n');
}

const waiting = { state: 'deferred', reason: 'breaker_open', waitingOn: 'company', attempts: 0, answers: {} } as const;

test('one screen tells state, counts, failures in words, and what waits for whom until when', async () => {
  const ledger = [
    makeLedgerChunk({ succeeded: new Set([0, 1, 2]), failed: new Map([['invalid_record', new Set([3, 4])]]) }),
  ];
  const rows = [
    makeRow({ ...waiting, recordNo: 6, waitingUntilMs: START_MS + 200_000 }),
    makeRow({ ...waiting, recordNo: 7, waitingUntilMs: START_MS + 240_000 }),
  ];

  const text = await where({ submission: makeProcessing(10, { reference: 'nightly' }), ledger, rows });

  expect(text).toMatch(new RegExp(`^${SUBMISSION_ID}: processing`));
  expect(text).toMatch(/created +\S+Z, 3 min ago/);
  expect(text).toMatch(/reference "nightly"/);
  expect(text).toMatch(/stands at +the workers/);
  expect(text).toMatch(/Records: 10; 3 succeeded, 2 failed, 0 cancelled, 5 pending/);
  expect(text).toMatch(/2 {2}invalid_record +The record failed validation/);
  expect(text).toMatch(/2 {2}deferred on company until 2026-01-06T12:19:00Z: breaker_open\. The circuit breaker/);
  expect(text).toMatch(/3 {2}in the queue/);
  expect(text).toMatch(/npm run redrive -- --submission/);
});

test.each([
  [makeSubmission(), /its fan-out message is not known to be sent/],
  [
    makeSubmission({
      state: 'processing',
      outboxPending: false,
      fanOut: { done: false, byteOffset: 250, records: 20, line: 21, leaseUntilMs: START_MS + 200_000 },
    }),
    /fan-out: 25 % of the file read, a slice works on it until/,
  ],
  [
    makeProcessing(2, { state: 'finalizing', finalize: { nextPart: 2, leaseUntilMs: START_MS } }),
    /finalization: part 2 is next, no slice works on it/,
  ],
])('it tells which part has to move next', async (submission, expected) => {
  expect(await where({ submission })).toMatch(expected);
});

test('a rejected file says why', async () => {
  const rejection = { code: 'EMPTY_FILE', detail: 'The file has no records.' };
  expect(await where({ submission: makeSubmission({ state: 'rejected', rejection }) })).toMatch(
    /rejected +EMPTY_FILE: The file has no records\./,
  );
});

test('a record that failed is told in words, with what a replay can do', async () => {
  const row = makeRow({
    recordNo: 2,
    state: 'dead_lettered',
    reason: 'attempts_exhausted',
    detail: 'company answered 503.',
    attempts: 5,
    answers: { geo: { kind: 'not_found' } },
  });

  const text = await where({ submission: makeProcessing(3), rows: [row] }, SUBMISSION_ID, '2');

  expect(text).toMatch(/^Record 2 of \S+: dead_lettered\n/);
  expect(text).toMatch(/reason +attempts_exhausted\. The attempts are used up/);
  expect(text).toMatch(/detail +company answered 503\./);
  expect(text).toMatch(/attempts +5; replayed 0 times/);
  expect(text).toMatch(/answers +geo not found/);
  expect(text).toMatch(/replay +can help once the cause is gone: npm run redrive/);
});

test('a record that waits says on whom and until when', async () => {
  const row = makeRow({ ...waiting, recordNo: 2, waitingUntilMs: START_MS + 240_000 });
  const text = await where({ submission: makeProcessing(3), rows: [row] }, SUBMISSION_ID, '2');
  expect(text).toMatch(/^Record 2 of \S+: deferred on company until 2026-01-06T12:19:00Z/);
  expect(text).not.toMatch(/replay +can/);
});

test.each([
  ['2', /pending\. It is in the queue/],
  ['4', /there is none; the file has 3 records/],
])('record %s without a row', async (recordNo, expected) => {
  expect(await where({ submission: makeProcessing(3) }, SUBMISSION_ID, recordNo)).toMatch(expected);
});

test('a record that fan-out has not reached is not read yet', async () => {
  expect(await where({ submission: makeSubmission() }, SUBMISSION_ID, '9')).toMatch(/not read yet/);
});

test('an unknown submission is named', async () => {
  await expect(where({}, 'sub_nope')).rejects.toThrow(InvalidDataError);
  await expect(where({}, 'sub_nope')).rejects.toThrow(/sub_nope/);
});

test.each([[[SUBMISSION_ID, '0']], [[SUBMISSION_ID, 'x']], [[SUBMISSION_ID, '1', '2']]])(
  'arguments %j are explained',
  async (args) => {
    await expect(where({ submission: makeProcessing(3) }, ...args)).rejects.toThrow(UsageError);
  },
);
