import { describe, expect, it } from '@jest/globals';
import { DependencyMisconfiguredError } from '../../../lambdas/domain/errors.ts';
import { finalizeSlice } from '../../../lambdas/domain/finalize/finalize-slice.ts';
import type { RecordRow } from '../../../lambdas/domain/model.ts';
import { MESSAGE_VERSION } from '../../../lambdas/domain/queues/messages.ts';
import { recordsFromChunk, rebuildMessages } from '../../../lambdas/domain/source/source.ts';
import { SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import type { PortHook } from '../../support/memory/index.ts';
import { makeCsv, SOURCE_KEY, upTo } from '../../support/slices/fan-out-rig.ts';
import { createFinalizeRig, type FinalizeRig } from '../../support/slices/finalize-rig.ts';

const MESSAGE = { v: MESSAGE_VERSION, kind: 'results', submissionId: SUBMISSION_ID, tenantId: TENANT_ID } as const;

/** A file whose records all succeeded, and whose results are due. */
async function worked(records: number, hook?: PortHook): Promise<FinalizeRig> {
  const rig = createFinalizeRig({ settings: { partChunks: 2 }, ...(hook && { hook }) });
  await rig.submit(makeCsv(records));
  await rig.run();
  await rig.work();
  return rig;
}

const slice = async (rig: FinalizeRig): Promise<void> =>
  finalizeSlice(rig.finalizeDeps, MESSAGE, { remainingMs: () => 300_000 });

const waiting = (rig: FinalizeRig) => {
  const restarted = rig.world.telemetry.events.filter(({ name }) => name === 'finalize_restarted');
  return restarted.map(({ error }) => (error as Error).name);
};

/** Nothing is published, nothing has ended, and a message will try again. */
function expectNothingPublished(rig: FinalizeRig): void {
  expect(rig.stored()).toMatchObject({ state: 'finalizing', resultsVersion: 0 });
  expect(rig.world.objects.keys().filter((key) => key.endsWith('manifest.json'))).toEqual([]);
  expect(rig.world.queues.live.finalize.messages().length).toBeGreaterThan(0);
}

/** Changes one byte of the file while its ETag stays: what is stored is not what fan-out read. */
function damaged(at: number): { hook: PortHook; damage: () => void; repair: () => void } {
  let isDamaged = false;
  return {
    damage: () => void (isDamaged = true),
    repair: () => void (isDamaged = false),
    hook: async (call, apply) => {
      const result = await apply();
      if (!isDamaged || call.method !== 'read') return result;
      return changed(result as AsyncIterable<Uint8Array>, Number(call.args[1]), at);
    },
  };
}

async function* changed(blocks: AsyncIterable<Uint8Array>, from: number, at: number): AsyncGenerator<Uint8Array> {
  let offset = from;
  for await (const block of blocks) {
    const copy = Uint8Array.from(block);
    // A digit of a record's text: the reader finds nothing wrong with it.
    if (at >= offset && at < offset + copy.length) copy[at - offset] = 0x58;
    offset += copy.length;
    yield copy;
  }
}

describe('results', () => {
  it('wait while the finalizer may not read the file, and are complete afterwards', async () => {
    let isDenied = false;
    const rig = await worked(600, async (call, apply) => {
      if (!isDenied || call.port !== 'objects' || call.method !== 'read') return apply();
      throw new DependencyMisconfiguredError('Denied.', { action: 's3:GetObject', resource: SOURCE_KEY });
    });
    isDenied = true;

    await slice(rig);
    await slice(rig);

    expectNothingPublished(rig);
    expect(waiting(rig)).toContain('DependencyMisconfiguredError');
    isDenied = false;
    await rig.finalize();
    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { succeeded: 600, failed: 0 } });
    expect(rig.lines('succeeded')).toHaveLength(500);
    for (const line of rig.lines('succeeded')) expect(JSON.parse(line)).toHaveProperty('record.record_id');
  });

  it('wait when the file is gone and records of it have succeeded, and go on when it is restored', async () => {
    const rig = await worked(300);
    rig.world.objects.delete(SOURCE_KEY);

    await slice(rig);

    expectNothingPublished(rig);
    expect(waiting(rig)).toEqual(['UnverifiedInputError']);
    rig.world.objects.seed(SOURCE_KEY, makeCsv(300));
    await rig.finalize();
    expect(rig.stored().state).toBe('complete');
  });

  it.each([
    ['the first chunk', 100],
    ['a chunk in the middle', 10_000],
    ['a last chunk that is not full', -5],
  ])('wait when a byte of %s is not what fan-out read', async (_where, at) => {
    const { length } = makeCsv(600);
    const damage = damaged(at < 0 ? length + at : at);
    const rig = await worked(600, damage.hook);
    damage.damage();

    await slice(rig);

    expectNothingPublished(rig);
    expect(waiting(rig)).toEqual(['UnverifiedInputError']);
    damage.repair();
    await rig.finalize();
    expect(rig.stored().state).toBe('complete');
  });

  it('wait when the file is gone and every record has failed: what was sent must stand beside the reason', async () => {
    const rig = createFinalizeRig();
    await rig.submit(makeCsv(3));
    await rig.run();
    await rig.work(() => ({ state: 'failed', reason: 'provider_rejected' }));
    rig.world.objects.delete(SOURCE_KEY);

    await slice(rig);

    expectNothingPublished(rig);
  });

  it('wait when rows of succeeded records were deleted, and go on when they are restored', async () => {
    let areGone = false;
    const rig = await worked(300, async (call, apply) => {
      const result = await apply();
      if (!areGone || call.method !== 'chunkRows') return result;
      return (result as RecordRow[]).filter(({ recordNo }) => recordNo < 100 || recordNo > 130);
    });
    areGone = true;

    await slice(rig);

    expectNothingPublished(rig);
    expect(waiting(rig)).toEqual(['UnverifiedInputError']);
    areGone = false;
    await rig.finalize();
    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { succeeded: 300 } });
  });

  it('say what is known of a file that was gone before fan-out had read it', async () => {
    const rig = createFinalizeRig();
    await rig.submit(makeCsv(10));
    await rig.world.submissions.claimFanOut({ submissionId: SUBMISSION_ID, owner: 'dead', nowMs: 0, leaseMs: 0 });
    await rig.world.submissions.decideLane(SUBMISSION_ID, 'dead', 'small');
    rig.world.objects.delete(SOURCE_KEY);
    await rig.run();
    await rig.work();

    await rig.finalize();

    expect(rig.stored()).toMatchObject({ state: 'failed', finalCounts: { total: 1, failed: 1 } });
  });
});

describe('results that an operator has given up', () => {
  const giveUp = async (rig: FinalizeRig): Promise<boolean> =>
    rig.world.submissions.giveUpResults(SUBMISSION_ID, rig.stored().generation);

  it('end without a publication when the file is gone: rejected, the tenant freed, the callback told', async () => {
    const rig = await worked(300);
    await rig.world.admission.setOpenWork(TENANT_ID, { submissionId: SUBMISSION_ID, records: 300 });
    rig.world.objects.delete(SOURCE_KEY);
    await slice(rig);
    expectNothingPublished(rig);

    expect(await giveUp(rig)).toBe(true);
    await rig.finalize();

    expect(rig.stored()).toMatchObject({ state: 'rejected', resultsVersion: 0, rejection: { code: 'RESULTS_LOST' } });
    expect(rig.world.objects.keys().filter((key) => key.endsWith('manifest.json'))).toEqual([]);
    expect(await rig.world.admission.openWork(TENANT_ID)).toEqual([]);
    expect(rig.world.telemetry.named('submission_finished')).toMatchObject([
      { level: 'warn', outcome: 'rejected', reason: 'RESULTS_LOST' },
    ]);
  });

  it('end when rows of succeeded records are gone for good', async () => {
    let areGone = false;
    const rig = await worked(300, async (call, apply) => {
      const result = await apply();
      return areGone && call.method === 'chunkRows' ? [] : result;
    });
    areGone = true;
    await slice(rig);

    await giveUp(rig);
    await rig.finalize();

    expect(rig.stored().state).toBe('rejected');
  });

  it('are published all the same when everything is there again', async () => {
    const rig = await worked(300);
    rig.world.objects.delete(SOURCE_KEY);
    await slice(rig);

    await giveUp(rig);
    rig.world.objects.seed(SOURCE_KEY, makeCsv(300));
    await rig.finalize();

    expect(rig.stored()).toMatchObject({ state: 'complete', finalCounts: { succeeded: 300 } });
  });

  it('wait on while the file may not be read: that passes', async () => {
    let isDenied = false;
    const rig = await worked(300, async (call, apply) => {
      if (!isDenied || call.port !== 'objects' || call.method !== 'read') return apply();
      throw new DependencyMisconfiguredError('Denied.', { action: 's3:GetObject', resource: SOURCE_KEY });
    });
    isDenied = true;

    await giveUp(rig);
    await slice(rig);

    expectNothingPublished(rig);
  });

  it('of an earlier generation are no order for this one', async () => {
    const rig = await worked(300);
    await giveUp(rig);
    const { deadlineAtMs } = rig.stored();
    const nowMs = rig.clock.now();
    const { submissions } = rig.world;
    await submissions.reopen(SUBMISSION_ID, { chunks: [], generation: 1, nowMs, deadlineAtMs });
    await submissions.beginFinalizing(SUBMISSION_ID, 2, nowMs);
    rig.world.objects.delete(SOURCE_KEY);

    await slice(rig);

    expect(rig.stored().state).toBe('finalizing');
  });
});

describe('what is sent again', () => {
  it('is not made of a chunk that fails its checksum', async () => {
    const damage = damaged(10_000);
    const rig = await worked(600, damage.hook);
    damage.damage();

    const rebuilding = rebuildMessages(rig.world, rig.stored(), 1, [251]);

    await expect(rebuilding).rejects.toThrow(/^Chunk 1 of .* is not what fan-out read/);
    expect((await rebuildMessages(rig.world, rig.stored(), 0, [1])).size).toBe(1);
  });
});

describe('a checksum', () => {
  it.each([1, 7, 100, 65_536])('is that of the same bytes whatever pieces of %i they come in', async (pieceBytes) => {
    const rig = createFinalizeRig();
    await rig.submit(makeCsv(1_000));
    await rig.run();
    const inPieces: typeof rig.world.objects = {
      ...rig.world.objects,
      read: async (source, fromByte) => pieces(await rig.world.objects.read(source, fromByte), pieceBytes),
    };

    const read: number[] = [];
    const deps = { objects: inPieces, ledger: rig.world.ledger };
    for await (const items of recordsFromChunk(deps, rig.stored(), 0, 1_000)) {
      read.push(...items.map(({ recordNo }) => recordNo));
    }

    expect(read).toEqual(upTo(1_000));
    const noted = rig.world.inspect.ledger(SUBMISSION_ID).map(({ start }) => start?.crc);
    expect(noted).toHaveLength(4);
    expect(new Set(noted).size).toBe(4);
    expect(noted).not.toContain(undefined);
  });
});

async function* pieces(blocks: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  for await (const block of blocks) {
    for (let at = 0; at < block.length; at += bytes) yield block.subarray(at, at + bytes);
  }
}
