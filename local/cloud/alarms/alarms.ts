import type { DeployedResource } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import type { MetricStore } from '../metrics/store.ts';
import {
  readAlarms,
  type AlarmDefinition,
  type AlarmState,
  type CompositeAlarm,
  type MetricAlarm,
} from './definitions.ts';
import { evaluateAlarm, SPARE_PERIODS, type Evaluation } from './evaluation.ts';
import { evaluateMath } from './math/evaluate.ts';
import type { Series } from './math/values.ts';
import { alarmsIn, holds } from './rule.ts';
import { seriesOf } from './statistics.ts';

const MINUTE_MS = 60_000;

export interface AlarmStatus {
  readonly state: AlarmState;
  /** When it went to this state, ms since the epoch. */
  readonly sinceMs: number;
  readonly reason: string;
}

/** An alarm went from one state to another. */
export interface Transition {
  readonly atMs: number;
  readonly alarm: AlarmDefinition;
  readonly from: AlarmState;
  readonly to: AlarmState;
  readonly reason: string;
  /** Alarms that led a composite alarm to its state. */
  readonly because: readonly AlarmDefinition[];
}

export interface AlarmsOptions {
  readonly resources: readonly DeployedResource[];
  readonly store: MetricStore;
  /**
   * When the metrics began, ms since the epoch. Alarms for which silence is bad wait until one would have been heard: a stack
   * that was created this minute is not broken because it has no past.
   */
  readonly sinceMs: number;
}

/** The alarms of the templates and the states they are in. Nothing happens by itself: whoever has the clock evaluates them. */
export class Alarms {
  readonly definitions: readonly AlarmDefinition[];
  readonly #metric: readonly MetricAlarm[];
  /** Each after those that its rule names. */
  readonly #composite: readonly CompositeAlarm[];
  readonly #store: MetricStore;
  readonly #sinceMs: number;
  readonly #status = new Map<AlarmDefinition, AlarmStatus>();
  readonly #byName = new Map<string, AlarmDefinition>();
  readonly #observers = new Set<(transition: Transition) => void>();

  /** @throws LocalCloudError naming an alarm that cannot be evaluated here, and why */
  constructor({ resources, store, sinceMs }: AlarmsOptions) {
    this.#store = store;
    this.#sinceMs = sinceMs;
    this.definitions = readAlarms(resources);
    const reason = 'Unchecked: initial alarm creation';
    for (const alarm of this.definitions) {
      this.#status.set(alarm, { state: 'INSUFFICIENT_DATA', sinceMs, reason });
      this.#byName.set(alarm.name, alarm).set(alarm.arn, alarm);
    }
    this.#metric = this.definitions.filter((alarm) => alarm.kind === 'metric');
    this.#composite = inOrder(this.definitions, (alarm) => this.#find(alarm));
    // What cannot be computed must not be found out at night.
    for (const alarm of this.#metric) valuesOf(alarm, store, sinceMs);
  }

  /**
   * Evaluates every alarm by what was reported until the last full minute before `nowMs`.
   *
   * @returns what changed; observers were told
   */
  evaluate(nowMs: number): Transition[] {
    const endMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
    const transitions: Transition[] = [];
    const apply = (alarm: AlarmDefinition, evaluation: Evaluation, because: readonly AlarmDefinition[]): void => {
      const { state: from } = this.#statusOf(alarm);
      const { state } = evaluation;
      if (state === undefined || state === from) return;
      const reason = evaluation.reason();
      this.#status.set(alarm, { state, sinceMs: nowMs, reason });
      transitions.push({ atMs: nowMs, alarm, from, to: state, reason, because });
    };
    for (const alarm of this.#metric) {
      if (this.#isTooEarly(alarm, endMs)) continue;
      apply(alarm, evaluateAlarm(alarm, valuesOf(alarm, this.#store, endMs)), []);
    }
    for (const alarm of this.#composite) {
      const because = alarmsIn(alarm.rule)
        .map((name) => this.#find(name))
        .filter((child) => this.#statusOf(child).state === 'ALARM');
      apply(alarm, this.#evaluateRule(alarm, because), because);
    }
    for (const transition of transitions) for (const observer of this.#observers) observer(transition);
    return transitions;
  }

  /** The status of every alarm by its name. */
  states(): Readonly<Record<string, AlarmStatus>> {
    return Object.fromEntries([...this.#status].map(([{ name }, status]) => [name, status]));
  }

  /** Told of every transition. Call the returned function to stop observing. */
  observe(observer: (transition: Transition) => void): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  #evaluateRule({ rule, ruleText }: CompositeAlarm, because: readonly AlarmDefinition[]): Evaluation {
    const isAlarm = holds(rule, (name) => this.#statusOf(this.#find(name)).state);
    if (!isAlarm) return { state: 'OK', reason: () => `The rule does not hold: ${ruleText}` };
    return { state: 'ALARM', reason: () => `In alarm: ${because.map(({ name }) => name).join(', ') || ruleText}` };
  }

  #isTooEarly({ missingData, periodSeconds, evaluationPeriods }: MetricAlarm, endMs: number): boolean {
    return missingData === 'breaching' && endMs - this.#sinceMs < periodSeconds * evaluationPeriods * 1000;
  }

  #statusOf(alarm: AlarmDefinition): AlarmStatus {
    const status = this.#status.get(alarm);
    if (status !== undefined) return status;
    throw new LocalCloudError(`There is no alarm ${alarm.name} here.`);
  }

  #find(nameOrArn: string): AlarmDefinition {
    const alarm = this.#byName.get(nameOrArn);
    if (alarm !== undefined) return alarm;
    throw new LocalCloudError(`A composite alarm names ${nameOrArn}, but the templates have no such alarm.`);
  }
}

/** What a metric alarm looks at: values of its evaluation range, the oldest first. */
function valuesOf(alarm: MetricAlarm, store: MetricStore, endMs: number): Series {
  const { queries, watched, periodSeconds, evaluationPeriods } = alarm;
  const length = evaluationPeriods + SPARE_PERIODS;
  const known = new Map<string, Series>();
  const scope = {
    periodSeconds,
    length,
    metricIds: queries.filter(({ kind }) => kind === 'metric').map(({ id }) => id),
    query(id: string): Series {
      const query = queries.find((each) => each.id === id);
      if (query === undefined)
        throw new LocalCloudError(`${alarm.name}: its expression names ${id}, which is no query.`);
      const values =
        known.get(id) ??
        (query.kind === 'math'
          ? evaluateMath(query.expression, scope)
          : seriesOf(store, query.metric, query.statistic, { endMs, periodSeconds, count: length }));
      known.set(id, values);
      return values;
    },
  };
  try {
    return scope.query(watched.id);
  } catch (error) {
    if (!(error instanceof LocalCloudError)) throw error;
    throw new LocalCloudError(`${alarm.name}: ${error.message}`, { cause: error });
  }
}

/** @throws LocalCloudError when composite alarms wait for each other */
function inOrder(
  definitions: readonly AlarmDefinition[],
  find: (nameOrArn: string) => AlarmDefinition,
): CompositeAlarm[] {
  const ordered = new Set<CompositeAlarm>();
  const visit = (alarm: AlarmDefinition, above: readonly AlarmDefinition[]): void => {
    if (alarm.kind === 'metric' || ordered.has(alarm)) return;
    if (above.includes(alarm))
      throw new LocalCloudError(`The rule of the composite alarm ${alarm.name} leads to itself.`);
    for (const child of alarmsIn(alarm.rule)) visit(find(child), [...above, alarm]);
    ordered.add(alarm);
  };
  for (const alarm of definitions) visit(alarm, []);
  return [...ordered];
}

/** A transition in one line for the terminal: time, alarm, states, reason. */
export function alarmLine({ atMs, alarm, from, to, reason }: Transition): string {
  const time = new Date(atMs).toISOString().slice(11, 19);
  return `${time}  ${alarm.place}  ${from} → ${to}  ${reason}`;
}
