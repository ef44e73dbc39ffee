import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DomainEvent } from '../../lambdas/domain/telemetry.ts';
import {
  DependencyMisconfiguredError,
  DependencyUnavailableError,
  LeaseLostError,
  SluiceError,
  UnverifiedInputError,
} from '../../lambdas/domain/errors.ts';
import { pointsOf } from '../../lambdas/runtime/event-metrics.ts';
import { createTelemetry, type TelemetryOptions } from '../../lambdas/runtime/telemetry.ts';
import { createReconcileRig } from '../support/reconcile-rig.ts';

const OPTIONS: TelemetryOptions = { service: 'worker', stage: 'test', namespace: 'Sluice', logLevel: 'INFO' };
const FINISHED: DomainEvent = {
  name: 'record_finished',
  level: 'info',
  submissionId: 'sub_1',
  tenantId: 'acme',
  recordNo: 7,
  attempt: 1,
  lane: 'small',
  outcome: 'succeeded',
  ageMs: 1_500,
};

let output: string[] = [];
beforeEach(() => {
  output = [];
  for (const stream of [process.stdout, process.stderr]) {
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      output.push(
        ...String(text)
          .split('\n')
          .filter((line) => line.startsWith('{')),
      );
      return true;
    });
  }
});
afterEach(() => {
  jest.restoreAllMocks();
});

const lines = (): Record<string, unknown>[] => output.map((line) => JSON.parse(line));
const logLines = () => lines().filter((line) => !('_aws' in line));
const metricLines = () => lines().filter((line) => '_aws' in line);

const DENIED = new DependencyMisconfiguredError('Denied.', { action: 's3:GetObject', resource: 'bucket/key' });

describe('log lines', () => {
  it('carry the event, its ids, the stage and the request', () => {
    const telemetry = createTelemetry(OPTIONS);
    telemetry.begin({ awsRequestId: 'request-1' });
    telemetry.emit({
      ...FINISHED,
      level: 'warn',
      outcome: 'failed',
      reason: 'invalid_record',
      detail: 'Field "email" …',
    });
    expect(logLines()).toMatchObject([
      {
        level: 'WARN',
        message: 'record_finished',
        service: 'worker',
        stage: 'test',
        requestId: 'request-1',
        submissionId: 'sub_1',
        tenantId: 'acme',
        recordNo: 7,
        lane: 'small',
        reason: 'invalid_record',
      },
    ]);
  });

  it('hold nothing that is not on the list of fields', () => {
    const telemetry = createTelemetry(OPTIONS);
    telemetry.emit(Object.assign({ ...FINISHED }, { fields: { email: 'planted-marker' } }));
    expect(logLines()).toHaveLength(1);
    expect(output.join('')).not.toContain('planted-marker');
  });

  it('tell name and place of an error, but not its words unless they are ours', () => {
    const telemetry = createTelemetry(OPTIONS);
    const cause = Object.assign(new SyntaxError('Unexpected token, "planted-marker"'), { code: 'ERR_X' });
    telemetry.emit({
      name: 'unexpected_error',
      level: 'error',
      error: new SluiceError('The row was not read.', { cause }),
    });
    telemetry.emit({ name: 'unexpected_error', level: 'error', error: cause });
    expect(logLines()).toMatchObject([
      {
        failure: {
          name: 'SluiceError',
          message: 'The row was not read.',
          cause: { name: 'SyntaxError', code: 'ERR_X' },
        },
      },
      {
        failure: { name: 'SyntaxError', stack: expect.arrayContaining([expect.stringContaining('telemetry.test.ts')]) },
      },
    ]);
    expect(output.join('')).not.toContain('planted-marker');
  });

  it('about successes are sampled, all others are written', () => {
    const telemetry = createTelemetry({ ...OPTIONS, successShare: 0 });
    telemetry.emit(FINISHED);
    telemetry.emit({ ...FINISHED, level: 'warn', outcome: 'failed' });
    telemetry.emit({ name: 'fanout_started', level: 'info' });
    expect(logLines().map(({ message, outcome }) => [message, outcome])).toEqual([
      ['record_finished', 'failed'],
      ['fanout_started', undefined],
    ]);
  });

  it('below the level are not written, and counted all the same', () => {
    const telemetry = createTelemetry(OPTIONS);
    telemetry.emit({ name: 'record_deferred', level: 'debug', lane: 'bulk', reason: 'breaker_open' });
    telemetry.flush();
    expect(logLines()).toEqual([]);
    expect(metricLines()).toMatchObject([{ lane: 'bulk', DeferralsForProvider: 1 }]);
  });
});

describe('metrics', () => {
  it('are written once per invocation and set of dimensions, counts added up', () => {
    const telemetry = createTelemetry({ ...OPTIONS, successShare: 0 });
    for (let i = 0; i < 10; i++) {
      telemetry.emit(FINISHED);
      for (const provider of ['company', 'geo']) {
        telemetry.emit({ name: 'provider_call', level: 'debug', provider, outcome: 'found', durationMs: 100 + i });
      }
    }
    telemetry.flush();
    expect(metricLines()).toHaveLength(3);
    expect(metricLines()[0]).toMatchObject({ service: 'worker', stage: 'test', lane: 'small', RecordsSucceeded: 10 });
    expect(metricLines()[1]).toMatchObject({
      provider: 'company',
      ProviderCallsAnswered: 10,
      ProviderLatency: Array.from({ length: 10 }, (_, i) => 100 + i),
    });
  });

  it('are not written twice, and nothing is written about nothing', () => {
    const telemetry = createTelemetry({ ...OPTIONS, successShare: 0 });
    telemetry.emit(FINISHED);
    telemetry.flush();
    telemetry.flush();
    expect(metricLines()).toHaveLength(1);
  });

  it('of a full batch stay below 300 bytes of log per record', () => {
    const telemetry = createTelemetry({ ...OPTIONS, successShare: 0.01 });
    telemetry.begin({ awsRequestId: 'a4f0a2f6-3f5d-4a87-9a3c-0f9f6a1d7a10' });
    for (const provider of ['company', 'geo'])
      telemetry.emit({ name: 'pacer_wait', level: 'debug', provider, durationMs: 1_234, count: 10 });
    for (let i = 0; i < 10; i++) {
      telemetry.emit({ ...FINISHED, ageMs: 123_456 });
      for (const provider of ['company', 'geo'])
        telemetry.emit({ name: 'provider_call', level: 'debug', provider, outcome: 'found', durationMs: 123 });
    }
    telemetry.flush();
    const bytes = metricLines().reduce((sum, line) => sum + JSON.stringify(line).length + 1, 0);
    expect(bytes).toBeGreaterThan(500);
    expect(bytes / 10).toBeLessThan(250);
  });

  it.each<[Partial<DomainEvent>, string, Record<string, string>]>([
    [{ name: 'record_finished', lane: 'bulk', outcome: 'succeeded' }, 'RecordsSucceeded', { lane: 'bulk' }],
    [{ name: 'record_finished', lane: 'bulk', outcome: 'failed' }, 'RecordsFailed', { lane: 'bulk' }],
    [{ name: 'record_finished', lane: 'bulk', outcome: 'dead_lettered' }, 'RecordsDeadLettered', { lane: 'bulk' }],
    [{ name: 'records_stopped', lane: 'bulk', outcome: 'cancelled' }, 'RecordsCancelled', { lane: 'bulk' }],
    [
      { name: 'record_finished', lane: 'bulk', outcome: 'dead_lettered', reason: 'worker_crashed' },
      'RecordsCrashed',
      { lane: 'bulk' },
    ],
    [{ name: 'records_stopped', lane: 'bulk', outcome: 'expired' }, 'RecordsExpired', { lane: 'bulk' }],
    [{ name: 'record_deferred', lane: 'bulk', reason: 'pacer_full' }, 'DeferralsForPace', { lane: 'bulk' }],
    [
      { name: 'record_deferred', lane: 'bulk', reason: 'dependency_unavailable' },
      'DeferralsForPlatform',
      { lane: 'bulk' },
    ],
    [{ name: 'record_attempt_failed', lane: 'bulk', provider: 'geo' }, 'AttemptsFailed', { lane: 'bulk' }],
    [{ name: 'provider_call', provider: 'geo', outcome: 'not_found' }, 'ProviderCallsAnswered', { provider: 'geo' }],
    [{ name: 'provider_call', provider: 'geo', outcome: 'throttled' }, 'ProviderCallsThrottled', { provider: 'geo' }],
    [{ name: 'answers_reused', provider: 'geo' }, 'ProviderAnswersReused', { provider: 'geo' }],
    [
      { name: 'provider_call', provider: 'geo', outcome: 'provider_timeout' },
      'ProviderCallsTimedOut',
      { provider: 'geo' },
    ],
    [
      { name: 'provider_call', provider: 'geo', outcome: 'provider_unavailable' },
      'ProviderCallsFailed',
      { provider: 'geo' },
    ],
    [{ name: 'provider_call', provider: 'geo', outcome: 'permanent' }, 'ProviderCallsRejected', { provider: 'geo' }],
    [{ name: 'provider_call', provider: 'geo', outcome: 'auth' }, 'ProviderCallsUnauthorized', { provider: 'geo' }],
    [{ name: 'credential_refused', provider: 'geo' }, 'ProviderCredentialsRefused', { provider: 'geo' }],
    [{ name: 'breaker_opened', provider: 'geo' }, 'ProviderBreakerOpened', { provider: 'geo' }],
    [{ name: 'isolated_run_started', lane: 'small', count: 4 }, 'IsolatedRuns', { lane: 'small' }],
    [{ name: 'submission_finished', lane: 'small', outcome: 'complete' }, 'SubmissionsComplete', {}],
    [{ name: 'submission_finished', lane: 'small', outcome: 'expired' }, 'SubmissionsExpired', {}],
    [{ name: 'submission_reopened', count: 7 }, 'SubmissionsReopened', {}],
    [{ name: 'unexpected_error', level: 'error', lane: 'small' }, 'UnexpectedErrors', {}],
    [{ name: 'unexpected_error', level: 'warn' }, 'DependencyFailures', {}],
    [{ name: 'fanout_continued', level: 'warn', error: new DependencyUnavailableError('x') }, 'DependencyFailures', {}],
    [
      { name: 'finalize_restarted', level: 'warn', error: new DependencyUnavailableError('x') },
      'DependencyFailures',
      {},
    ],
    [{ name: 'fanout_continued', level: 'warn', error: DENIED }, 'Misconfigurations', {}],
    [
      { name: 'unexpected_error', level: 'warn', error: new SluiceError('x', { cause: DENIED }) },
      'Misconfigurations',
      {},
    ],
    [{ name: 'finalize_restarted', level: 'warn', error: new UnverifiedInputError('x') }, 'UnverifiedInputs', {}],
    [{ name: 'reconciled', count: 12 }, 'ReconcilerRuns', {}],
  ])('count %j', (event, name, dimensions) => {
    expect(pointsOf({ level: 'info', name: 'reconciled', ...event })[0]).toEqual({
      name,
      unit: 'Count',
      value: 1,
      dimensions,
    });
  });

  it('count what a person must allow once, and not as a failure that passes', () => {
    const event = { name: 'unexpected_error', level: 'warn', error: DENIED } as const;
    expect(pointsOf(event).map(({ name }) => name)).toEqual(['Misconfigurations']);
    expect(pointsOf(event, 'small')).toEqual([
      { name: 'WorkerMisconfigurations', unit: 'Count', value: 1, dimensions: { lane: 'small' } },
    ]);
  });

  it('say in the log which action was refused on which resource', () => {
    const telemetry = createTelemetry(OPTIONS);
    telemetry.emit({ name: 'unexpected_error', level: 'warn', error: DENIED });
    expect(logLines()).toMatchObject([
      { failure: { name: 'DependencyMisconfiguredError', action: 's3:GetObject', resource: 'bucket/key' } },
    ]);
  });

  it('count no lost lease and no planned continuation as a failure', () => {
    const about = { name: 'fanout_continued', level: 'warn' } as const;
    expect(pointsOf({ ...about, error: new LeaseLostError('x') })).toEqual([]);
    expect(pointsOf({ ...about, level: 'info' })).toEqual([]);
  });

  it('count messages of a newer version once they are overdue, by the lane whose worker met them', () => {
    const event = { name: 'message_handed_back', level: 'error', count: 4 } as const;
    expect(pointsOf({ ...event, level: 'warn' }, 'small')).toEqual([]);
    expect(pointsOf(event, 'small')).toMatchObject([
      { name: 'WorkerNewerMessages', value: 4, dimensions: { lane: 'small' } },
    ]);
    expect(pointsOf(event)).toMatchObject([{ name: 'NewerMessages', value: 4, dimensions: {} }]);
  });

  it('tell errors of workers by their lane', () => {
    const telemetry = createTelemetry({ ...OPTIONS, lane: 'bulk' });
    telemetry.emit({ name: 'unexpected_error', level: 'error' });
    telemetry.emit({ name: 'unexpected_error', level: 'warn', provider: 'geo' });
    telemetry.flush();
    expect(metricLines()).toMatchObject([{ lane: 'bulk', WorkerErrors: 1, WorkerDependencyFailures: 1 }]);
    expect(logLines().map(({ lane }) => lane)).toEqual(['bulk', 'bulk']);
  });

  it('count a submission once, also when its message was left to the reconciler', () => {
    const event = { name: 'submission_accepted', level: 'warn', outcome: 'left_to_reconciler' } as const;
    expect(pointsOf(event)).toEqual([]);
  });

  it('take a gauge as it was measured', () => {
    const base = { name: 'gauge', level: 'debug' } as const;
    expect(pointsOf({ ...base, outcome: 'oldest_unfinished', lane: 'small', ageMs: 9_000 })).toEqual([
      { name: 'OldestUnfinishedAge', unit: 'Milliseconds', value: 9_000, dimensions: { lane: 'small' } },
    ]);
    expect(pointsOf({ ...base, outcome: 'stalled_fan_outs', count: 0 })).toEqual([
      { name: 'StalledFanOuts', unit: 'Count', value: 0, dimensions: {} },
    ]);
  });

  it('have a metric for every figure that the reconciler takes', async () => {
    const rig = createReconcileRig();
    await rig.run();
    const gauges = rig.world.telemetry.events.filter(({ name }) => name === 'gauge');
    expect(gauges).not.toEqual([]);
    expect(gauges.filter((event) => pointsOf(event).length !== 1)).toEqual([]);
  });
});
