import { jest } from '@jest/globals';
import { DependencyMisconfiguredError } from '../../../lambdas/domain/errors.ts';
import type { Submission } from '../../../lambdas/domain/model.ts';
import { preparedKey } from '../../../lambdas/domain/prepare/prepare-slice.ts';
import { START_MS, type PortCall } from '../../support/memory/index.ts';
import { encoded, gzipped, textRow, workbook, zipped } from '../../support/prepare/files.ts';
import { SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { createFaultPlan, FAULTS } from '../../support/slices/faults.ts';
import { makeCsv, numbersOf, upTo } from '../../support/slices/fan-out-rig.ts';
import { createPrepareRig } from '../../support/slices/prepare-rig.ts';

// Every call of a run fails once in each way: many runs in one test.
jest.setTimeout(120_000);

const KEY = preparedKey({ tenantId: TENANT_ID, submissionId: SUBMISSION_ID });
const CSV = makeCsv(40);
const SHEET = workbook({
  sheets: { Export: textRow(2, 'record_id', 'name') + textRow(3, '1', 'two\nlines') + textRow(6, '2', 'b') },
});

const FILES: Record<string, { file: Uint8Array; text: string; records: number; overrides?: Partial<Submission> }> = {
  gzip: { file: gzipped(CSV), text: CSV, records: 40 },
  zip: { file: zipped({ 'a.csv': CSV }), text: CSV, records: 40 },
  'UTF-16': { file: encoded(CSV, 'utf-16le', { addBOM: true }), text: CSV, records: 40 },
  'a workbook': { file: SHEET, text: '\nrecord_id,name\n1,"two\nlines"\n\n\n2,b\n', records: 2 },
};

describe.each(Object.entries(FILES))('a source of %s', (_, { file, text, records }) => {
  it('is read as the text that is in it', async () => {
    const rig = createPrepareRig();
    await rig.submit(file);
    expect(await rig.drive()).toEqual([]);
    expect(rig.world.objects.text(KEY)).toBe(text);
    expect(numbersOf(rig.sent())).toEqual(upTo(records));
    expect(rig.stored()).toMatchObject({
      fanOut: { done: true, records },
      prepared: { format: 'csv', source: { key: KEY } },
    });
  });

  it.each(FAULTS)('is prepared once and whole when a call meets: %s', async (fault) => {
    let at = 0;
    for (; ; at++) {
      const plan = createFaultPlan();
      const rig = createPrepareRig({ hook: plan.hook, pieceBytes: 400 });
      await rig.submit(file);
      let slices = 0;
      await rig.drive(async (slice) => (slices++ === 0 ? plan.process(slice, fault, at) : plan.process(slice)));
      expect({ at, text: rig.world.objects.text(KEY) }).toEqual({ at, text });
      expect({ at, numbers: numbersOf(rig.sent()) }).toEqual({ at, numbers: upTo(records) });
      expect({ at, sent: rig.sent().length }).toEqual({ at, sent: records });
      expect(rig.stored().rejection).toBeUndefined();
      if (!plan.struck) break;
    }
    // Otherwise the loop has tested nothing.
    expect(at).toBeGreaterThan(6);
  });
});

it('numbers the lines of a workbook as its rows', async () => {
  const rig = createPrepareRig();
  await rig.submit(SHEET);
  await rig.drive();
  expect(rig.sent().map(({ recordNo, line }) => [recordNo, line])).toEqual([
    [1, 3],
    [2, 6],
  ]);
});

it('finds the format of what was unpacked', async () => {
  const rig = createPrepareRig();
  await rig.submit(gzipped('{"record_id":"1"}\n{"record_id":"2"}\n'));
  await rig.drive();
  expect(rig.stored()).toMatchObject({
    prepared: { format: 'ndjson', from: { kind: 'gzip' } },
    fanOut: { records: 2 },
  });
});

it('decodes what was declared, and not what says otherwise itself', async () => {
  const rig = createPrepareRig();
  const text = 'record_id,name\n1,Größe\n';
  const terms = { maxRecordBytes: 65_536, maxRecords: 1_000, readerVersion: 1, reading: { charset: 'windows-1252' } };
  await rig.submit(encoded(text, 'windows-1252'), { terms });
  await rig.drive();
  expect(rig.world.objects.text(KEY)).toBe(text);

  const marked = createPrepareRig();
  await marked.submit(`\u{FEFF}${text}`, { terms });
  await marked.drive();
  expect(marked.stored().prepared).toBeUndefined();
  expect(marked.stored().fanOut).toMatchObject({ done: true, records: 1 });
});

it('costs a text in UTF-8 nothing', async () => {
  const calls: string[] = [];
  const rig = createPrepareRig({
    hook: async ({ port, method }: PortCall, apply) => {
      calls.push(`${port}.${method}`);
      return apply();
    },
  });
  await rig.submit(CSV);
  calls.length = 0;
  await rig.drive();
  // As before files were prepared: nothing of prepare, and the same reads and writes.
  expect(calls.filter((call) => !call.startsWith('queues.') || call.endsWith('.send'))).toEqual([
    'submissions.claimFanOut',
    'objects.read',
    'objects.read',
    'admission.openWork',
    'submissions.decideLane',
    'ledger.noteStarts',
    'queues.small.send',
    'ledger.setSize',
    'admission.setOpenWork',
    'submissions.completeFanOut',
  ]);
});

it('ends a submission whose file cannot be unpacked, with the remedy, as fan-out ends one', async () => {
  const rig = createPrepareRig();
  await rig.submit(zipped({ 'a.csv': CSV, 'b.csv': CSV }), { callbackUrl: 'https://customer.example/hook' });
  expect(await rig.drive()).toEqual([]);
  expect(rig.stored()).toMatchObject({
    state: 'rejected',
    rejection: { code: 'ZIP_MEMBERS', detail: expect.stringContaining('Pack one file') },
  });
  expect(rig.world.objects.keys()).not.toContain(KEY);
  expect(rig.world.telemetry.named('submission_rejected')).toHaveLength(1);
  expect(rig.world.queues.live.webhooks.messages()).toHaveLength(1);
});

it('waits where the source may not be read, and says who is denied', async () => {
  let isDenied = true;
  const rig = createPrepareRig({
    hook: async ({ port, method }, apply) => {
      if (isDenied && port === 'objects.writer' && method === 'write') {
        isDenied = false;
        const refusal = { action: 's3:PutObject', resource: 'bucket/prepared/x' };
        throw new DependencyMisconfiguredError('Writing failed.', refusal);
      }
      return apply();
    },
  });
  await rig.submit(gzipped(CSV));
  await rig.drive();
  const waits = rig.world.telemetry.named('prepare_continued');
  expect(waits).toMatchObject([{ level: 'warn', outcome: 'DependencyMisconfiguredError' }]);
  expect(rig.clock.now()).toBeGreaterThanOrEqual(START_MS + 30_000);
  expect(rig.stored()).toMatchObject({ state: 'processing', fanOut: { done: true, records: 40 } });
});

it('prepares nothing of a submission that is cancelled', async () => {
  const rig = createPrepareRig();
  await rig.submit(gzipped(CSV));
  await rig.run();
  await rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: rig.clock.now() });
  await rig.drive();
  expect(rig.world.objects.keys()).not.toContain(KEY);
  expect(rig.stored().fanOut).toMatchObject({ done: true, records: 0 });
});
