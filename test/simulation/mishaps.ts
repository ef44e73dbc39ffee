import { REASON_CODES, REASONS } from '../../lambdas/domain/reasons.ts';
import { START_MS } from '../support/memory/index.ts';
import { runRedrive } from './functions.ts';
import { nameOf, recordOfBody } from './journal.ts';
import type { Mishap, SubmissionPlan } from './plan.ts';
import { FOREIGN } from './provider.ts';
import { stream } from './random.ts';
import type { Simulation } from './run.ts';
import { accept, submissionIdOf } from './submit.ts';

const HELPFUL = REASON_CODES.filter((code) => REASONS[code].replayHelps);

/** By then the failure is in the ledger, where a redrive finds it. */
const HASTE_MS = 100;
/** The rows of a replay are written within this. */
const SLOW_MS = 20_000;

/** Puts everything that is planned into the future: submissions, cancellations and mishaps. */
export function arrange(simulation: Simulation): void {
  for (const plan of simulation.plan.submissions) arrangeSubmission(simulation, plan);
  for (const [index, mishap] of simulation.plan.mishaps.entries()) {
    later(simulation, mishap.atMs, async () => happen(simulation, mishap, index));
  }
}

function later(simulation: Simulation, afterMs: number, act: () => Promise<void>): void {
  simulation.pending += 1;
  simulation.scheduler.at(START_MS + afterMs, () => {
    void act().finally(() => {
      simulation.pending -= 1;
    });
  });
}

function arrangeSubmission(simulation: Simulation, plan: SubmissionPlan): void {
  const { world, scheduler, journal } = simulation;
  later(simulation, plan.atMs, async () => {
    journal.note(
      `${submissionIdOf(plan)} of ${plan.tenantId} is submitted: ${plan.file} with ${plan.kinds.length} records`,
    );
    await accept(world, plan, scheduler.now());
  });
  if (plan.cancelAfterMs === undefined) return;
  later(simulation, plan.atMs + plan.cancelAfterMs, async () => {
    journal.note(`${submissionIdOf(plan)} is cancelled`);
    await world.submissions.requestStop(submissionIdOf(plan), { kind: 'cancelled', atMs: scheduler.now() });
  });
}

async function happen(simulation: Simulation, mishap: Mishap, index: number): Promise<void> {
  const { journal } = simulation;
  journal.note(`mishap: ${JSON.stringify(mishap)}`);
  journal.stats.faults += 1;
  switch (mishap.kind) {
    case 'purge':
      return purge(simulation, mishap.queue);
    case 'old_messages':
      return repeatOldMessages(simulation, mishap.copies, index);
    case 'unreadable_message':
      await simulation.world.queues.live[mishap.lane].send([{ body: `no JSON ${index}`, group: 'nobody' }]);
      return;
    case 'foreign_message':
      return sendForeign(simulation, mishap.wrong, index);
    case 'files_denied':
      return simulation.files.deny(mishap.forMs);
    case 'file_lost':
      return simulation.files.loseNext(mishap.forMs);
    case 'items_lost':
      return loseItems(simulation, mishap.what, index);
    case 'redrive':
      return redrive(simulation, mishap.mode);
    case 'hasty_redrive':
      simulation.watch.onFailure = () => {
        later(simulation, simulation.sinceStartMs + HASTE_MS, async () => redrive(simulation, 'records'));
        // So the other copy may be written before or behind the replay.
        simulation.faults.slowDown('records', simulation.scheduler.now(), SLOW_MS);
      };
  }
}

async function redrive(simulation: Simulation, mode: 'records' | 'dead_letter_queue'): Promise<void> {
  const environment = simulation.environment('redrive');
  const request = { mode, dryRun: false, ...(mode === 'records' && { reason: HELPFUL }) };
  await simulation.attempt(async () => runRedrive(environment, simulation.options(environment), request));
}

/** Items of one submission that is being worked are gone. A deleted success is for operators: nothing takes it back. */
function loseItems({ world, watch, plan, journal }: Simulation, what: 'ledger' | 'rows', index: number): void {
  const dice = stream(plan.seed, `lost items ${index}`);
  const worked = world.inspect.submissions().filter(({ state }) => state === 'processing');
  if (worked.length === 0) return;
  const { submissionId } = dice.pick(worked);
  const chunks = world.inspect.ledger(submissionId);
  if (what === 'ledger' && chunks.length > 0) {
    const { chunk } = dice.pick(chunks);
    journal.note(`the ledger item of chunk ${chunk} of ${submissionId} is deleted`);
    return world.lose.ledger(submissionId, chunk);
  }
  const rows = world.inspect.records(submissionId);
  for (const { recordNo } of rows.filter((row) => row.state !== 'succeeded' && row.isolatedReceives === undefined)) {
    if (dice.chance(0.5)) continue;
    watch.rowLost(nameOf(submissionId, recordNo));
    world.lose.row(submissionId, recordNo);
  }
}

/** Everything in the queue is gone, what is being worked included. */
async function purge(
  { world, journal, watch }: Simulation,
  name: 'small' | 'bulk' | 'fanOut' | 'finalize',
): Promise<void> {
  const queue = world.queues.live[name];
  for (const { body } of queue.messages()) {
    const record = recordOfBody(body)?.record;
    if (record === undefined) continue;
    journal.disturbRecord(record);
    watch.acknowledgements.purged(record);
  }
  queue.purge();
}

/** Copies of messages that were worked long ago, or are being worked now. */
async function repeatOldMessages(
  { world, watch, journal, plan }: Simulation,
  copies: number,
  index: number,
): Promise<void> {
  const dice = stream(plan.seed, `old messages ${index}`);
  if (watch.bodies.length === 0) return;
  for (let copy = 0; copy < copies; copy++) {
    const { lane, body, group } = dice.pick(watch.bodies);
    const record = recordOfBody(body)?.record;
    if (record !== undefined) journal.disturbRecord(record);
    await world.queues.live[lane].send([{ body, group }]);
  }
}

const WRONG = {
  tenant: { tenantId: 'nobody' },
  number: { recordNo: 100_000 },
  generation: { generation: 1_000 },
  submission: { submissionId: 'sub_99' },
} as const;

/** A record message with a wrong member, and a lookup key by which a call for it is known. */
async function sendForeign(
  { world, watch, plan }: Simulation,
  wrong: keyof typeof WRONG,
  index: number,
): Promise<void> {
  const dice = stream(plan.seed, `foreign message ${index}`);
  if (watch.bodies.length === 0) return;
  const { lane, body, group } = dice.pick(watch.bodies);
  const message: Record<string, unknown> = { ...JSON.parse(body), ...WRONG[wrong] };
  const fields = { record_id: 'foreign', domain: `${FOREIGN}.example`, country: 'DE', postal_code: `${FOREIGN} good` };
  message['content'] = { kind: 'record', fields };
  delete message['answers'];
  await world.queues.live[lane].send([{ body: JSON.stringify(message), group }]);
}
