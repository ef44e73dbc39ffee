import { AcceptedSchemas } from '../../../lambdas/domain/submissions/schemas.ts';
import { settleStopped } from '../../../lambdas/domain/ledger/settle-stopped.ts';
import { createHash } from 'node:crypto';
import { REASONS } from '../../../lambdas/domain/reasons.ts';
import { makeRow, SUBMISSION_ID, TENANT_ID, TERMS } from '../../support/factories.ts';
import { makeCsv, upTo } from '../../support/slices/fan-out-rig.ts';
import { createFinalizeRig, marksOf, type FinalizeRig } from '../../support/slices/finalize-rig.ts';

const parsed = (lines: readonly string[]): unknown[] => lines.map((line) => JSON.parse(line) as unknown);
const numbers = (lines: readonly string[]): number[] =>
  lines.map((line) => (JSON.parse(line) as { recordNo: number }).recordNo);

describe('the results of a submission', () => {
  it('join every row with its record of the source', async () => {
    const rig = createFinalizeRig();
    await rig.submit('record_id,name\nr1,Ada\nr2,Bob\nr3,x,y\nr4,Dan\n');
    await rig.run();
    await rig.work(({ recordNo }) => {
      if (recordNo === 2)
        return { state: 'dead_lettered', reason: 'attempts_exhausted', attempts: 5, detail: 'status 503' };
      if (recordNo === 3) return { detail: 'two cells expected', attempts: 0 };
      return recordNo === 4 ? { state: 'cancelled', reason: 'cancelled', attempts: 0 } : {};
    });

    await rig.finalize();

    expect(parsed(rig.lines('succeeded'))).toEqual([
      {
        recordNo: 1,
        line: 2,
        record: { record_id: 'r1', name: 'Ada' },
        output: { company: { name: 'Acme Ltd' }, geo: null },
        match: { company: 'found', geo: 'not_found' },
      },
    ]);
    expect(parsed(rig.lines('failed'))).toEqual([
      {
        recordNo: 2,
        line: 3,
        state: 'dead_lettered',
        reason: 'attempts_exhausted',
        message: REASONS.attempts_exhausted.customer,
        detail: 'status 503',
        attempts: 5,
        record: { record_id: 'r2', name: 'Bob' },
      },
      {
        recordNo: 3,
        line: 4,
        state: 'failed',
        reason: 'malformed_row',
        message: REASONS.malformed_row.customer,
        detail: 'two cells expected',
        attempts: 0,
        raw: 'r3,x,y',
      },
      {
        recordNo: 4,
        line: 5,
        state: 'cancelled',
        reason: 'cancelled',
        message: REASONS.cancelled.customer,
        attempts: 0,
        record: { record_id: 'r4', name: 'Dan' },
      },
    ]);
  });

  it('have columns for the providers that were asked, whatever is configured since', async () => {
    const rig = createFinalizeRig();
    const responses = {
      fax: { type: 'object', properties: { number: { type: 'string' } } },
      geo: { type: 'object', properties: { latitude: { type: 'number' }, longitude: { type: 'number' } } },
    };
    const schemas = new AcceptedSchemas(rig.world.submissions, { record: { type: 'object' }, responses });
    await schemas.keep();
    await rig.submit('record_id\nr1\n', { terms: { ...TERMS, providers: ['fax', 'geo'], schemas: schemas.hash } });
    await rig.run();
    const fax = { kind: 'found' as const, data: { number: '49301' } };
    await rig.work(() => ({ answers: { fax, geo: { kind: 'not_found' } } }));

    await rig.finalize();

    expect(rig.lines('succeeded', 'csv')).toEqual([
      'record_id,fax.match,fax.number,geo.match,geo.latitude,geo.longitude',
      'r1,found,49301,not_found,,',
    ]);
    expect(JSON.parse(rig.lines('succeeded')[0] ?? '')).toMatchObject({ output: { fax: fax.data, geo: null } });
  });

  it('come as CSV with the original columns where the input was CSV', async () => {
    const rig = createFinalizeRig();
    await rig.submit('record_id;company.name;note\nr1;Own;=1+1\nr2;;"a;b"\nr3;x\n');
    await rig.run();
    const data = { name: 'Acme; Ltd', address: { city: 'Ulm' }, tags: ['a'], hidden: 1 };
    await rig.work(({ recordNo }) => {
      if (recordNo > 1) return recordNo === 2 ? { state: 'failed', reason: 'invalid_record', detail: 'name' } : {};
      return { answers: { company: { kind: 'found', data }, geo: { kind: 'found', data: { latitude: -5.5 } } } };
    });

    await rig.finalize();

    expect(rig.lines('succeeded', 'csv')).toEqual([
      'record_id;company.name;note;company.match;company.name_2;company.address.city;company.tags;geo.match;geo.latitude',
      `r1;Own;"'=1+1";found;"Acme; Ltd";Ulm;"[""a""]";found;-5.5`,
    ]);
    expect(rig.lines('failed', 'csv')).toEqual([
      'record_id;company.name;note;reason;message;detail;record_no;line;raw',
      `r2;;"a;b";invalid_record;${REASONS.invalid_record.customer};name;2;3;`,
      `;;;malformed_row;${REASONS.malformed_row.customer};;3;4;"r3;x"`,
    ]);
  });

  it('are listed in the manifest with counts, reasons, sizes and hashes', async () => {
    const rig = createFinalizeRig();
    const text = { key: 'prepared/acme/1', ...rig.world.objects.seed('prepared/acme/1', makeCsv(60)) };
    const prepared = { source: text, format: 'csv', from: { kind: 'gzip' } } as const;
    await rig.submit('packed', { fileName: 'customers.csv', reference: 'order 7', expectedRecords: 61, prepared });
    await rig.run();
    await rig.work(({ recordNo }) => {
      if (recordNo % 10 === 0) return { state: 'failed', reason: 'provider_rejected' };
      return recordNo % 25 === 0 ? { state: 'cancelled', reason: 'cancelled' } : {};
    });

    await rig.finalize();

    const manifest = await rig.manifest();
    expect(manifest).toMatchObject({
      v: 1,
      submissionId: SUBMISSION_ID,
      version: 1,
      state: 'partially_failed',
      createdAt: new Date(rig.clock.now()).toISOString(),
      fileName: 'customers.csv',
      reference: 'order 7',
      source: { sizeBytes: 6 },
      prepared: { ...text, from: { kind: 'gzip' } },
      expectedRecords: 61,
      matchesExpected: false,
      counts: { total: 60, succeeded: 53, failed: 6, cancelled: 1 },
      failures: { provider_rejected: 6 },
    });
    expect(manifest.files.map(({ kind, format, part, records }) => ({ kind, format, part, records }))).toEqual([
      { kind: 'succeeded', format: 'ndjson', part: 1, records: 53 },
      { kind: 'failed', format: 'ndjson', part: 1, records: 7 },
      { kind: 'succeeded', format: 'csv', part: 1, records: 53 },
      { kind: 'failed', format: 'csv', part: 1, records: 7 },
    ]);
    for (const { key, bytes, sha256 } of manifest.files) {
      const content = Buffer.from(rig.world.objects.text(key));
      expect(bytes).toBe(content.length);
      expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
    }
    expect(rig.stored()).toMatchObject({
      state: 'partially_failed',
      resultsVersion: 1,
      finalCounts: { total: 60, pending: 0, succeeded: 53, failed: 6, cancelled: 1 },
    });
    expect(await rig.world.admission.openWork(TENANT_ID)).toEqual([]);
  });

  it.each(['ndjson', 'json'] as const)('of a %s file are NDJSON only', async (format) => {
    const rig = createFinalizeRig();
    const text = '{"record_id":"1","n":{"deep":[1.5,null]}}\n{"record_id":}\n';
    await rig.submit(format === 'ndjson' ? text : `[${text.split('\n').slice(0, 1).join()}]`, { format });
    await rig.run();
    await rig.work();

    await rig.finalize();

    expect((await rig.manifest()).files.map((file) => file.format)).toEqual(['ndjson', 'ndjson']);
    expect(parsed(rig.lines('succeeded'))).toMatchObject([{ record: { record_id: '1', n: { deep: [1.5, null] } } }]);
    if (format === 'ndjson') expect(parsed(rig.lines('failed'))).toMatchObject([{ raw: '{"record_id":}' }]);
  });

  it('exist, empty, for a file without records', async () => {
    const rig = createFinalizeRig();
    await rig.submit('record_id,name\n');
    await rig.run();

    await rig.finalize();

    expect(rig.stored()).toMatchObject({ state: 'complete', resultsVersion: 1 });
    expect((await rig.manifest()).files.map(({ records }) => records)).toEqual([0, 0, 0, 0]);
    expect(rig.lines('failed')).toEqual([]);
    expect(rig.lines('failed', 'csv')).toEqual(['record_id,name,reason,message,detail,record_no,line,raw']);
  });

  it('come in parts of a fixed number of chunks, each in record order', async () => {
    const rig = createFinalizeRig({ settings: { partChunks: 2 } });
    await rig.submit(makeCsv(1_200));
    await rig.run();
    await rig.work(({ recordNo }) => (recordNo % 3 === 0 ? { state: 'failed', reason: 'invalid_record' } : {}));

    await rig.finalize();

    for (const kind of ['succeeded', 'failed'] as const) {
      const inParts = [1, 2, 3].map((part) => numbers(rig.lines(kind, 'ndjson', part)));
      expect(inParts.flat()).toEqual(upTo(1_200).filter((n) => (n % 3 === 0) === (kind === 'failed')));
      expect(inParts.map((part) => Math.ceil((part.at(-1) ?? 0) / 500))).toEqual([1, 2, 3]);
    }
    expect((await rig.manifest()).counts).toEqual({ total: 1_200, succeeded: 800, failed: 400, cancelled: 0 });
  });

  it('of a replay are another version beside the first', async () => {
    const rig = createFinalizeRig();
    await rig.submit(makeCsv(5));
    await rig.run();
    await rig.work(({ recordNo }) => (recordNo === 2 ? { state: 'failed', reason: 'provider_rejected' } : {}));
    await rig.finalize();
    const { deadlineAtMs } = rig.stored();
    await rig.world.submissions.reopen(SUBMISSION_ID, {
      chunks: [0],
      generation: 1,
      nowMs: rig.clock.now(),
      deadlineAtMs,
    });
    await rig.world.ledger.reopen(SUBMISSION_ID, 0, [1]);
    await rig.work(({ recordNo }) => (recordNo === 2 ? { generation: 1 } : {}));

    await rig.finalize();

    expect(rig.stored()).toMatchObject({ state: 'complete', resultsVersion: 2 });
    expect(numbers(rig.lines('failed', 'ndjson', 1, 1))).toEqual([2]);
    expect(numbers(rig.lines('succeeded', 'ndjson', 1, 2))).toEqual(upTo(5));
  });
});

describe('the state at the end', () => {
  const ended = async (prepare: (rig: FinalizeRig) => Promise<void>, records = 4): Promise<string> => {
    const rig = createFinalizeRig();
    await rig.submit(makeCsv(records));
    await rig.run();
    await prepare(rig);
    await rig.finalize();
    expect(rig.world.telemetry.named('submission_finished')).toMatchObject([{ outcome: rig.stored().state }]);
    expect(rig.stored().nextCheckAtMs).toBeUndefined();
    return rig.stored().state;
  };
  const failing = { state: 'failed', reason: 'invalid_record' } as const;
  const stop = async (rig: FinalizeRig, kind: 'cancelled' | 'expired') =>
    rig.world.submissions.requestStop(SUBMISSION_ID, { kind, atMs: rig.clock.now() - 60_000 });

  it('is what the records say', async () => {
    expect(await ended(async (rig) => rig.work())).toBe('complete');
    expect(await ended(async (rig) => rig.work(() => failing))).toBe('failed');
    expect(await ended(async (rig) => rig.work(({ recordNo }) => (recordNo === 1 ? failing : {})))).toBe(
      'partially_failed',
    );
  });

  it('is what the stop order says, where there is one', async () => {
    const cancelled = { state: 'cancelled', reason: 'cancelled' } as const;
    const late = { state: 'failed', reason: 'deadline_passed' } as const;
    const withStop = async (kind: 'cancelled' | 'expired', outcome: typeof cancelled | typeof late) =>
      ended(async (rig) => {
        await stop(rig, kind);
        await rig.work(({ recordNo }) => (recordNo === 1 ? {} : outcome));
      });
    expect(await withStop('cancelled', cancelled)).toBe('cancelled');
    expect(await withStop('expired', late)).toBe('expired');
  });

  it.each([
    ['cancelled', 'cancelled', 'cancelled'],
    ['expired', 'failed', 'deadline_passed'],
  ] as const)('(%s) takes from the ledger what became of records without a row', async (kind, state, reason) => {
    const rig = createFinalizeRig();
    await rig.submit(makeCsv(4));
    await rig.run();
    const { world, clock } = rig;
    await stop(rig, kind);
    await world.records.put(makeRow({ recordNo: 1 }));
    await world.records.put(makeRow({ recordNo: 2, state: 'deferred', reason: 'pacer_full', attempts: 1 }));
    const stored = await world.submissions.getWithLedger(SUBMISSION_ID);
    if (!stored) throw new Error('It is gone.');
    await world.ledger.mark(SUBMISSION_ID, 0, marksOf([makeRow({ recordNo: 1 })]), stored.submission.expiresAtSeconds);
    const finalizeQueue = world.queues.live.finalize;
    const deps = { ...world, finalizeQueue, clock };
    const { submission, ledger } = (await world.submissions.getWithLedger(SUBMISSION_ID)) ?? stored;
    expect(await settleStopped(deps, submission, ledger)).toBe(3);
    await rig.finalize();
    expect(rig.stored()).toMatchObject({ state: kind, finalCounts: { total: 4, succeeded: 1, [state]: 3 } });
    expect(rig.lines('failed').map((line) => JSON.parse(line))).toMatchObject([
      { recordNo: 2, state, reason, attempts: 1 },
      { recordNo: 3, state, reason, attempts: 0 },
      { recordNo: 4, state, reason },
    ]);
  });
});
