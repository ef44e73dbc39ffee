import { makeRow } from './factories.ts';
import type { PortHook } from './memory/index.ts';
import { type ReconcileRig, createReconcileRig } from './reconcile-rig.ts';
import { settle } from '../../lambdas/domain/ledger/settlement.ts';
import type { RecordRow, Submission } from '../../lambdas/domain/model.ts';
import { type RecordMessage, parseRecordMessage } from '../../lambdas/domain/queues/messages.ts';
import { redrive } from '../../lambdas/domain/redrive/redrive.ts';
import { REDRIVE_DEFAULTS, type RedriveDeps, type RedriveReport } from '../../lambdas/domain/redrive/run.ts';

const HOUR_MS = 3_600_000;

export interface RedriveRig extends Omit<ReconcileRig, 'deps' | 'run'> {
  deps: RedriveDeps;
  reconciler: ReconcileRig;
  /** Gives records their outcomes, as workers do; closes the submission when that was all. */
  finish(rows: readonly (Partial<RecordRow> & { recordNo: number })[]): Promise<void>;
  ask(event: object, remainingMs?: number): Promise<RedriveReport>;
  messages(): RecordMessage[];
}

/** A submission with failed records, and redrive before it. */
export function createRedriveRig(options: { hook?: PortHook } = {}): RedriveRig {
  const reconciler = createReconcileRig(options);
  const { world, clock, deps: shared } = reconciler;
  const { small, bulk } = world.queues.deadLetters;
  const deps: RedriveDeps = {
    submissions: shared.submissions,
    ledger: shared.ledger,
    records: shared.records,
    objects: shared.objects,
    lanes: shared.lanes,
    deadLetters: { small, bulk },
    telemetry: shared.telemetry,
    clock,
    apis: [
      { name: 'company', ratePerSecond: 50 },
      { name: 'geo', ratePerSecond: 100 },
    ],
    providers: shared.providers,
    settings: { ...REDRIVE_DEFAULTS, deadlineMs: 72 * HOUR_MS },
  };
  /** As the finalizer does. */
  const close = async ({ submissionId, fanOut: { records: total } }: Submission): Promise<void> => {
    const nowMs = clock.now();
    await world.submissions.claimFinalize({ submissionId, owner: 'f', nowMs, leaseMs: 1000 });
    const counts = { total, pending: 0, succeeded: 0, failed: total, cancelled: 0 };
    await world.submissions.finish(submissionId, 'f', { state: 'partially_failed', resultsVersion: 1, counts, nowMs });
  };
  return {
    ...reconciler,
    deps,
    reconciler,
    async finish(rows) {
      const full = rows.map((row) => makeRow({ updatedAtMs: clock.now(), answers: {}, ...row }));
      const settlements = await settle(shared, full);
      if (settlements.some(({ outcome }) => outcome !== 'settled')) throw new Error('The rows could not be written.');
      for (const submission of world.inspect.submissions())
        if (submission.state === 'finalizing') await close(submission);
    },
    ask: async (event, remainingMs = 800_000) => redrive(deps, event, { remainingMs: () => remainingMs }),
    messages: () => [...world.queues.live.small.messages()].map(({ body }) => parseRecordMessage(body)),
  };
}
