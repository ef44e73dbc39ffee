import { eventIdOf } from '../../../lambdas/domain/webhooks/announce.ts';
import { jest } from '@jest/globals';
import { SUBMISSION_ID } from '../../support/factories.ts';
import { makeCsv } from '../../support/slices/fan-out-rig.ts';
import { createFaultPlan, FAULTS, type Fault } from '../../support/slices/faults.ts';
import { createFinalizeRig, type FinalizeRig } from '../../support/slices/finalize-rig.ts';

// Every call of a run fails once in each way: many runs in one test.
jest.setTimeout(60_000);

const RECORDS = 255;

async function ready(options: Parameters<typeof createFinalizeRig>[0] = {}): Promise<FinalizeRig> {
  const rig = createFinalizeRig({ ...options, settings: { partChunks: 1, ...options.settings } });
  await rig.submit(makeCsv(RECORDS), { callbackUrl: 'https://example.com/hook' });
  await rig.run();
  await rig.work(({ recordNo }) => (recordNo % 9 === 0 ? { state: 'failed', reason: 'provider_rejected' } : {}));
  return rig;
}

/** Every results object but the manifests, which name the time. */
const results = (rig: FinalizeRig): Record<string, string> =>
  Object.fromEntries(
    rig.world.objects
      .keys()
      .filter((key) => key.startsWith('results/') && !key.endsWith('/manifest.json'))
      .map((key) => [key, rig.world.objects.text(key)]),
  );

async function disturbed(fault: Fault, at: number): Promise<{ rig: FinalizeRig; struck: boolean }> {
  const plan = createFaultPlan();
  const rig = await ready({ hook: plan.hook });
  let slices = 0;
  await rig.finalize(async (slice) => (slices++ === 0 ? plan.process(slice, fault, at) : plan.process(slice)));
  return { rig, struck: plan.struck };
}

describe('finalization', () => {
  it.each(FAULTS)('ends with the same results when a call meets: %s', async (fault) => {
    const calm = await ready();
    await calm.finalize();
    const expected = results(calm);
    expect(Object.keys(expected)).toHaveLength(10);
    const { files, counts } = await calm.manifest();
    let at = 0;
    for (; ; at++) {
      const { rig, struck } = await disturbed(fault, at);
      expect({ at, state: rig.stored().state }).toEqual({ at, state: 'partially_failed' });
      expect(results(rig)).toEqual(expected);
      expect(await rig.manifest()).toMatchObject({ files, counts, version: 1 });
      expect(rig.stored().finalCounts).toEqual({ ...counts, pending: 0, failures: { provider_rejected: 28 } });
      expect(await rig.world.admission.openWork(rig.stored().tenantId)).toEqual([]);
      expect(new Set(rig.announced().map((message) => message.kind === 'event' && message.eventId))).toEqual(
        new Set([eventIdOf(SUBMISSION_ID, 0)]),
      );
      if (!struck) break;
    }
    expect(at).toBeGreaterThan(25);
  });

  it('goes on in another slice after its time, without writing a part twice', async () => {
    let writes = 0;
    const rig = await ready({
      settings: { sliceMs: 30_000 },
      hook: async (call, apply) => {
        if (call.method === 'close' && call.port === 'objects.writer') {
          writes += 1;
          await rig.clock.advance(10_000);
        }
        return apply();
      },
    });

    const { deliveries } = await rig.finalize();

    // A part of four files takes 40 s; the second is another slice.
    expect(deliveries).toBe(2);
    expect(writes).toBe(8);
    expect(rig.stored().state).toBe('partially_failed');
    expect((await rig.manifest()).counts.total).toBe(RECORDS);
  });

  it('keeps its lease while a part takes long', async () => {
    const rig = await ready({
      settings: { partChunks: 200, leaseMs: 60_000 },
      hook: async (call, apply) => {
        if (call.method === 'chunkRows') {
          await rig.clock.advance(50_000);
          expect(rig.stored().finalize?.leaseUntilMs).toBeGreaterThan(rig.clock.now());
        }
        return apply();
      },
    });
    const { failures } = await rig.finalize();
    expect(failures).toEqual([]);
    expect(rig.stored().state).toBe('partially_failed');
  });

  it('leaves the results to a live owner, and takes over when the lease has ended', async () => {
    const rig = await ready();
    const nowMs = rig.clock.now();
    await rig.world.submissions.claimFinalize({ submissionId: SUBMISSION_ID, owner: 'dead', nowMs, leaseMs: 60_000 });

    await rig.finalize();

    expect(rig.clock.now()).toBeGreaterThan(nowMs + 60_000);
    expect(rig.stored().state).toBe('partially_failed');
    expect(rig.announced()).toHaveLength(1);
  });

  it('publishes no file once its lease is lost', async () => {
    let isStolen = false;
    const rig = await ready({
      hook: async (call, apply) => {
        if (call.method === 'chunkRows' && !isStolen) {
          isStolen = true;
          await rig.clock.advance(60_000);
          const claim = { submissionId: SUBMISSION_ID, owner: 'new', nowMs: rig.clock.now(), leaseMs: 60_000 };
          await rig.world.submissions.claimFinalize(claim);
        }
        if (call.port === 'objects.writer' && call.method === 'close') closedBy.push(rig.stored().finalize?.leaseOwner);
        return apply();
      },
    });
    const closedBy: (string | undefined)[] = [];

    await rig.finalize();

    expect(closedBy).toHaveLength(8);
    expect(closedBy).not.toContain('new');
    expect(rig.stored().state).toBe('partially_failed');
  });
});
