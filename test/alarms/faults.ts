import { isOpen, type Lane } from '../../lambdas/domain/model.ts';
import { runRedrive } from '../simulation/functions.ts';
import type { RecordKind } from '../simulation/plan.ts';
import type { Watch } from '../simulation/watch.ts';
import { START_MS, type MemoryWorld } from '../support/memory/index.ts';
import { QUEUE_NAMES, type QueueName } from '../support/memory/queues.ts';
import type { DrillWorld } from './drill.ts';
import type { Foreign, FunctionKind } from './meter.ts';
import type { Ailment, MonitoredSimulation } from './monitored.ts';
import { good } from './traffic.ts';

type Arrangement = (world: DrillWorld) => void;

/** More records than the small lane takes. */
const BULK_RECORDS = 61;
/** A share of the timeout that is too near to it. */
const NEAR = 0.92;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export const together =
  (...arrangements: readonly Arrangement[]): Arrangement =>
  (world) => {
    for (const arrange of arrangements) arrange(world);
  };

/** A function is ill from the fault to the fix. */
export const ill =
  (kind: FunctionKind, ailment: Ailment): Arrangement =>
  ({ simulation, from, to }) => {
    simulation.at(from, () => simulation.afflict(kind, ailment));
    simulation.at(to, () => simulation.afflict(kind, undefined));
  };

export const nearTimeout =
  (kind: FunctionKind): Arrangement =>
  (world) =>
    ill(kind, { what: 'slow', ms: world.simulation.meter.functionOf(kind).timeoutMs * NEAR })(world);

/** Files for the bulk lane all the time. */
export const bulkFiles =
  (everyMinutes = 3): Arrangement =>
  ({ traffic, end }) => {
    for (let minute = 1.2; minute < end - 8; minute += everyMinutes) {
      traffic.submit(minute, { tenant: 'globex', kinds: good(BULK_RECORDS) });
    }
  };

/** Files to be decoded all the time. */
export const encodedFiles =
  (everyMinutes = 3): Arrangement =>
  ({ traffic, end }) => {
    for (let minute = 1.4; minute < end - 8; minute += everyMinutes) {
      traffic.submit(minute, { tenant: 'globex', kinds: good(2), charset: 'windows-1252' });
    }
  };

/** A file to be decoded at the moment of the fault. */
export const encodedFileAtFault: Arrangement = ({ traffic, from }) =>
  traffic.submit(from + 0.1, { tenant: 'globex', kinds: good(2), charset: 'windows-1252' });

/** A file at the moment of the fault. */
export const fileAtFault =
  (kinds: readonly RecordKind[]): Arrangement =>
  ({ traffic, from }) =>
    traffic.submit(from + 0.1, { tenant: 'globex', kinds });

/** A customer who sends many small files, from the fault to the fix. */
export const manyFiles =
  (everyMinutes: number): Arrangement =>
  ({ traffic, from, to }) => {
    for (let minute = from + 0.05; minute < to; minute += everyMinutes) {
      traffic.submit(minute, { tenant: 'initech', kinds: good(1) });
    }
  };

/** Customers who ask all the time. */
export const manyQuestions: Arrangement = ({ traffic, end }) => traffic.ask(0, end, 'acme', 6);

/** Customers who look at their files before they submit them. */
export const manyPreviews: Arrangement = ({ traffic, end }) => traffic.preview(0, end, 'acme', 6);

/** An operator, or a script of one, replays what failed. */
export const redrives =
  (everyMinutes: number): Arrangement =>
  ({ simulation, end }) => {
    const request = { mode: 'records', dryRun: false, reason: ['attempts_exhausted'] };
    for (let minute = 1; minute < end - 8; minute += everyMinutes) {
      simulation.at(minute, async () => {
        const environment = simulation.environment('redrive');
        await simulation.attempt(async () => runRedrive(environment, simulation.options(environment), request));
      });
    }
  };

/** Whoever mends it deletes the dead letters. */
export const dlqEmptied =
  (name: QueueName): Arrangement =>
  ({ simulation, to }) =>
    simulation.at(to, () => simulation.world.queues.deadLetters[name].purge());

/** Somebody deletes what is in a queue. */
export const queuePurged =
  (name: QueueName, afterMinutes: number): Arrangement =>
  ({ simulation, from }) =>
    simulation.at(from + afterMinutes, () => simulation.world.queues.live[name].purge());

/** A dead letter of every queue that had waited there for as long as messages are kept, and that nobody has looked at for eight days. */
export const oldDeadLetters: Arrangement = ({ simulation, from }) => {
  for (const name of QUEUE_NAMES) {
    simulation.at(from, async () => {
      const queue = simulation.world.queues.deadLetters[name];
      if (!('take' in queue) || typeof queue.take !== 'function') throw new Error(`${name} takes no dead letters.`);
      const arrivedAtMs = simulation.scheduler.now() - 8 * DAY_MS;
      // A message moves with the time at which it was first sent, and expires by it.
      const sentAtMs = arrivedAtMs - 4 * DAY_MS;
      const message = { messageId: `old-${name}`, body: 'forgotten', group: 'acme', attributes: {}, receiveCount: 5 };
      await queue.take({ ...message, sentAtMs, arrivedAtMs, visibleAtMs: arrivedAtMs });
    });
  }
  // As the reconciler would have noted it eight days ago.
  simulation.at(from, async () => {
    const sinceMs = simulation.scheduler.now() - 8 * DAY_MS;
    const note = { sinceMs, seenMs: simulation.scheduler.now() };
    const waiting = { small: note, bulk: note, prepare: note, fanOut: note, finalize: note, webhooks: note };
    await simulation.world.admission.saveDeadLetters({ waiting });
  });
};

/** Messages beside those that the simulation knows of. */
export const foreign =
  (foreignByQueue: Partial<Record<QueueName, Foreign>>): Arrangement =>
  ({ simulation, from, to }) => {
    for (const name of QUEUE_NAMES) {
      const messages = foreignByQueue[name];
      if (messages === undefined) continue;
      simulation.at(from, () => void simulation.meter.foreign.set(name, messages));
      simulation.at(to, () => void simulation.meter.foreign.delete(name));
    }
  };

/** A message that only a newer version can read comes to a queue; that version is deployed at the fix. */
export const newerMessage =
  (name: QueueName): Arrangement =>
  ({ simulation, from, to }) => {
    simulation.at(from, async () => sendAgain(simulation, name, { v: 99 }));
    simulation.at(to, () => {
      simulation.readsNewer = true;
    });
  };

/** A message about a record that its submission does not have comes to a lane. */
export const foreignRecord =
  (lane: Lane): Arrangement =>
  ({ simulation, from }) =>
    simulation.at(from, async () => sendAgain(simulation, lane, { recordNo: 100_000 }));

/** Sends a message that was worked before once more, with other members. */
async function sendAgain(simulation: MonitoredSimulation, name: QueueName, members: object): Promise<void> {
  const { world, watch } = simulation;
  const message = { ...workedMessage(watch.bodies, world, name), ...members };
  await world.queues.live[name].send([{ body: JSON.stringify(message), group: 'acme' }]);
}

function workedMessage(bodies: Watch['bodies'], { inspect }: MemoryWorld, name: QueueName): object {
  if (name === 'small' || name === 'bulk') {
    const sent = bodies.findLast(({ lane }) => lane === name);
    if (sent === undefined) throw new Error(`The ${name} lane had no message before the fault.`);
    return JSON.parse(sent.body);
  }
  const submission = inspect.submissions().find(({ state }) => !isOpen(state));
  if (submission === undefined) throw new Error('No submission has ended before the fault.');
  const { submissionId, tenantId } = submission;
  return {
    submissionId,
    tenantId,
    ...(name === 'finalize' && { kind: 'results' }),
    ...(name === 'webhooks' && UNKNOWN_DELIVERY),
  };
}

/** A delivery that was deleted: nothing is done about it. */
const UNKNOWN_DELIVERY = { kind: 'delivery', deliveryId: 'dlv_none', attempt: 1 };

/** Somebody deletes the file of a submission whose records are worked on, and restores it after so many minutes. */
export const fileDeleted =
  (restoredAfter: number): Arrangement =>
  ({ simulation, traffic, from }) => {
    traffic.submit(from - 0.4, { tenant: 'globex', kinds: good(BULK_RECORDS) });
    simulation.at(from - 0.4, () => simulation.afflict('finalize', { what: 'stopped' }));
    let restore = (): void => {};
    simulation.at(from, () => {
      const file = simulation.world.inspect.submissions().find(({ fanOut }) => fanOut.records === BULK_RECORDS);
      if (file === undefined) throw new Error('The file of the drill was not read in time.');
      const { key } = file.source;
      const body = simulation.world.objects.text(key);
      restore = () => void simulation.world.objects.seed(key, body);
      simulation.world.objects.delete(key);
      simulation.afflict('finalize', undefined);
    });
    simulation.at(from + restoredAfter, () => restore());
  };

/** A defect counts an outcome that no record has, in a file whose lane pauses until so many minutes after. */
export const oneOutcomeTooMany =
  (pauseMinutes: number): Arrangement =>
  ({ simulation, traffic, from }) => {
    traffic.submit(from - 0.4, { tenant: 'globex', kinds: good(BULK_RECORDS) });
    simulation.at(from - 0.4, () => simulation.afflict('bulk', { what: 'stopped' }));
    simulation.at(from, async () => {
      const file = simulation.world.inspect.submissions().find(({ fanOut }) => fanOut.records === BULK_RECORDS);
      if (file === undefined) throw new Error('The file of the drill was not read in time.');
      const marks = { succeeded: [BULK_RECORDS], failed: new Map(), cancelled: [] };
      await simulation.world.ledger.mark(file.submissionId, 0, marks, file.expiresAtSeconds);
    });
    simulation.at(from + pauseMinutes, () => simulation.afflict('bulk', undefined));
  };

/** The provider refuses calls at a tenth of the configured pace, as others have found in its item, from the fault to the fix. */
export const slower =
  (provider: string): Arrangement =>
  ({ simulation, from, to }) => {
    for (let minute = from; minute < to; minute += 4) {
      simulation.at(minute, async () => {
        const { throttledAtMs: seenAtMs } = await simulation.world.providers.get(provider);
        const pace = { share: 0.09, limitShare: 0.1 };
        await simulation.world.providers.throttle(provider, {
          seenAtMs,
          nowMs: START_MS + minute * MINUTE_MS,
          throttles: 0,
          pace,
        });
      });
    }
  };

/** A probe proved the provider's canary wrong at the fault; it is not trusted until the fix. */
export const distrustedCanary =
  (provider: string): Arrangement =>
  ({ simulation, from, to }) => {
    simulation.at(from, async () => {
      const { providers } = simulation.world;
      const nowMs = START_MS + from * MINUTE_MS;
      const { epoch } = await providers.open(provider, {
        epoch: (await providers.get(provider)).epoch,
        openUntilMs: nowMs,
      });
      await providers.claimProbe(provider, { epoch, owner: 'drill', nowMs, leaseMs: 1_000 });
      const canaryDistrustedUntilMs = START_MS + to * MINUTE_MS;
      await providers.close(provider, { epoch, probeOwner: 'drill', nowMs, canaryDistrustedUntilMs });
    });
  };
