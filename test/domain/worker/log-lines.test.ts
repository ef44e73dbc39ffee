import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import type { DomainEvent } from '../../../lambdas/domain/telemetry.ts';
import { SUBMISSION_ID } from '../../support/factories.ts';
import { respond } from '../../support/fake-provider.ts';
import type { PortHook } from '../../support/memory/index.ts';
import { createWorkerRig } from '../../support/worker-rig.ts';

const IDS = ['submissionId', 'tenantId', 'recordNo', 'attempt', 'lane'] as const;
/** What is about a batch, a provider or a submission, and about no record. */
const NOT_ABOUT_RECORDS: readonly DomainEvent['name'][] = [
  'pacer_wait',
  'provider_blocked',
  'credential_refused',
  'breaker_opened',
  'breaker_closed',
  'probe_started',
  'submission_finalizing',
];

const withoutIds = (events: readonly DomainEvent[]): unknown[] =>
  events
    .filter(({ name }) => !NOT_ABOUT_RECORDS.includes(name))
    .filter((event) => IDS.some((id) => event[id] === undefined))
    .map(({ name, level, provider }) => ({ name, level, provider }));

const failOnce = (method: string, error: Error): PortHook => {
  let failed = false;
  return async (call, apply) => {
    if (failed || `${call.port}.${call.method}` !== method) return apply();
    failed = true;
    throw error;
  };
};

describe('every event about a record says which one, of whom, in which lane and attempt', () => {
  it('when all is well', async () => {
    const rig = createWorkerRig();
    await rig.submit(5);
    await rig.drain();
    expect(rig.telemetry.named('record_finished')).toHaveLength(5);
    expect(rig.telemetry.named('provider_call')).toHaveLength(10);
    expect(withoutIds(rig.telemetry.events)).toEqual([]);
  });

  it('when records fail, are tried again and given up', async () => {
    const rig = createWorkerRig();
    rig.company.behave(({ url }) => (/canary/.test(url) ? respond(200, { name: 'Acme' }) : respond(500)));
    await rig.submit(2);
    await rig.drain();
    expect(rig.telemetry.named('record_attempt_failed').length).toBeGreaterThan(0);
    const calls = rig.telemetry.named('provider_call').filter(({ submissionId }) => submissionId === SUBMISSION_ID);
    expect(calls.length).toBeGreaterThan(4);
    const others = rig.telemetry.events.filter(({ name }) => name !== 'provider_call');
    expect(withoutIds(others)).toEqual([]);
  });

  it.each(['records.put', 'ledger.mark', 'providers.reserve'])('when %s does not work', async (method) => {
    const rig = createWorkerRig({ hook: failOnce(method, new DependencyUnavailableError('Throttled.')) });
    await rig.submit(3);
    await rig.drain();
    const errors = rig.telemetry.named('unexpected_error');
    expect(errors.map(({ level }) => level)).toContain('warn');
    const aboutRecords = rig.telemetry.events.filter((event) => event !== errors[0] || method !== 'providers.reserve');
    expect(withoutIds(aboutRecords)).toEqual([]);
  });

  it('when a record kills its worker', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.step({ killedBy: () => true });
    await rig.drain();
    expect(rig.telemetry.named('isolated_run_started')).toHaveLength(1);
    expect(withoutIds(rig.telemetry.events)).toEqual([]);
  });
});
