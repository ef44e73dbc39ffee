import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DependencyMisconfiguredError, UnverifiedInputError } from '../../lambdas/domain/errors.ts';
import { CLOSED_STATES, OPEN_STATES } from '../../lambdas/domain/model.ts';
import type { DomainEvent } from '../../lambdas/domain/telemetry.ts';
import { REASON_CODES } from '../../lambdas/domain/reasons.ts';
import { pointsOf } from '../../lambdas/runtime/event-metrics.ts';
import { LANE_METRICS, PROVIDER_METRICS, SERVICE_METRICS, type Emitter } from '../../lambdas/runtime/metric-names.ts';

const LAMBDAS = join(import.meta.dirname, '..', '..', 'lambdas');
const METRICS = [LANE_METRICS, PROVIDER_METRICS, SERVICE_METRICS].flatMap((group) => Object.values(group));

const FUNCTIONS = readdirSync(LAMBDAS).filter((name) => existsSync(join(LAMBDAS, name, 'handler.ts')));

/** Everything that a module loads, itself among it: types are not loaded. */
function loadedBy(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, what = '', from = ''] of readFileSync(path, 'utf8').matchAll(
    /^(?:import|export) ([^;]*?) from '(\.[^']+\.ts)';$/gms,
  )) {
    if (!what.startsWith('type ')) loadedBy(resolve(dirname(path), from), seen);
  }
  return seen;
}

/** Others take rules from the worker's code, and do not do its work. */
const isWorkersOwn = (path: string): boolean => /domain\/(?:worker|providers)\//.test(path);

const codeOf = (name: string): string =>
  [...loadedBy(join(LAMBDAS, name, 'handler.ts'))]
    .filter((path) => name === 'worker' || !isWorkersOwn(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');

/** Names of the events that code can emit. */
const eventsOf = (code: string): Set<string> =>
  new Set([...code.matchAll(/\bname: '(\w+)'/g)].map(([, event = '']) => event));

/** How code can end records, by state and reason. What it names beside a state of waiting is no end. */
function endingsOf(code: string): { outcome: string; reason?: string }[] {
  const named = [...code.matchAll(/(?:state: '(\w+)',\s*)?reason: '(\w+)'/g)];
  const reasons = named.filter(([, state]) => state !== 'retrying' && state !== 'deferred');
  const states = [...code.matchAll(/\bstate: '(\w+)'/g)].map(([, state = '']) => state);
  return ['failed', ...states.filter(isTerminal)].flatMap((outcome) =>
    outcome === 'succeeded' ? { outcome } : reasons.map(([, , reason = '']) => ({ outcome, reason })),
  );
}
const isTerminal = (state: string): boolean => ['succeeded', 'failed', 'dead_lettered', 'cancelled'].includes(state);

const OUTCOMES: readonly (string | undefined)[] = [
  undefined,
  'succeeded',
  'failed',
  'dead_lettered',
  'cancelled',
  'found',
  'permanent',
  'throttled',
  'auth',
  ...REASON_CODES,
  ...CLOSED_STATES,
  ...OPEN_STATES.map((state) => `open_${state}`),
  'open_records',
  'oldest_unfinished',
  'dead_letters_age',
  'dead_letters_age_prepare',
  'dead_letters_age_fanOut',
  'dead_letters_age_finalize',
  'dead_letters_age_webhooks',
  'given_up',
  'stalled_results',
  'breaker_open',
  'provider_blocked',
  'granted_rate',
  'canary_distrusted',
  'troubled_providers',
  'stalled_fan_outs',
  'outbox_age',
  'conservation_difference',
];

const ANY = OUTCOMES.flatMap((outcome) =>
  [undefined, ...REASON_CODES].map((reason) => ({
    ...(outcome !== undefined && { outcome }),
    ...(reason !== undefined && { reason }),
  })),
);

const DENIED = new DependencyMisconfiguredError('Denied.', { action: 's3:GetObject', resource: 'bucket' });

/** Metrics that an event can add to, whatever else it says; of the end of a record, what the code can say. */
function metricsOf(name: DomainEvent['name'], code: string, isWorker: boolean): Set<string> {
  const common = { name, lane: 'bulk', provider: 'geo', count: 1, durationMs: 1, ageMs: 1 } as const;
  const variants: DomainEvent[] = (name === 'record_finished' ? endingsOf(code) : ANY).flatMap((what) =>
    (['warn', 'error'] as const).map((level) => ({ ...common, level, ...what })),
  );
  if (name === 'unexpected_error') variants.push({ name, level: 'warn', error: DENIED });
  if (code.includes('UnverifiedInputError('))
    variants.push({ name, level: 'warn', error: new UnverifiedInputError('x') });
  return new Set(
    variants.flatMap((event) => pointsOf(event, isWorker ? 'bulk' : undefined).map((point) => point.name)),
  );
}

const PORTS = readFileSync(join(LAMBDAS, 'domain', 'telemetry.ts'), 'utf8');
const isEvent = (name: string): name is DomainEvent['name'] => PORTS.includes(`| '${name}'`);

describe('the functions that are said to emit a metric', () => {
  const emitted = new Map(
    FUNCTIONS.map((name) => {
      const code = codeOf(name);
      const events = [...eventsOf(code)].filter(isEvent);
      return [name, new Set(events.flatMap((event) => [...metricsOf(event, code, name === 'worker')]))];
    }),
  );

  it.each(METRICS)('of $name have code that does', ({ name, by }) => {
    expect(by.filter((emitter: Emitter) => emitted.get(emitter)?.has(name) !== true)).toEqual([]);
  });

  it('are all that can: no series is forgotten', () => {
    // The reconciler ends records by few of their outcomes and takes messages off no queue of slices. Previews may take their time and are never counted as slow.
    const SHARED =
      /^NewerMessages by reconciler$|^(?:Records(?:Failed|DeadLettered)|RecordAge) by reconciler$|^SlowAnswers by preview$/;
    const forgotten = METRICS.flatMap(({ name, by }) =>
      FUNCTIONS.filter(
        (candidate) =>
          emitted.get(candidate)?.has(name) === true && !by.some((emitter: string) => emitter === candidate),
      ).map((candidate) => `${name} by ${candidate}`),
    );
    expect(forgotten.filter((each) => !SHARED.test(each))).toEqual([]);
  });

  it('have a name for every event that is counted at all', () => {
    const counted = new Set([...emitted.values()].flatMap((names) => [...names]));
    expect(METRICS.map(({ name }) => name).filter((name) => !counted.has(name))).toEqual([]);
  });
});
