import type { RecordKind } from '../simulation/plan.ts';
import { stream, type Dice } from '../simulation/random.ts';
import { MonitoredSimulation } from './monitored.ts';
import type { SynthesizedStage } from './stage.ts';
import { good, Traffic } from './traffic.ts';

const HOUR = 60;
/** The simulation begins on a Tuesday at a quarter past twelve, and so does the day. */
const BEGINS_AT = 12.25;
export const DAY_MINUTES = 24 * HOUR;
/** Until everything that was submitted at the end has ended. */
const LAST_MINUTES = 20;

/** Records of the day's largest file. */
export const BIG_FILE_RECORDS = 2_000;

const TENANTS = ['acme', 'globex', 'initech'] as const;
/** What is wrong with one record in ten: data of customers, and companies that nobody knows. */
const ODD: readonly RecordKind[] = ['unknown', 'unknown', 'invalid', 'malformed', 'rejected', 'keyless'];

/** Minutes from the beginning to a time of the clock. */
const at = (hour: number, minute = 0): number => ((hour + minute / HOUR - BEGINS_AT + 24) % 24) * HOUR;

const records = (dice: Dice, count: number): RecordKind[] =>
  Array.from({ length: count }, () => (dice.chance(0.1) ? dice.pick(ODD) : 'good'));

/**
 * A day on which nothing is wrong: files come all day long, in bursts at nine and at two and a big one at eleven, and hardly any at night; now and then a
 * call of a provider fails, a message comes twice, a provider is out for half a minute and DynamoDB throttles for a minute; at
 * four somebody deploys.
 */
export async function liveThroughADay(stage: SynthesizedStage, seed = 1): Promise<MonitoredSimulation> {
  const outageMs = at(15, 10) * 60_000;
  const throttleMs = at(13) * 60_000;
  const simulation = new MonitoredSimulation({
    stage,
    seed,
    outages: [{ provider: 'geo', trouble: 'unavailable', fromMs: outageMs, toMs: outageMs + 30_000 }],
    noise: {
      flakyShare: 0.003,
      duplicateShare: 0.01,
      throttles: [{ share: 0.2, fromMs: throttleMs, toMs: throttleMs + 60_000 }],
    },
  });
  const traffic = new Traffic(simulation);
  const dice = stream(seed, 'weekday');
  workingHours(traffic, dice);
  night(traffic, dice);
  for (const hour of [9, 14]) burst(traffic, dice, at(hour));
  // The month's customer list of one tenant: minutes of all that the providers allow.
  traffic.submit(at(11), { tenant: 'globex', kinds: good(BIG_FILE_RECORDS) });
  deploy(simulation, at(16));
  traffic.ask(0, DAY_MINUTES, 'acme', 0.25);
  await simulation.watchFor(DAY_MINUTES + LAST_MINUTES);
  return simulation;
}

function workingHours(traffic: Traffic, dice: Dice): void {
  for (let minute = 1; minute < DAY_MINUTES; minute += dice.between(6, 14)) {
    if (minute > at(19) && minute < at(7)) continue;
    traffic.submit(minute, { tenant: dice.pick(TENANTS), kinds: records(dice, 1 + dice.below(12)) });
  }
  for (const hour of [13, 15, 17, 8, 10, 11]) {
    traffic.submit(at(hour, 20), { tenant: dice.pick(TENANTS), kinds: records(dice, 80 + dice.below(120)) });
  }
}

/** One file after midnight, and one before the morning. */
function night(traffic: Traffic, dice: Dice): void {
  traffic.submit(at(0, 30), { tenant: 'globex', kinds: records(dice, 150) });
  traffic.submit(at(5), { tenant: 'initech', kinds: records(dice, 3) });
}

/** Everybody at once. */
function burst(traffic: Traffic, dice: Dice, minute: number): void {
  for (let file = 0; file < 10; file++) {
    traffic.submit(minute + dice.between(0, 1), {
      tenant: dice.pick(TENANTS),
      kinds: records(dice, 5 + dice.below(25)),
    });
  }
  traffic.submit(minute, { tenant: 'acme', kinds: good(300) });
}

/** Event sources pause while they are updated, and a run of the reconciler falls out. */
function deploy(simulation: MonitoredSimulation, minute: number): void {
  for (const kind of ['small', 'bulk', 'fanOut', 'finalize', 'reconciler'] as const) {
    simulation.at(minute, () => simulation.afflict(kind, { what: 'stopped' }));
    simulation.at(minute + 1.5, () => simulation.afflict(kind, undefined));
  }
}
