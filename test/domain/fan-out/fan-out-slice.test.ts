import { tally } from '../../../lambdas/domain/ledger/ledger.ts';
import type { Lane } from '../../../lambdas/domain/model.ts';
import { makeSubmission, SUBMISSION_ID, TENANT_ID, TERMS } from '../../support/factories.ts';
import { createFanOutRig, makeCsv, numbersOf, upTo, type FanOutRig } from '../../support/slices/fan-out-rig.ts';

const finalizeMessages = (rig: FanOutRig): unknown[] =>
  rig.world.queues.live.finalize.messages().map(({ body }) => JSON.parse(body) as unknown);

describe('fan-out of a file', () => {
  it('sends one message per record, with its number, line, content and expiry', async () => {
    const rig = createFanOutRig();
    await rig.submit('record_id,name\nr1,Ada\n\nr2,Bob,too many\nr3,Cleo\n', { generation: 0 });

    await rig.run();

    const about = {
      v: 1,
      submissionId: SUBMISSION_ID,
      tenantId: TENANT_ID,
      lane: 'small',
      attempt: 1,
      generation: 0,
      redrives: 0,
      firstEnqueuedAtMs: rig.clock.now(),
      expiresAtSeconds: makeSubmission().expiresAtSeconds,
    };
    expect(rig.sent()).toEqual([
      { ...about, recordNo: 1, line: 2, content: { kind: 'record', fields: { record_id: 'r1', name: 'Ada' } } },
      {
        ...about,
        recordNo: 2,
        line: 4,
        content: {
          kind: 'defect',
          reason: 'malformed_row',
          defect: 'COLUMN_COUNT',
          detail: expect.stringContaining('line 4'),
        },
      },
      { ...about, recordNo: 3, line: 5, content: { kind: 'record', fields: { record_id: 'r3', name: 'Cleo' } } },
    ]);
    expect(rig.world.queues.live.small.messages().map(({ group }) => group)).toEqual([TENANT_ID, TENANT_ID, TENANT_ID]);
  });

  it('ends with the number of records, the size of the last chunk and the open work noted', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(620));

    await rig.run();

    expect(rig.stored()).toMatchObject({ state: 'processing', lane: 'bulk', fanOut: { done: true, records: 620 } });
    expect(rig.world.inspect.ledger(SUBMISSION_ID).map(({ size }) => size)).toEqual([undefined, undefined, 120]);
    expect(await rig.world.admission.openWork(TENANT_ID)).toEqual([
      { submissionId: SUBMISSION_ID, records: 620, lane: 'bulk' },
    ]);
    expect(finalizeMessages(rig)).toEqual([]);
  });

  it.each(['csv', 'ndjson', 'json'] as const)('notes where every chunk of a %s file begins', async (format) => {
    const rows = upTo(600).map((n) => JSON.stringify({ record_id: `r${n}`, text: 'é'.repeat(n % 50) }));
    const files = { csv: makeCsv(600), ndjson: `${rows.join('\n')}\n`, json: `[${rows.join(',\n')}]` };
    const rig = createFanOutRig();
    await rig.submit(files[format], { format });

    await rig.run();

    const bytes = Buffer.from(files[format]);
    for (const { chunk, start } of rig.world.inspect.ledger(SUBMISSION_ID)) {
      const first = rig.sent().find(({ recordNo }) => recordNo === chunk * 250 + 1);
      const id = first?.content.kind === 'record' ? String(first.content.fields['record_id']) : 'no record';
      expect(start?.line).toBe(first?.line);
      expect(bytes.subarray(start?.byteOffset).toString('utf8').slice(0, 40)).toContain(id);
    }
  });

  it('ends a file without records by itself', async () => {
    const rig = createFanOutRig();
    await rig.submit('record_id,name\n');

    await rig.run();

    expect(rig.sent()).toEqual([]);
    expect(rig.stored()).toMatchObject({ state: 'finalizing', fanOut: { done: true, records: 0 } });
    expect(finalizeMessages(rig)).toEqual([
      { v: 1, kind: 'results', submissionId: SUBMISSION_ID, tenantId: TENANT_ID },
    ]);
  });

  it('starts finalization when the workers were faster', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(270));
    const all = (length: number) => Array.from({ length }, (_, offset) => offset);
    const marks = (succeeded: number[]) => ({ succeeded, cancelled: [], failed: new Map() });
    await rig.world.ledger.mark(SUBMISSION_ID, 0, marks(all(250)), makeSubmission().expiresAtSeconds);
    await rig.world.submissions.closeChunks(SUBMISSION_ID, [0], rig.clock.now());
    await rig.world.ledger.mark(SUBMISSION_ID, 1, marks(all(20)), makeSubmission().expiresAtSeconds);

    await rig.run();

    expect(rig.stored().state).toBe('finalizing');
    expect(finalizeMessages(rig)).toHaveLength(1);
  });

  it('makes a record that no message can carry a defect, and sends the others', async () => {
    const rig = createFanOutRig();
    // Every character takes six in ASCII-escaped JSON.
    await rig.submit(`{"record_id":"r1","t":"${'é'.repeat(150_000)}"}\n{"record_id":"r2"}\n`, {
      format: 'ndjson',
      terms: { ...TERMS, maxRecordBytes: 400_000 },
    });

    await rig.run();

    expect(rig.sent().map(({ content }) => content)).toEqual([
      expect.objectContaining({ kind: 'defect', reason: 'record_too_large', defect: 'RECORD_TOO_LARGE' }),
      { kind: 'record', fields: { record_id: 'r2' } },
    ]);
  });
});

describe('the lane of a file', () => {
  const laneOf = async (records: number, prepare = async (_rig: FanOutRig) => {}) => {
    const rig = createFanOutRig({ settings: { smallLaneThreshold: 300, smallLaneBytes: 12_000 } });
    await rig.submit(makeCsv(records));
    await prepare(rig);
    await rig.run();
    expect(new Set(rig.sent().map(({ lane }) => lane))).toEqual(new Set([rig.stored().lane]));
    expect(rig.world.queues.live[rig.stored().lane ?? 'small'].messages()).toHaveLength(records);
    return rig.stored().lane;
  };
  const open = (submissionId: string, records: number, lane: Lane) => async (rig: FanOutRig) =>
    rig.world.admission.setOpenWork(TENANT_ID, { submissionId, records, lane });

  it('is small up to the threshold and bulk beyond it', async () => {
    expect(await laneOf(300)).toBe('small');
    expect(await laneOf(301)).toBe('bulk');
  });

  it('is bulk for a small file of a tenant with more than the threshold open in the small lane', async () => {
    expect(await laneOf(10, open('other', 301, 'small'))).toBe('bulk');
    expect(await laneOf(10, open('other', 300, 'small'))).toBe('small');
  });

  it('does not count what the tenant has open in the bulk lane, nor the file itself', async () => {
    expect(await laneOf(10, open('other', 40_000, 'bulk'))).toBe('small');
    expect(await laneOf(10, open(SUBMISSION_ID, 40_000, 'small'))).toBe('small');
  });

  it('is not changed by another slice', async () => {
    const decided = async (rig: FanOutRig) => {
      await rig.world.submissions.claimFanOut({ submissionId: SUBMISSION_ID, owner: 'dead', nowMs: 0, leaseMs: 0 });
      await rig.world.submissions.decideLane(SUBMISSION_ID, 'dead', 'bulk');
    };
    expect(await laneOf(10, decided)).toBe('bulk');
  });

  it('is bulk where the beginning of the file is too long to hold back', async () => {
    const rig = createFanOutRig({ settings: { smallLaneBytes: 1_000 } });
    await rig.submit(makeCsv(200));
    await rig.run();
    expect(rig.stored().lane).toBe('bulk');
    expect(numbersOf(rig.sent())).toEqual(upTo(200));
  });
});

describe('a slice', () => {
  it('ends after its time with the lease given up and a message that continues it', async () => {
    const rig = createFanOutRig({
      settings: { checkpointRecords: 500, sliceMs: 60_000 },
      hook: async (call, apply) => {
        if (call.port === 'queues.bulk') await rig.clock.advance(20_000);
        return apply();
      },
    });
    await rig.submit(makeCsv(2_100));

    await rig.slice();

    expect(rig.stored().fanOut).toMatchObject({ done: false, records: 1_000 });
    expect(rig.stored().fanOut.leaseOwner).toBeUndefined();
    expect(numbersOf(rig.sent())).toEqual(upTo(1_000));
    expect(rig.world.queues.live.fanOut.messages()).toHaveLength(2);
    expect(rig.world.queues.live.fanOut.messages()[1]).toMatchObject({ group: TENANT_ID });

    await rig.run();
    expect(rig.sent().map(({ recordNo }) => recordNo)).toEqual(upTo(2_100));
    expect(rig.stored().fanOut).toMatchObject({ done: true, records: 2_100 });
  });

  it('ends early when the invocation has little time left', async () => {
    const rig = createFanOutRig({ settings: { checkpointRecords: 250, reserveMs: 20_000 } });
    await rig.submit(makeCsv(1_000));

    await rig.slice(19_999);

    expect(rig.stored().fanOut).toMatchObject({ done: false, records: 250 });
    expect(rig.world.telemetry.named('fanout_continued')).toHaveLength(1);
  });

  it('continues a message of a live owner only after the lease has ended', async () => {
    const rig = createFanOutRig({ settings: { leaseMs: 60_000 } });
    await rig.submit(makeCsv(20));
    const nowMs = rig.clock.now();
    await rig.world.submissions.claimFanOut({ submissionId: SUBMISSION_ID, owner: 'dead', nowMs, leaseMs: 60_000 });

    await rig.slice();
    expect(rig.sent()).toEqual([]);

    await rig.run();
    expect(rig.clock.now()).toBeGreaterThan(nowMs + 60_000);
    expect(numbersOf(rig.sent())).toEqual(upTo(20));
  });

  it('sends nothing for a message that is delivered again after the end', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(20));
    await rig.run();

    await rig.slice();

    expect(rig.sent().map(({ recordNo }) => recordNo)).toEqual(upTo(20));
    expect(rig.stored().state).toBe('processing');
  });

  it('repeats the message to the finalizer for a submission that waits for it', async () => {
    const rig = createFanOutRig();
    await rig.submit('record_id\n');
    await rig.run();
    rig.world.queues.live.finalize.purge();

    await rig.slice();

    expect(finalizeMessages(rig)).toHaveLength(1);
  });

  it('leaves a message whose submission is not there to the dead-letter queue: its head was deleted', async () => {
    const rig = createFanOutRig();
    await expect(rig.slice()).rejects.toThrow(`${SUBMISSION_ID} is not in the submissions table: restore its items`);
    expect(rig.sent()).toEqual([]);
  });

  it('stops without another write when a new owner has taken over', async () => {
    const rig = createFanOutRig({
      settings: { checkpointRecords: 250, leaseMs: 60_000 },
      hook: async (call, apply) => {
        if (call.port === 'submissions' && call.method === 'checkpointFanOut' && !stolen) {
          stolen = true;
          await rig.clock.advance(60_000);
          const claim = { submissionId: SUBMISSION_ID, owner: 'new', nowMs: rig.clock.now(), leaseMs: 60_000 };
          await rig.world.submissions.claimFanOut(claim);
        }
        return apply();
      },
    });
    let stolen = false;
    await rig.submit(makeCsv(1_000));

    await rig.slice();

    expect(rig.stored().fanOut).toMatchObject({ done: false, records: 0, leaseOwner: 'new' });
    expect(numbersOf(rig.sent())).toEqual(upTo(250));
    await rig.run();
    expect(numbersOf(rig.sent())).toEqual(upTo(1_000));
  });
});

describe('an owner that was overtaken', () => {
  it('leaves no open work behind when the submission has ended in the meantime', async () => {
    const rig = createFanOutRig({
      hook: async (call, apply) => {
        if (call.method === 'setOpenWork' && !isOvertaken) {
          isOvertaken = true;
          await endByAnother();
        }
        return apply();
      },
    });
    let isOvertaken = false;
    const endByAnother = async (): Promise<void> => {
      await rig.clock.advance(60_000);
      const { submissions } = rig.world;
      const nowMs = rig.clock.now();
      const claim = { submissionId: SUBMISSION_ID, owner: 'new', nowMs, leaseMs: 60_000 };
      await submissions.claimFanOut(claim);
      await submissions.completeFanOut(SUBMISSION_ID, 'new', 20, nowMs);
      await submissions.closeChunks(SUBMISSION_ID, [0], nowMs);
      await submissions.beginFinalizing(SUBMISSION_ID, 1, nowMs);
      await submissions.claimFinalize(claim);
      const counts = { total: 20, pending: 0, succeeded: 20, failed: 0, cancelled: 0 };
      await submissions.finish(SUBMISSION_ID, 'new', { state: 'complete', resultsVersion: 1, counts, nowMs });
    };
    await rig.submit(makeCsv(20));

    await rig.slice();
    expect(await rig.world.admission.openWork(TENANT_ID)).toHaveLength(1);
    await rig.run();

    expect(rig.stored().state).toBe('complete');
    expect(await rig.world.admission.openWork(TENANT_ID)).toEqual([]);
  });
});

describe('a stop order', () => {
  const cancel = async (rig: FanOutRig) =>
    rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: rig.clock.now() });

  it('that came before fan-out ends it without a record', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(1_000));
    await cancel(rig);

    await rig.run();

    expect(rig.sent()).toEqual([]);
    expect(rig.stored()).toMatchObject({ state: 'finalizing', fanOut: { done: true, records: 0 } });
  });

  it('that came afterwards settles every chunk at once, and ends the submission when the workers have drained', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(1_000));
    await rig.run();
    await cancel(rig);
    await rig.world.queues.live.fanOut.send([
      { body: JSON.stringify({ v: 1, submissionId: SUBMISSION_ID, tenantId: TENANT_ID }), group: TENANT_ID },
    ]);
    await rig.slice();
    const { counts } = tally(rig.stored(), rig.world.inspect.ledger(SUBMISSION_ID));
    expect(counts).toMatchObject({ pending: 0, cancelled: 1_000 });
    expect(rig.stored().state).toBe('cancelling');
    await rig.clock.advance(20_000);
    await rig.run();
    expect(rig.stored().state).toBe('finalizing');
  });

  it('ends fan-out at the next checkpoint with the records sent so far', async () => {
    const rig = createFanOutRig({
      settings: { checkpointRecords: 500 },
      hook: async (call, apply) => {
        const result = await apply();
        if (call.method === 'checkpointFanOut' && rig.stored().fanOut.records === 500) await cancel(rig);
        return result;
      },
    });
    await rig.submit(makeCsv(3_000));

    await rig.run();

    expect(rig.stored().fanOut).toMatchObject({ done: true, records: 1_000 });
    expect(rig.sent().map(({ recordNo }) => recordNo)).toEqual(upTo(1_000));
  });

  it('after a crash counts everything that may have been sent, also behind a chunk of which nothing was', async () => {
    const rig = createFanOutRig({
      settings: { checkpointRecords: 1_000 },
      hook: async (call, apply) => {
        const isFifthChunk = call.method === 'noteStarts' && JSON.stringify(call.args[1]).includes('"chunk":4');
        if (!isFifthChunk || crashed) return apply();
        crashed = true;
        // The others under way get further in the meantime.
        await new Promise((resolve) => setImmediate(resolve));
        throw new Error('killed');
      },
    });
    let crashed = false;
    await rig.submit(makeCsv(3_000));
    await expect(rig.slice()).rejects.toThrow('killed');
    const sentBefore = numbersOf(rig.sent());
    expect(sentBefore).not.toContain(1_001);
    expect(sentBefore).toContain(1_251);
    await cancel(rig);
    await rig.clock.advance(60_000);

    await rig.run();

    const { records } = rig.stored().fanOut;
    expect(records).toBe(Math.max(...sentBefore));
    expect(numbersOf(rig.sent())).toEqual(upTo(records));
  });
});
