import { DependencyMisconfiguredError } from '../../../lambdas/domain/errors.ts';
import { parseWebhookMessage } from '../../../lambdas/domain/queues/messages.ts';
import { ShortReadError } from '../../../lambdas/domain/errors.ts';
import { SUBMISSION_ID, TENANT_ID, TERMS } from '../../support/factories.ts';
import {
  createFanOutRig,
  makeCsv,
  numbersOf,
  SOURCE_KEY,
  upTo,
  type FanOutRig,
} from '../../support/slices/fan-out-rig.ts';

const defectsOf = (rig: FanOutRig) =>
  rig
    .sent()
    .flatMap(({ recordNo, line, content }) =>
      content.kind === 'defect' ? [{ recordNo, line, reason: content.reason, defect: content.defect }] : [],
    );

describe('a file of which nothing was sent', () => {
  const twoHeaders = 'record_id,email,email\n1,a,b\n';
  it.each([
    ['EMPTY_FILE', '', {}],
    ['DUPLICATE_HEADER', twoHeaders, {}],
    ['MISSING_REQUIRED_COLUMN', 'id,name\n1,a\n', {}],
    ['UNSUPPORTED_COMPRESSION', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0]), {}],
    ['FORMAT_MISMATCH', '[{"record_id":"1"}]', { format: 'ndjson' }],
    ['UNTERMINATED_QUOTE', 'record_id,name\n1,a\n2,"b\n', {}],
    ['TRUNCATED_ARRAY', '[{"record_id":"1"},', { format: 'json' }],
  ] as const)('is rejected as %s with a sentence', async (code, file, overrides) => {
    const rig = createFanOutRig();
    await rig.world.admission.setOpenWork(TENANT_ID, { submissionId: SUBMISSION_ID, records: 100 });
    await rig.submit(file, overrides);

    const { failures } = await rig.run();

    expect(failures).toEqual([]);
    expect(rig.sent()).toEqual([]);
    expect(rig.stored()).toMatchObject({
      state: 'rejected',
      rejection: { code, detail: expect.stringMatching(/\w{3,}.*\.$/) },
    });
    expect(rig.stored().lane).toBeUndefined();
    expect(rig.stored().nextCheckAtMs).toBeUndefined();
    expect(await rig.world.admission.openWork(TENANT_ID)).toEqual([]);
    expect(rig.world.telemetry.named('submission_rejected')).toMatchObject([{ reason: code }]);
  });

  it('is rejected when it has more records than allowed', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(100), { terms: { ...TERMS, maxRecords: 99 } });
    await rig.run();
    expect(rig.stored()).toMatchObject({ state: 'rejected', rejection: { code: 'TOO_MANY_RECORDS' } });
    expect(rig.sent()).toEqual([]);
  });

  it('is rejected when it was changed or deleted after its acceptance', async () => {
    const changed = createFanOutRig();
    await changed.submit(makeCsv(10));
    changed.world.objects.seed(SOURCE_KEY, makeCsv(11));
    await changed.run();
    expect(changed.stored()).toMatchObject({ state: 'rejected', rejection: { code: 'FILE_CHANGED' } });

    const deleted = createFanOutRig();
    await deleted.submit(makeCsv(10));
    deleted.world.objects.delete(SOURCE_KEY);
    await deleted.run();
    expect(deleted.stored()).toMatchObject({ state: 'rejected', rejection: { code: 'FILE_MISSING' } });
    expect([...changed.sent(), ...deleted.sent()]).toEqual([]);
  });

  it('announces that it was rejected, and again when its message is delivered again', async () => {
    const rig = createFanOutRig();
    await rig.submit('', { callbackUrl: 'https://example.com/hook' });
    await rig.run();
    await rig.slice();

    // The same event both times: whoever gets it twice knows it by its id.
    const events = rig.world.queues.live.webhooks.messages().map(({ body }) => parseWebhookMessage(body));
    const event = expect.objectContaining({ type: 'submission.rejected' });
    const message = { kind: 'event', tenantId: TENANT_ID, callbackUrl: 'https://example.com/hook', event };
    expect(events).toMatchObject([message, message]);
    expect(new Set(events.map((each) => (each.kind === 'event' ? each.eventId : ''))).size).toBe(1);
  });
});

describe('a file that turns out to be unreadable after records were sent', () => {
  it('ends in a defect where a quote is never closed', async () => {
    const rig = createFanOutRig();
    const good = makeCsv(600);
    await rig.submit(`${good}c-601,"never closed,\nc-602,x,y\n`);

    await rig.run();

    const line = good.split('\n').length;
    expect(numbersOf(rig.sent())).toEqual(upTo(601));
    expect(defectsOf(rig)).toEqual([{ recordNo: 601, line, reason: 'malformed_row', defect: 'UNTERMINATED_QUOTE' }]);
    expect(rig.stored().fanOut).toMatchObject({ done: true, records: 601 });
    expect(rig.world.inspect.ledger(SUBMISSION_ID).at(-1)).toMatchObject({ chunk: 2, size: 101 });
  });

  it('ends in a defect behind the last record that is allowed', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(2_000), { terms: { ...TERMS, maxRecords: 750 } });

    await rig.run();

    expect(numbersOf(rig.sent())).toEqual(upTo(751));
    expect(defectsOf(rig)).toMatchObject([{ recordNo: 751, defect: 'TOO_MANY_RECORDS' }]);
    expect(rig.stored().fanOut).toMatchObject({ done: true, records: 751 });
  });

  it.each(['FILE_CHANGED', 'FILE_MISSING'])('ends in a defect behind the last checkpoint: %s', async (defect) => {
    const rig = createFanOutRig({ settings: { checkpointRecords: 500, reserveMs: 20_000 } });
    await rig.submit(makeCsv(2_000));
    await rig.slice(0);
    if (defect === 'FILE_MISSING') rig.world.objects.delete(SOURCE_KEY);
    else rig.world.objects.seed(SOURCE_KEY, makeCsv(2_001));

    await rig.run();

    expect(numbersOf(rig.sent())).toEqual(upTo(501));
    expect(defectsOf(rig)).toMatchObject([{ recordNo: 501, defect }]);
    expect(rig.stored().fanOut).toMatchObject({ done: true, records: 501 });
  });

  it('accounts for every record that a dead slice may have sent of a file that is gone', async () => {
    const rig = createFanOutRig({
      settings: { checkpointRecords: 500 },
      hook: async (call, apply) => {
        if (call.method !== 'checkpointFanOut' || rig.stored().fanOut.records !== 500 || isDead) return apply();
        isDead = true;
        throw new Error('killed');
      },
    });
    let isDead = false;
    await rig.submit(makeCsv(2_000));
    await expect(rig.slice()).rejects.toThrow('killed');
    const sent = numbersOf(rig.sent());
    expect(sent).toEqual(upTo(1_000));
    rig.world.objects.delete(SOURCE_KEY);

    await rig.run();

    expect(rig.stored().fanOut).toMatchObject({ done: true, records: 1_000 });
    expect(defectsOf(rig).map(({ recordNo }) => recordNo)).toEqual(upTo(1_000).slice(500));
  });

  it('rejects nothing once the lane is decided, even before the first send', async () => {
    const rig = createFanOutRig();
    await rig.submit(makeCsv(10));
    await rig.world.submissions.claimFanOut({ submissionId: SUBMISSION_ID, owner: 'dead', nowMs: 0, leaseMs: 0 });
    await rig.world.submissions.decideLane(SUBMISSION_ID, 'dead', 'small');
    rig.world.objects.delete(SOURCE_KEY);

    await rig.run();

    expect(defectsOf(rig)).toMatchObject([{ recordNo: 1, defect: 'FILE_MISSING' }]);
    expect(rig.stored()).toMatchObject({ state: 'processing', fanOut: { done: true, records: 1 } });
  });
});

describe('a body that ends too early', () => {
  it('is read again from the last checkpoint, by another message', async () => {
    let reads = 0;
    const rig = createFanOutRig({
      settings: { checkpointRecords: 500, retryDelayMs: 5_000 },
      hook: async (call, apply) => {
        const result = await apply();
        if (call.port !== 'objects' || call.method !== 'read' || ++reads !== 2) return result;
        return cutShort(result as AsyncIterable<Uint8Array>, 8);
      },
    });
    await rig.submit(makeCsv(2_000));
    const startedMs = rig.clock.now();

    const { failures, deliveries } = await rig.run();

    expect({ failures, deliveries }).toEqual({ failures: [], deliveries: 2 });
    expect(rig.clock.now() - startedMs).toBe(5_000);
    expect(numbersOf(rig.sent())).toEqual(upTo(2_000));
    expect(rig.sent().length).toBeLessThanOrEqual(2_500);
    expect(rig.world.telemetry.named('fanout_continued')).toMatchObject([{ outcome: 'ShortReadError' }]);
  });

  async function* cutShort(blocks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
    let left = count;
    for await (const block of blocks) {
      if (left-- === 0) throw new ShortReadError('The body ended too early.');
      yield block;
    }
  }
});

describe('a file that fan-out may not read', () => {
  const denied = new DependencyMisconfiguredError('Denied.', { action: 's3:GetObject', resource: SOURCE_KEY });

  it.each([
    ['in its first slice', 1],
    ['between two slices', 3],
  ])('%s waits, and is read to its end when it may', async (_when, deniedRead) => {
    let reads = 0;
    let refusals = 0;
    const rig = createFanOutRig({
      settings: { checkpointRecords: 500, sliceMs: 0 },
      hook: async (call, apply) => {
        if (call.port !== 'objects' || call.method !== 'read' || ++reads < deniedRead || refusals === 2) return apply();
        refusals += 1;
        throw denied;
      },
    });
    await rig.submit(makeCsv(2_000));

    const { failures } = await rig.run();

    expect([refusals, failures]).toEqual([2, []]);
    expect(numbersOf(rig.sent())).toEqual(upTo(2_000));
    expect(defectsOf(rig)).toEqual([]);
    expect(rig.stored()).toMatchObject({ state: 'processing', fanOut: { done: true, records: 2_000 } });
  });
});
