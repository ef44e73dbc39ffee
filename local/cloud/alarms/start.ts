import type { Cloud } from '../contract.ts';
import type { MetricStore } from '../metrics/store.ts';
import { Alarms, type AlarmStatus, type Transition } from './alarms.ts';
import { notificationOf } from './notification.ts';

const PRINCIPAL = 'cloudwatch.amazonaws.com';
/** How often the service evaluates alarms, and how long after the minute it does: what belongs to the minute has arrived. */
const INTERVAL_MS = 60_000;
const DELAY_MS = 5_000;

export interface AlarmsRunnerOptions {
  readonly cloud: Pick<Cloud, 'resources' | 'publish' | 'accountId' | 'region'>;
  readonly store: MetricStore;
}

/** The alarms of a running local cloud. */
export interface RunningAlarms {
  /** The status of every alarm by its name. */
  states(): Readonly<Record<string, AlarmStatus>>;
  /** Told of every transition. Call the returned function to stop observing. */
  observe(observer: (transition: Transition) => void): () => void;
  /** Evaluates them now, and publishes what changed; the clock does so every minute. */
  evaluate(nowMs?: number): Promise<Transition[]>;
  stop(): Promise<void>;
}

/**
 * Starts the alarms of the templates: evaluated every minute, transitions published to their topics.
 *
 * @throws LocalCloudError naming an alarm that cannot be evaluated here, and why
 */
export function startAlarms({ cloud, store }: AlarmsRunnerOptions): RunningAlarms {
  const alarms = new Alarms({ resources: cloud.resources, store, sinceMs: Date.now() });
  const evaluate = async (nowMs = Date.now()): Promise<Transition[]> => {
    const transitions = alarms.evaluate(nowMs);
    for (const transition of transitions) await publish(cloud, transition);
    return transitions;
  };
  let running: Promise<unknown> = Promise.resolve();
  const tick = (): void => {
    running = evaluate().catch((error: unknown) => console.error('The alarms could not be evaluated:', error));
    timer = setTimeout(tick, untilNextMs());
  };
  let timer = setTimeout(tick, untilNextMs());
  return {
    states: () => alarms.states(),
    observe: (observer) => alarms.observe(observer),
    evaluate,
    async stop() {
      clearTimeout(timer);
      await running;
    },
  };
}

/** Time until a little after the next full minute. */
const untilNextMs = (): number => INTERVAL_MS - ((Date.now() - DELAY_MS) % INTERVAL_MS);

async function publish({ publish: send, accountId, region }: AlarmsRunnerOptions['cloud'], transition: Transition) {
  const { alarm, to } = transition;
  if (!alarm.actionsEnabled) return;
  const notification = notificationOf(transition, { accountId, region });
  const context = { 'aws:SourceAccount': accountId, 'aws:SourceArn': alarm.arn };
  for (const topicArn of alarm.actions[to]) {
    // What CloudWatch may not publish it drops; the authorizer has noted the denial.
    await send({ principal: PRINCIPAL, topicArn, context, ...notification });
  }
}
