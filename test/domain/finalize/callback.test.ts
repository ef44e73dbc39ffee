import type { TransportResult } from '../../../lambdas/domain/providers/ports.ts';
import { requestCallback } from '../../../lambdas/domain/finalize/callback.ts';
import { SUBMISSION_ID, TENANT_ID } from '../../support/factories.ts';
import { makeCsv } from '../../support/slices/fan-out-rig.ts';
import { createFinalizeRig, type FinalizeRig } from '../../support/slices/finalize-rig.ts';

const URL = 'https://example.com/hook';
const status = (code: number): TransportResult => ({
  kind: 'response',
  status: code,
  headers: {},
  body: new Uint8Array(),
  truncated: false,
});

async function finished(answer?: () => TransportResult): Promise<FinalizeRig> {
  const rig = createFinalizeRig({ ...(answer && { answer }) });
  await rig.submit(makeCsv(3), { callbackUrl: URL, reference: 'order 7' });
  await rig.run();
  await rig.work();
  return rig;
}

describe('a callback', () => {
  it('tells how the submission ended', async () => {
    const rig = await finished();
    await rig.finalize();

    expect(rig.callbacks).toHaveLength(1);
    const { body, ...request } = rig.callbacks[0] ?? {};
    expect(request).toEqual({
      method: 'POST',
      url: URL,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'sluice',
        'sluice-delivery': `${SUBMISSION_ID}/1`,
      },
      timeoutMs: 10_000,
      maxBodyBytes: 1_024,
    });
    expect(JSON.parse(body ?? '')).toEqual({
      submissionId: SUBMISSION_ID,
      state: 'complete',
      counts: { total: 3, pending: 0, succeeded: 3, failed: 0, cancelled: 0 },
      reference: 'order 7',
      resultsVersion: 1,
    });
    expect(rig.world.telemetry.named('callback_delivered')).toMatchObject([{ attempt: 1 }]);
  });

  it('is not asked for where the submission has no URL', async () => {
    const rig = createFinalizeRig();
    await rig.submit(makeCsv(3));
    await rig.run();
    await rig.work();
    const { deliveries } = await rig.finalize();
    expect(deliveries).toBe(1);
    expect(rig.callbacks).toEqual([]);
  });

  it.each([
    ['a server error', status(500)],
    ['a redirect', status(302)],
    ['a client error', status(404)],
    ['no answer', { kind: 'failure', cause: 'timeout', detail: 'late' } as const],
  ])('is tried eight times with growing waits after %s, then given up', async (_, answer) => {
    const times: number[] = [];
    const rig = await finished(() => {
      times.push(rig.clock.now());
      return answer;
    });

    const { failures } = await rig.finalize();

    expect(failures).toEqual([]);
    expect(times).toHaveLength(8);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, wait] of waits.entries()) {
      const longest = Math.min(10_000 * 3 ** index, 900_000);
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest + 1_000);
    }
    const reports = rig.world.telemetry.named('callback_failed').map(({ outcome }) => outcome);
    expect(reports).toEqual([...Array.from({ length: 7 }, () => 'retried'), 'given_up']);
    expect(rig.stored().state).toBe('complete');
  });

  it('is given up at once when its target is refused', async () => {
    const rig = await finished(() => ({ kind: 'failure', cause: 'refused_target', detail: 'not public' }));
    await rig.finalize();
    expect(rig.callbacks).toHaveLength(1);
    expect(rig.world.telemetry.named('callback_failed')).toMatchObject([
      { level: 'warn', outcome: 'given_up', detail: 'refused_target' },
    ]);
  });

  it('ends its row of attempts with the first success', async () => {
    let calls = 0;
    const rig = await finished(() => status(++calls < 3 ? 503 : 200));
    await rig.finalize();
    expect(calls).toBe(3);
    expect(rig.world.telemetry.named('callback_delivered')).toMatchObject([{ attempt: 3 }]);
  });

  it('says nothing about a submission that was opened again', async () => {
    const rig = await finished();
    await rig.finalize();
    const change = { chunks: [0], generation: 1, nowMs: rig.clock.now(), deadlineAtMs: 0 };
    await rig.world.submissions.reopen(SUBMISSION_ID, change);
    await requestCallback(rig.finalizeDeps, { submissionId: SUBMISSION_ID, tenantId: TENANT_ID, callbackUrl: URL });
    await rig.finalize();
    expect(rig.callbacks).toHaveLength(1);
  });

  it('names the rejection of a file that could not be read', async () => {
    const rig = createFinalizeRig();
    await rig.submit('', { callbackUrl: URL });
    await rig.run();
    await rig.finalize();
    expect(JSON.parse(rig.callbacks[0]?.body ?? '')).toMatchObject({
      state: 'rejected',
      counts: null,
      rejection: { code: 'EMPTY_FILE' },
    });
  });
});
