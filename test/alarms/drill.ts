import type { AlarmDefinition } from '../../local/cloud/index.ts';
import type { Outage } from '../simulation/plan.ts';
import { START_MS } from '../support/memory/index.ts';
import { MonitoredSimulation } from './monitored.ts';
import type { SynthesizedStage } from './stage.ts';
import { good, Traffic } from './traffic.ts';

const MINUTE_MS = 60_000;
/** The fault begins when everything has been well for a while. */
const FAULT_AT = 20;
/** Minutes that are watched after everything should be well again: nothing may ring twice. */
const AFTERMATH = 5;
/** Default of {@link Drill.silentWithin}. */
const SILENT_WITHIN = 10;
/** The one alarm for the pager. */
export const PAGE = 'Page/Alarm';

/** A fault, and what it must lead to. Times in minutes, from the fault on. */
export interface Drill {
  /** What goes wrong, in words. */
  readonly fault: string;
  /** How long it lasts until somebody mends it. */
  readonly lastsFor: number;
  /** Places of the alarms that ring, with the time within which they must; no other may, but the pager's for what is a page. */
  readonly rings: Readonly<Record<string, number>>;
  /** Time from the fix within which all of them are silent. Default 10. */
  readonly silentWithin?: number;
  /** Invariants that the fault itself breaks. Default: none; the alarms are not all that must hold. */
  readonly breaks?: readonly string[];
  /** A small file comes so often, in minutes. Default 2. */
  readonly fileEvery?: number;
  /** Providers' trouble. */
  readonly outages?: readonly Omit<Outage, 'fromMs' | 'toMs'>[];
  /** Puts the fault and its fix into the simulation's future. */
  readonly arrange?: (world: DrillWorld) => void;
}

export interface DrillWorld {
  readonly simulation: MonitoredSimulation;
  readonly traffic: Traffic;
  /** Minutes from the start at which the fault begins and ends, and at which the drill is over. */
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

/** How an alarm rang; minutes from the fault and from the fix. */
export interface Ringing {
  readonly alarm: AlarmDefinition;
  readonly after: number;
  /** Undefined: it rings still. */
  readonly silentAfter: number | undefined;
  readonly times: number;
}

export interface DrillResult {
  readonly drill: Drill;
  readonly ringings: readonly Ringing[];
  /** Broken invariants and unexplained errors. */
  readonly problems: MonitoredSimulation['problems'];
}

/** What a drill does not show as it must, each in a sentence; none when all is well. */
export function shortcomings({ drill, ringings, problems }: DrillResult): string[] {
  const { rings, silentWithin = SILENT_WITHIN, breaks = [] } = drill;
  const rang = new Map(ringings.map((ringing) => [ringing.alarm.place, ringing]));
  const isPage = ringings.some(({ alarm }) => alarm.description.startsWith('[page]') && alarm.place !== PAGE);
  const expected = new Set([...Object.keys(rings), ...(isPage ? [PAGE] : [])]);
  return [
    ...[...expected].filter((place) => !rang.has(place)).map((place) => `${place} did not ring`),
    ...ringings.flatMap(({ alarm: { place }, after, silentAfter, times }) => [
      ...(expected.has(place) ? [] : [`${place} rang`]),
      ...(after < 0 ? [`${place} rang ${-after} minutes before the fault`] : []),
      ...(times > 1 ? [`${place} rang ${times} times`] : []),
      ...(after > (rings[place] ?? Infinity) ? [`${place} rang after ${after} minutes`] : []),
      ...(silentAfter === undefined || silentAfter > silentWithin ? [`${place} did not become silent in time`] : []),
    ]),
    ...new Set(problems.filter(({ invariant }) => !breaks.includes(invariant)).map(({ message }) => message)),
  ];
}

/** Runs a drill with the usual light traffic around it. */
export async function runDrill(stage: SynthesizedStage, drill: Drill, seed = 1): Promise<DrillResult> {
  const { lastsFor, silentWithin = SILENT_WITHIN, fileEvery = 2, outages = [] } = drill;
  const [from, to] = [FAULT_AT, FAULT_AT + lastsFor];
  const end = to + silentWithin + AFTERMATH;
  const simulation = new MonitoredSimulation({
    stage,
    seed,
    outages: outages.map((outage) => ({ ...outage, fromMs: from * MINUTE_MS, toMs: to * MINUTE_MS })),
  });
  const traffic = new Traffic(simulation);
  for (let minute = 0.5; minute < end - 4; minute += fileEvery)
    traffic.submit(minute, { tenant: 'acme', kinds: good(3) });
  traffic.ask(0, end, 'acme', 0.5);
  drill.arrange?.({ simulation, traffic, from, to, end });
  await simulation.watchFor(end);
  return { drill, ringings: ringingsOf(simulation, from, to), problems: simulation.problems };
}

function ringingsOf({ transitions, alarms }: MonitoredSimulation, from: number, to: number): Ringing[] {
  const minuteOf = (atMs: number): number => (atMs - START_MS) / MINUTE_MS;
  return alarms.definitions.flatMap((alarm) => {
    const own = transitions.filter((transition) => transition.alarm === alarm);
    const rang = own.filter(({ to: state }) => state === 'ALARM');
    const [first] = rang;
    if (first === undefined) return [];
    const silent = own.findLast(({ from: state }) => state === 'ALARM');
    const ringsStill = alarms.states()[alarm.name]?.state === 'ALARM';
    return {
      alarm,
      after: minuteOf(first.atMs) - from,
      silentAfter: silent === undefined || ringsStill ? undefined : minuteOf(silent.atMs) - to,
      times: rang.length,
    };
  });
}
