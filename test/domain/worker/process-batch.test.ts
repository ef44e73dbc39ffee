import { describe, expect, it, jest } from '@jest/globals';
import { DependencyMisconfiguredError, DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { LONGEST_WRITE_MS, SETTLE_RESERVE_MS } from '../../../lambdas/domain/limits.ts';
import { parseRecordMessage } from '../../../lambdas/domain/queues/messages.ts';
import { createWorkerRig, VISIBILITY_MS } from '../../support/worker-rig.ts';
import {
  makeDelivery,
  makeFields,
  makeProcessing,
  makeRecordMessage,
  makeRow,
  SUBMISSION_ID,
  TERMS,
} from '../../support/factories.ts';
import { processBatch } from '../../../lambdas/domain/worker/process-batch.ts';
import { respond } from '../../support/fake-provider.ts';
import { seededRandom, START_MS, type PortHook } from '../../support/memory/index.ts';

// Hours of virtual time take seconds of a busy machine.
jest.setTimeout(60_000);

const OUTAGE = respond(503);
const isCanary = (url: string): boolean => /canary|00000/.test(url);

describe('a batch of good records', () => {
  it('succeeds with both answers, is counted, and finishes its submission', async () => {
    const rig = createWorkerRig();
    await rig.submit(10);
    expect(await rig.step()).toMatchObject({ failed: [], received: 10 });
    expect(rig.rows()).toHaveLength(10);
    expect(rig.row(1)).toMatchObject({
      state: 'succeeded',
      attempts: 1,
      recordId: 'cust-0001',
      answers: {
        company: { kind: 'found', data: { name: 'Acme' } },
        geo: { kind: 'found', data: { place: 'Berlin' } },
      },
      firstEnqueuedAtMs: START_MS,
    });
    expect(rig.ledger().succeeded).toHaveLength(10);
    expect(rig.submission()?.state).toBe('finalizing');
    expect(rig.lane.messages()).toEqual([]);
  });

  it('costs one call per record and provider, one read of the rows, one of the head, one row each and one ledger update', async () => {
    const calls: string[] = [];
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        calls.push(`${port}.${method}`);
        return apply();
      },
    });
    await rig.submit(9);
    calls.length = 0;
    await rig.step();
    const counted = Object.entries(Object.groupBy(calls, (call) => call)).map(([name, all = []]) => [name, all.length]);
    expect(Object.fromEntries(counted)).toMatchObject({
      'records.getMany': 1,
      'submissions.get': 1,
      'providers.reserve': 2,
      'records.put': 9,
      'ledger.mark': 1,
    });
    expect(rig.company.calls).toHaveLength(9);
    expect(rig.geo.calls).toHaveLength(9);
  });

  it('asks both providers at the same time', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.step();
    expect(rig.company.calls[0]?.atMs).toBe(rig.geo.calls[0]?.atMs);
  });

  it('writes a row before its ledger, and the ledger before it acknowledges', async () => {
    const order: string[] = [];
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        order.push(`${port}.${method}`);
        return apply();
      },
    });
    await rig.submit(3);
    await rig.step();
    expect(order.lastIndexOf('records.put')).toBeLessThan(order.indexOf('ledger.mark'));
    expect(order.indexOf('ledger.mark')).toBeLessThan(order.indexOf('queues.small.acknowledge'));
  });
});

describe('a submission that was accepted under another list of providers', () => {
  const accepted = (...providers: string[]) => ({ terms: { ...TERMS, providers } });

  it('is not asked at a provider that was added since', async () => {
    const rig = createWorkerRig();
    await rig.submit(3, undefined, accepted('company'));
    await rig.step();
    expect(rig.geo.calls).toEqual([]);
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', answers: { company: { kind: 'found' } } });
    expect(Object.keys(rig.row(1)?.answers ?? {})).toEqual(['company']);
  });

  it('waits for one that was removed, without an attempt or a call, and succeeds when it is back', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, undefined, accepted('company', 'geo'));
    const [company] = rig.deps.apis;
    const others = { ...rig.deps, apis: company === undefined ? [] : [company] };
    const deliveries = await rig.lane.receive(10, 60_000);
    await rig.clock.run(processBatch(others, deliveries, { remainingMs: () => 120_000 }));
    await rig.lane.acknowledge(deliveries);
    expect(rig.row(1)).toMatchObject({ state: 'deferred', reason: 'provider_removed', waitingOn: 'geo', attempts: 0 });
    expect(rig.company.calls).toEqual([]);
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 1 });
  });

  it('does not wait for one that was removed after it had answered', async () => {
    const rig = createWorkerRig();
    const answers = { fax: { kind: 'not_found' as const } };
    await rig.submit(1, () => ({ answers }), accepted('company', 'fax'));
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', answers: { ...answers, company: { kind: 'found' } } });
  });
});

describe('a record that cannot be worked', () => {
  it.each([
    ['fails validation', { ...makeFields(), domain: 'nobody' }, 'invalid_record', /^Field "domain"/],
    ['has no identifier', { name: 'x' }, 'invalid_record', /record_id/],
  ])('fails at once when it %s, without a call', async (_, fields, reason, detail) => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ content: { kind: 'record', fields } }));
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'failed', reason, detail: expect.stringMatching(detail), attempts: 1 });
    expect(rig.company.calls).toEqual([]);
    expect(rig.ledger().failed).toEqual({ [reason]: [0] });
  });

  it('fails at once when fan-out could not read it', async () => {
    const rig = createWorkerRig();
    const content = {
      kind: 'defect',
      reason: 'malformed_row',
      defect: 'QUOTE',
      detail: 'A quote is not closed.',
    } as const;
    await rig.submit(1, () => ({ content }));
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'failed', reason: 'malformed_row', detail: 'A quote is not closed.' });
  });

  it('fails at once when a provider refuses it, and keeps what the other one said', async () => {
    const rig = createWorkerRig();
    rig.geo.behave(({ url }) => (url.includes('00000') ? undefined : respond(422)));
    await rig.submit(1);
    await rig.step();
    expect(rig.row(1)).toMatchObject({
      state: 'failed',
      reason: 'provider_rejected',
      answers: { company: { kind: 'found' } },
    });
  });

  it('does not hold up its neighbours', async () => {
    const rig = createWorkerRig();
    await rig.submit(10, ({ recordNo }) => (recordNo === 4 ? { content: { kind: 'record', fields: {} } } : {}));
    await rig.step();
    expect(rig.ledger()).toEqual({
      succeeded: [0, 1, 2, 4, 5, 6, 7, 8, 9],
      cancelled: [],
      failed: { invalid_record: [3] },
    });
  });

  it('reserves no slot', async () => {
    const rig = createWorkerRig();
    await rig.submit(10, () => ({ content: { kind: 'record', fields: {} } }));
    await rig.step();
    expect((await rig.world.providers.get('company')).nextAtMs).toBe(0);
  });
});

describe('a record without a lookup key', () => {
  it('is not applicable for that provider, without a call', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ content: { kind: 'record', fields: { ...makeFields(), domain: '' } } }));
    await rig.step();
    expect(rig.row(1)).toMatchObject({
      state: 'succeeded',
      answers: { company: { kind: 'not_applicable' }, geo: { kind: 'found' } },
    });
    expect(rig.company.calls).toEqual([]);
  });

  it('of no provider at all succeeds without any call', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ content: { kind: 'record', fields: { record_id: 'a' } } }));
    await rig.step();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });
    expect([...rig.company.calls, ...rig.geo.calls]).toEqual([]);
  });
});

describe('a transient failure', () => {
  const failOnce = (rig: ReturnType<typeof createWorkerRig>) =>
    rig.geo.behave((_, index) => (index === 0 ? respond(500) : respond(200, {})));

  it('is written to the row, sent again with a backoff as the next attempt, and acknowledged', async () => {
    const rig = createWorkerRig();
    failOnce(rig);
    await rig.submit(1);
    expect(await rig.step()).toMatchObject({ failed: [] });
    expect(rig.row(1)).toMatchObject({
      state: 'retrying',
      reason: 'provider_unavailable',
      attempts: 1,
      waitingOn: 'geo',
    });
    expect(rig.waiting()).toEqual([
      { message: expect.objectContaining({ attempt: 2, recordNo: 1 }), delayMs: expect.any(Number), group: 'acme' },
    ]);
    expect(rig.waiting()[0]?.delayMs).toBeLessThanOrEqual(2_000);
    expect(rig.ledger().failed).toEqual({});
  });

  it('never buys again what the other provider already answered', async () => {
    const rig = createWorkerRig();
    failOnce(rig);
    await rig.submit(1);
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 2 });
    expect(rig.company.calls).toHaveLength(1);
    expect(rig.geo.calls).toHaveLength(2);
  });

  it('the fifth time ends in the dead-letter queue, after row and ledger, with everything as attributes', async () => {
    const order: string[] = [];
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        order.push(`${port}.${method}`);
        return apply();
      },
    });
    rig.geo.behave(({ url }) => (isCanary(url) ? undefined : respond(500)));
    await rig.submit(1);
    await rig.drain();
    expect(rig.row(1)).toMatchObject({
      state: 'dead_lettered',
      reason: 'attempts_exhausted',
      attempts: 5,
      detail: 'The last of 5 attempts ended with provider_unavailable: Provider geo answered with status 500.',
    });
    expect(rig.ledger().failed).toEqual({ attempts_exhausted: [0] });
    const [letter] = rig.deadLetters.messages();
    expect(letter?.attributes).toEqual({
      reason: 'attempts_exhausted',
      submissionId: SUBMISSION_ID,
      recordNo: '1',
      attempts: '5',
      generation: '0',
      redrives: '0',
    });
    expect(rig.geo.calls.filter(({ url }) => !isCanary(url))).toHaveLength(5);
    expect(rig.company.calls).toHaveLength(1);
    expect(order.lastIndexOf('ledger.mark')).toBeLessThan(order.indexOf('deadLetters.small.send'));
    expect(rig.submission()?.state).toBe('finalizing');
  });

  it('of our own code costs the one record an attempt, and its neighbours nothing', async () => {
    const rig = createWorkerRig();
    rig.company.behave(({ url }) => {
      if (url.includes('customer0002')) throw new TypeError('A defect.');
      return undefined;
    });
    await rig.submit(3);
    await rig.step();
    expect(rig.rows().map(({ state }) => state)).toEqual(['succeeded', 'retrying', 'succeeded']);
    expect(rig.row(2)).toMatchObject({ reason: 'internal_error', attempts: 1 });
    expect(rig.telemetry.named('unexpected_error')).toHaveLength(1);
  });
});

describe('a deferral', () => {
  it('for a short wait writes no row, costs no attempt, and carries what was paid for', async () => {
    const rig = createWorkerRig();
    rig.geo.behave(() => respond(429, {}, { 'retry-after': '20' }));
    await rig.submit(3);
    await rig.step();
    expect(rig.rows()).toEqual([]);
    for (const { message, delayMs } of rig.waiting()) {
      expect(message).toMatchObject({ attempt: 1, answers: { company: { kind: 'found' } } });
      expect(delayMs).toBeGreaterThanOrEqual(19_000);
    }
    rig.geo.behave(() => respond(200, {}));
    await rig.drain();
    expect(rig.ledger().succeeded).toEqual([0, 1, 2]);
    expect(rig.company.calls).toHaveLength(3);
    expect(rig.row(1)).toMatchObject({ attempts: 1 });
  });

  it('for a long wait says on the row what it waits for and until when', async () => {
    const rig = createWorkerRig();
    rig.geo.behave(() => respond(429, {}, { 'retry-after': '600' }));
    await rig.submit(1);
    await rig.step();
    const row = rig.row(1);
    expect(row).toMatchObject({
      state: 'deferred',
      reason: 'provider_throttled',
      waitingOn: 'geo',
      attempts: 0,
      answers: { company: { kind: 'found' } },
    });
    expect((row?.waitingUntilMs ?? 0) - rig.clock.now()).toBeGreaterThan(590_000);
  });

  it('beyond the longest delay of the queue goes in hops', async () => {
    const rig = createWorkerRig();
    const untilMs = rig.clock.now() + 2_000_000;
    await rig.submit(1, () => ({ notBeforeMs: untilMs }));
    await rig.step();
    expect(rig.waiting()).toMatchObject([
      { delayMs: 900_000, message: { notBeforeMs: expect.any(Number), attempt: 1 } },
    ]);
    expect(rig.waiting()[0]?.message.notBeforeMs).toBeGreaterThanOrEqual(untilMs);
    expect(rig.company.calls).toEqual([]);
    await rig.drain();
    expect(rig.clock.now()).toBeGreaterThanOrEqual(untilMs - 1_000);
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });
  });

  it('announced on a row beyond the longest delay of the queue is waited out in hops, too', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    const untilMs = rig.clock.now() + 2_000_000;
    const row = {
      state: 'retrying',
      reason: 'provider_timeout',
      attempts: 1,
      answers: {},
      waitingUntilMs: untilMs,
    } as const;
    await rig.world.records.put(makeRow(row));
    const [delivery] = await rig.lane.receive(1, 1_000);
    if (delivery === undefined) throw new Error('Nothing was received.');
    await rig.invoke([{ ...delivery, receiveCount: 2 }]);
    expect(rig.waiting()).toMatchObject([{ delayMs: 900_000, message: { notBeforeMs: untilMs, attempt: 2 } }]);
  });

  it('spreads its records, so that they do not come back at once', async () => {
    const rig = createWorkerRig();
    rig.geo.behave(() => respond(429, {}, { 'retry-after': '30' }));
    await rig.submit(10);
    await rig.step();
    const delays = rig.waiting().map(({ delayMs }) => delayMs);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(2_000);
  });

  it('hands back what there is no time for, at no attempt', async () => {
    const rig = createWorkerRig();
    await rig.submit(10);
    expect(await rig.step({ remainingMs: 6_000 })).toMatchObject({ failed: [] });
    expect(rig.company.calls).toEqual([]);
    expect(rig.waiting().map(({ message }) => message.attempt)).toEqual(Array.from({ length: 10 }, () => 1));
    await rig.drain();
    expect(rig.ledger().succeeded).toHaveLength(10);
  });

  it('of an outage of one provider still buys from the other one, once', async () => {
    const rig = createWorkerRig();
    rig.geo.behave(() => OUTAGE);
    await rig.submit(20);
    await rig.step();
    await rig.step();
    expect(rig.company.calls).toHaveLength(20);
    rig.geo.behave(() => respond(200, {}));
    await rig.drain();
    expect(rig.company.calls).toHaveLength(20);
    expect(rig.ledger().succeeded).toHaveLength(20);
    expect(rig.rows().map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 1));
  });
});

describe('an outage longer than five attempts could span', () => {
  it('costs no good record its attempts, and few calls', async () => {
    const rig = createWorkerRig();
    const endMs = START_MS + 1_800_000;
    rig.geo.behave(({ atMs }) => (atMs < endMs ? OUTAGE : respond(200, {})));
    await rig.submit(50);
    await rig.drain();
    expect(rig.ledger().succeeded).toHaveLength(50);
    expect(rig.deadLetters.messages()).toEqual([]);
    expect(rig.company.calls).toHaveLength(50);
    const extra = rig.geo.calls.filter(({ url }) => !isCanary(url)).length - 50;
    expect(extra).toBeLessThanOrEqual(10);
    expect(rig.geo.calls.length - 50).toBeLessThan(60);
  });

  it('does not dead-letter a lone record', async () => {
    const rig = createWorkerRig();
    const endMs = START_MS + 3_600_000;
    rig.geo.behave(({ atMs }) => (atMs < endMs ? OUTAGE : respond(200, {})));
    await rig.submit(1);
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });
  });

  it('does not dead-letter a record that had bad luck before', async () => {
    const rig = createWorkerRig();
    const endMs = START_MS + 3_600_000;
    rig.geo.behave(({ atMs }) => (atMs < endMs ? OUTAGE : respond(200, {})));
    await rig.submit(1, () => ({ attempt: 5 }));
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 5 });
  });

  it('does not keep a record alive that the provider always fails on: it is dead-lettered, alone', async () => {
    const rig = createWorkerRig();
    rig.geo.behave(({ url }) => (url.includes('99999') ? respond(500) : undefined));
    await rig.submit(30, ({ recordNo }) =>
      recordNo % 10 === 0
        ? { content: { kind: 'record', fields: { ...makeFields(recordNo), postal_code: '99999' } } }
        : {},
    );
    await rig.drain();
    expect(rig.ledger()).toMatchObject({ failed: { attempts_exhausted: [9, 19, 29] } });
    expect(rig.ledger().succeeded).toHaveLength(27);
  });
});

describe('AWS that throttles or fails', () => {
  const during = (isThrottled: (port: string, method: string) => boolean) => {
    const state = { isOn: true };
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        if (state.isOn && isThrottled(port, method)) throw new DependencyUnavailableError('Throttled.');
        return apply();
      },
    });
    return { rig, state };
  };

  it.each([
    ['reading rows', (port: string, method: string) => port === 'records' && method === 'getMany', 0],
    ['reading the head', (port: string, method: string) => port === 'submissions' && method === 'get', 0],
    ['writing rows', (port: string, method: string) => port === 'records' && method === 'put', 3],
    ['writing the ledger', (_: string, method: string) => method === 'mark', 3],
    ['closing the chunk', (_: string, method: string) => method === 'closeChunks', 3],
    [
      'sending the finalize message',
      (port: string, method: string) => port === 'queues.finalize' && method === 'send',
      3,
    ],
  ])('while %s defers the records at no attempt, and nothing is bought twice', async (_, isThrottled, calls) => {
    const { rig, state } = during(isThrottled);
    await rig.submit(3);
    state.isOn = true;
    expect(await rig.step()).toMatchObject({ failed: [] });
    expect(rig.company.calls).toHaveLength(calls);
    expect(rig.waiting().map(({ message }) => message.attempt)).toEqual([1, 1, 1]);
    state.isOn = false;
    await rig.drain();
    expect(rig.ledger().succeeded).toEqual([0, 1, 2]);
    expect(rig.company.calls).toHaveLength(3);
    expect(rig.geo.calls).toHaveLength(3);
    expect(rig.row(1)?.attempts).toBe(1);
  });

  it('with the lane as well leaves the messages to SQS, and only those', async () => {
    let isRefusing = false;
    const rig = createWorkerRig({
      hook: async ({ port, method, args }, apply) => {
        if (isRefusing && port === 'queues.small' && method === 'send')
          return [{ index: 0, senderFault: false, code: 'Throttled' }];
        return apply(args);
      },
    });
    rig.geo.behave(() => respond(500));
    await rig.submit(1);
    isRefusing = true;
    const { failed } = await rig.step();
    expect(failed).toHaveLength(1);
    expect(rig.row(1)).toMatchObject({ state: 'retrying', attempts: 1 });
    isRefusing = false;
    rig.geo.behave(() => respond(200, {}));
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 2 });
    expect(rig.company.calls).toHaveLength(1);
  });

  it('while a dead letter is sent does not lose it: the next delivery sends it', async () => {
    let isRefusing = true;
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        if (isRefusing && port === 'deadLetters.small' && method === 'send')
          return [{ index: 0, senderFault: false, code: 'Throttled' }];
        return apply();
      },
    });
    rig.geo.behave(({ url }) => (isCanary(url) ? undefined : respond(500)));
    await rig.submit(1, () => ({ attempt: 5 }));
    expect((await rig.step()).failed).toHaveLength(1);
    expect(rig.row(1)).toMatchObject({ state: 'dead_lettered' });
    isRefusing = false;
    await rig.drain();
    expect(rig.deadLetters.messages()).toHaveLength(1);
    expect(rig.geo.calls.filter(({ url }) => !isCanary(url))).toHaveLength(1);
  });

  it('with 40 % of the calls for a minute, also after they were applied, fails no record and costs no attempt', async () => {
    const random = seededRandom(40);
    const throttle = { untilMs: 0, nowMs: () => 0 };
    const hook: PortHook = async ({ port, method, args }, apply) => {
      const isWorkers = port !== 'queues.small' || method === 'send';
      if (!isWorkers || throttle.nowMs() >= throttle.untilMs || random() >= 0.4) return apply();
      if (method !== 'send') {
        if (random() < 0.5) await apply();
        throw new DependencyUnavailableError('Throttled.');
      }
      const messages: unknown[] = Array.isArray(args[0]) ? args[0] : [];
      const refused = messages.flatMap((_, index) =>
        random() < 0.5 ? [{ index, senderFault: false, code: 'Throttled' }] : [],
      );
      await apply([messages.filter((_, index) => !refused.some((failure) => failure.index === index))]);
      return refused;
    };
    const rig = createWorkerRig({ hook });
    await rig.submit(200);
    throttle.nowMs = () => rig.clock.now();
    throttle.untilMs = rig.clock.now() + 60_000;
    await rig.drain();
    expect(rig.ledger()).toEqual({ succeeded: Array.from({ length: 200 }, (_, i) => i), cancelled: [], failed: {} });
    expect(new Set(rig.rows().map(({ attempts }) => attempts))).toEqual(new Set([1]));
    expect(rig.deadLetters.messages()).toEqual([]);
    expect(rig.submission()?.state).toBe('finalizing');
  });
});

describe('our own platform that fails', () => {
  it.each([
    ['the row cannot be read', 'records.getMany'],
    ['the row cannot be written', 'records.put'],
    ['no slot can be reserved', 'providers.reserve'],
  ])('is asked ever more seldom while %s, and at most every few minutes', async (_how, refused) => {
    const broken = { since: 0 };
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        if (broken.since > 0 && `${port}.${method}` === refused)
          throw new DependencyMisconfiguredError('Denied.', {
            action: 'dynamodb:PutItem',
            resource: 'records',
          });
        return apply();
      },
    });
    await rig.submit(1);
    broken.since = rig.clock.now();
    const visits: number[] = [];
    while (rig.clock.now() - broken.since < 3_600_000) {
      const nextMs = rig.lane.nextVisibleAtMs() ?? 0;
      await rig.clock.run(rig.clock.sleep(Math.max(0, nextMs - rig.clock.now())));
      visits.push(rig.clock.now());
      await rig.step();
    }
    expect(visits.length).toBeLessThan(60);
    const gaps = visits.slice(1).map((at, index) => at - (visits[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(160_000);

    broken.since = 0;
    await rig.drain();
    expect(rig.telemetry.named('isolated_run_started')).toEqual([]);
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 1 });
  });

  it('is forgotten by a message that goes on for another reason', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ platformRetries: 9 }));
    rig.geo.behave((_, index) => (index === 0 ? OUTAGE : undefined));
    await rig.step();
    const bodies = rig.lane.messages().map(({ body }) => body);
    expect(bodies).toEqual([expect.not.stringContaining('platformRetries')]);
  });
});

describe('a message that cannot be read', () => {
  it.each([
    ['is not JSON', 'hello'],
    ['is of a version that never was', JSON.stringify({ ...makeRecordMessage(), v: 0 })],
    ['lacks a field', JSON.stringify({ v: 1 })],
  ])('because it %s is dead-lettered with a reason, the rest of its batch unharmed', async (_, body) => {
    const rig = createWorkerRig();
    await rig.submit(2);
    await rig.lane.send([{ body, group: 'acme', attributes: { redrives: '2' } }]);
    expect(await rig.step()).toMatchObject({ received: 3, failed: [] });
    expect(rig.ledger().succeeded).toEqual([0, 1]);
    expect(rig.deadLetters.messages()).toMatchObject([
      { body, attributes: { reason: 'unreadable_message', redrives: '2' } },
    ]);
    expect(rig.telemetry.named('message_dead_lettered')).toHaveLength(1);
    expect(rig.lane.messages()).toEqual([]);
  });

  it('and cannot be dead-lettered either is delivered again', async () => {
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) =>
        port === 'deadLetters.small' && method === 'send'
          ? [{ index: 0, senderFault: false, code: 'Throttled' }]
          : apply(),
    });
    expect(await rig.invoke([makeDelivery('hello', { messageId: 'm-1' })])).toMatchObject({ failed: ['m-1'] });
  });
});

describe('duplicates', () => {
  it('of a finished record are acknowledged unworked, and counted once', async () => {
    const rig = createWorkerRig();
    await rig.submit(2);
    rig.lane.duplicate(rig.lane.messages()[0]?.messageId ?? '');
    await rig.step({ max: 2 });
    await rig.step();
    expect(rig.company.calls).toHaveLength(2);
    expect(rig.ledger().succeeded).toEqual([0, 1]);
    expect(rig.telemetry.named('record_discarded')).toMatchObject([{ outcome: 'settled' }]);
  });

  it('in one batch are worked once, and all acknowledged', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    rig.lane.duplicate(rig.lane.messages()[0]?.messageId ?? '');
    expect(await rig.step()).toMatchObject({ received: 2, failed: [] });
    expect(rig.company.calls).toHaveLength(1);
    expect(rig.lane.messages()).toEqual([]);
  });

  it('worked at the same moment end in one outcome and one count', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    const [delivery] = await rig.lane.receive(1, 1_000);
    if (delivery === undefined) throw new Error('Nothing was received.');
    const copy = { ...delivery, messageId: 'copy', receipt: 'copy' };
    await rig.clock.run(Promise.all([rig.start([delivery]), rig.start([copy])]));
    expect(rig.rows()).toHaveLength(1);
    expect(rig.ledger().succeeded).toEqual([0]);
    expect(rig.world.queues.live.finalize.messages()).toHaveLength(1);
  });

  it('of an older generation die out unworked', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.world.records.put(makeRow({ state: 'deferred', reason: 'redriven', generation: 1, attempts: 0 }));
    await rig.step();
    expect(rig.company.calls).toEqual([]);
    expect(rig.lane.messages()).toEqual([]);
    expect(rig.telemetry.named('record_discarded')).toMatchObject([{ outcome: 'stale' }]);
  });

  const failedTwice = (waitingUntilMs: number) =>
    makeRow({
      state: 'retrying',
      reason: 'provider_timeout',
      attempts: 2,
      answers: { company: { kind: 'not_found' } },
      waitingUntilMs,
    });

  it('of a record that waits die out: the row knows of a later wait than they do', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.world.records.put(failedTwice(rig.clock.now() + 20_000));
    expect(await rig.step()).toMatchObject({ received: 1, failed: [] });
    expect(rig.lane.messages()).toEqual([]);
    expect(rig.company.calls).toEqual([]);
    expect(rig.telemetry.named('record_discarded')).toMatchObject([{ outcome: 'superseded' }]);
  });

  it('that were received before go on: their worker may have ended before it sent the next one', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.lane.receive(1, 1_000);
    await rig.clock.run(rig.clock.sleep(2_000));
    const untilMs = rig.clock.now() + 20_000;
    await rig.world.records.put(failedTwice(untilMs));
    await rig.step();
    expect(rig.geo.calls).toEqual([]);
    expect(rig.waiting()).toMatchObject([{ delayMs: 20_000, message: { attempt: 3, notBeforeMs: untilMs } }]);
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 3, answers: { company: { kind: 'not_found' } } });
    expect(rig.company.calls).toEqual([]);
  });

  it('joined with the one that was received before do not take it with them', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.world.records.put(failedTwice(rig.clock.now() + 20_000));
    const message = makeRecordMessage();
    await rig.invoke([
      makeDelivery(message, { messageId: 'crashed', receiveCount: 2 }),
      makeDelivery({ ...message, attempt: 2, notBeforeMs: 1 }, { messageId: 'copy' }),
    ]);
    expect(rig.waiting().filter(({ message: { attempt } }) => attempt === 3)).toHaveLength(1);
  });

  it('left by a long outage do not multiply', async () => {
    const rig = createWorkerRig();
    const endMs = START_MS + 1_800_000;
    rig.geo.behave(({ atMs }) => (atMs < endMs ? OUTAGE : respond(200, {})));
    await rig.submit(5);
    let received = 0;
    for (let nextMs = rig.lane.nextVisibleAtMs(); nextMs !== undefined; nextMs = rig.lane.nextVisibleAtMs()) {
      await rig.clock.run(rig.clock.sleep(nextMs - rig.clock.now()));
      // Every fifth delivery leaves a copy behind.
      const [first] = rig.lane.messages();
      if (received % 5 === 0 && first !== undefined) rig.lane.duplicate(first.messageId);
      received += (await rig.step({ max: 3 })).received;
    }
    expect(rig.ledger().succeeded).toHaveLength(5);
    // Five records that look in every one or two minutes for half an hour, and a fifth more.
    expect(received).toBeLessThan(5 * 30 * 1.5);
  });

  it.each(['getMany', 'get'])(
    'are not confused with the message of a worker that ended, sent again while %s failed',
    async (failing) => {
      let isThrottled = false;
      const rig = createWorkerRig({
        hook: async ({ method }, apply) => {
          if (isThrottled && method === failing) throw new DependencyUnavailableError('Throttled.');
          return apply();
        },
      });
      await rig.submit(1);
      await rig.lane.receive(1, 1_000);
      await rig.clock.run(rig.clock.sleep(2_000));
      // The row is written, the next message was not sent any more.
      await rig.world.records.put(failedTwice(rig.clock.now() + 60_000));
      isThrottled = true;
      await rig.step();
      isThrottled = false;
      await rig.drain();
      expect(rig.row(1)).toMatchObject({ state: 'succeeded', attempts: 3 });
    },
  );

  it('that cannot be told from one that was sent again for a dead worker are joined with it, and it goes on', async () => {
    const rig = createWorkerRig();
    await rig.world.submissions.create(makeProcessing(1));
    await rig.world.records.put(failedTwice(rig.clock.now() + 20_000));
    const message = makeRecordMessage();
    await rig.invoke([
      makeDelivery({ ...message, redelivered: true }, { messageId: 'redelivered' }),
      makeDelivery({ ...message, notBeforeMs: 1 }, { messageId: 'copy' }),
    ]);
    expect(rig.waiting()).toHaveLength(1);
    expect(rig.waiting()[0]?.message).not.toHaveProperty('redelivered');
  });

  it('are told apart also where the row was written and its writer did not hear of it', async () => {
    let isLost = true;
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) => {
        const result = await apply();
        if (port === 'records' && method === 'put' && isLost) throw new DependencyUnavailableError('No answer.');
        return result;
      },
    });
    rig.geo.behave((_, index) => (index === 0 ? respond(500, {}, { 'retry-after': '40' }) : respond(200, {})));
    await rig.submit(1);
    await rig.step();
    isLost = false;
    expect(rig.row(1)).toMatchObject({ state: 'retrying' });
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded' });
    expect(rig.company.calls).toHaveLength(1);
  });

  it('of a record that crashed between row and ledger complete the ledger', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.world.records.put(makeRow());
    expect(rig.ledger().succeeded).toEqual([]);
    await rig.step();
    expect(rig.ledger().succeeded).toEqual([0]);
    expect(rig.submission()?.state).toBe('finalizing');
    expect(rig.company.calls).toEqual([]);
  });
});

describe('a replayed record', () => {
  it('reuses the answers of the generation before', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ generation: 1, redrives: 1 }));
    await rig.world.submissions.reopen(SUBMISSION_ID, {
      chunks: [],
      generation: 1,
      nowMs: START_MS,
      deadlineAtMs: START_MS + 1e9,
    });
    await rig.world.records.put(
      makeRow({
        state: 'dead_lettered',
        reason: 'attempts_exhausted',
        attempts: 5,
        answers: { company: { kind: 'not_found' } },
      }),
    );
    await rig.step();
    expect(rig.row(1)).toMatchObject({
      state: 'succeeded',
      generation: 1,
      redrives: 1,
      attempts: 1,
      answers: { company: { kind: 'not_found' } },
    });
    expect(rig.company.calls).toEqual([]);
  });
});

describe('a stop order', () => {
  it.each(['cancelled', 'expired'] as const)('(%s) discards messages without a call or a write', async (kind) => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.world.submissions.requestStop(SUBMISSION_ID, { kind, atMs: START_MS });
    await rig.step();
    expect(rig.rows()).toEqual([]);
    expect(rig.ledger()).toMatchObject({ cancelled: [], failed: {} });
    expect(rig.company.calls).toEqual([]);
    expect(rig.telemetry.named('record_discarded')).toMatchObject([{ outcome: 'stopped' }]);
  });

  it('is followed by no more than the batch that each worker is processing', async () => {
    const rig = createWorkerRig();
    await rig.submit(100);
    await rig.step();
    const running = await Promise.all(Array.from({ length: 3 }, async () => rig.lane.receive(10, VISIBILITY_MS)));
    const works = running.map(async (deliveries) => rig.start(deliveries));
    await rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });
    const done = await rig.clock.run(Promise.all(works));
    expect(done).toEqual([[], [], []]);
    await Promise.all(running.map(async (deliveries) => rig.lane.acknowledge(deliveries)));
    const { length } = rig.company.calls;
    expect(length).toBeLessThanOrEqual(10 + 3 * 10);
    await rig.drain();
    expect(rig.company.calls).toHaveLength(length);
    expect(rig.rows()).toHaveLength(rig.ledger().succeeded.length);
  });

  it.each([
    ['keeps', 9_000, ['succeeded']],
    ['drops', 1_000, []],
  ] as const)('%s the outcome of a record under way, by when it came', async (_does, afterMs, states) => {
    const rig = createWorkerRig();
    rig.company.latencyMs = 14_000;
    await rig.submit(1);
    const stopping = rig.clock
      .sleep(afterMs)
      .then(async () => rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: rig.clock.now() }));
    await rig.step();
    await stopping;
    expect(rig.rows().map(({ state }) => state)).toEqual(states);
  });

  it('does not reach the replay that lifted it', async () => {
    const rig = createWorkerRig();
    await rig.submit(1);
    await rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'expired', atMs: START_MS });
    await rig.step();
    await rig.world.submissions.closeChunks(SUBMISSION_ID, [0], START_MS);
    await rig.world.submissions.beginFinalizing(SUBMISSION_ID, 1, START_MS);
    await rig.world.submissions.claimFinalize({
      submissionId: SUBMISSION_ID,
      owner: 'finalizer',
      nowMs: START_MS,
      leaseMs: 60_000,
    });
    const counts = { total: 1, pending: 0, succeeded: 0, failed: 1, cancelled: 0 };
    const end = { state: 'expired', resultsVersion: 1, counts, nowMs: START_MS } as const;
    await rig.world.submissions.finish(SUBMISSION_ID, 'finalizer', end);
    await rig.world.submissions.reopen(SUBMISSION_ID, {
      chunks: [0],
      generation: 1,
      nowMs: START_MS,
      deadlineAtMs: START_MS + 1e9,
    });
    const replay = makeRecordMessage({ generation: 1, redrives: 1 });
    await rig.invoke([makeDelivery(replay)]);
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', generation: 1 });
  });

  it('stops a record during a long wait', async () => {
    const rig = createWorkerRig();
    await rig.submit(1, () => ({ notBeforeMs: START_MS + 3_600_000 }));
    await rig.world.submissions.requestStop(SUBMISSION_ID, { kind: 'cancelled', atMs: START_MS });
    await rig.step();
    expect(rig.telemetry.named('record_discarded')).toMatchObject([{ outcome: 'stopped' }]);
  });
});

describe('a record that a provider is not ready for', () => {
  const untilReady =
    (readyAtMs: number, clock: { now(): number }) =>
    ({ url }: { url: string }) =>
      url.endsWith('/customer0002.example.com') && clock.now() < readyAtMs ? respond(202) : undefined;

  it('waits alone, at no attempt, and the others do not', async () => {
    const rig = createWorkerRig();
    const startMs = rig.clock.now();
    rig.company.behave(untilReady(startMs + 300_000, rig.clock));
    await rig.submit(3, ({ recordNo }) => ({ content: { kind: 'record', fields: makeFields(recordNo) } }));
    await rig.step();
    expect(rig.ledger().succeeded).toEqual([0, 2]);
    await rig.drain();
    expect(rig.row(2)).toMatchObject({ state: 'succeeded', attempts: 1 });
    const calls = rig.company.calls.filter(({ url }) => url.endsWith('/customer0002.example.com'));
    expect(calls.length).toBeLessThan(20);
    expect((calls.at(-1)?.atMs ?? 0) - startMs).toBeLessThan(450_000);
    expect(rig.row(2)?.notReadySinceMs).toBeUndefined();
  });

  it('is dead-lettered after its own time budget, and a replay has the whole budget again', async () => {
    const rig = createWorkerRig();
    const startMs = rig.clock.now();
    rig.company.behave(untilReady(Infinity, rig.clock));
    await rig.submit(2, ({ recordNo }) => ({ content: { kind: 'record', fields: makeFields(recordNo) } }));
    await rig.drain();
    expect(rig.clock.now() - startMs).toBeGreaterThan(3_600_000);
    expect(rig.clock.now() - startMs).toBeLessThan(3_800_000);
    expect(rig.row(2)).toMatchObject({ state: 'dead_lettered', reason: 'provider_not_ready', attempts: 0 });
    expect(rig.ledger().failed).toEqual({ provider_not_ready: [1] });
    const [letter] = rig.deadLetters.messages();
    const message = parseRecordMessage(letter?.body ?? '');
    expect({ recordNo: message.recordNo, since: message.notReadySinceMs }).toEqual({ recordNo: 2, since: undefined });
  });
});

describe('a message of a newer version', () => {
  it('is sent back unchanged for a newer worker, the rest of its batch unharmed', async () => {
    const rig = createWorkerRig();
    await rig.submit(2);
    const body = JSON.stringify({ ...makeRecordMessage(), v: 99, recordNo: 'in another form' });
    await rig.lane.send([{ body, group: 'acme', attributes: { redrives: '2' } }]);
    expect(await rig.step()).toMatchObject({ received: 3, failed: [] });
    expect(rig.ledger().succeeded).toEqual([0, 1]);
    expect(rig.deadLetters.messages()).toEqual([]);
    const [returned] = rig.lane.messages();
    expect(returned).toMatchObject({ body, group: 'acme', attributes: { redrives: '2', handedBack: '1' } });
    expect((returned?.visibleAtMs ?? 0) - rig.clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(rig.telemetry.named('message_handed_back')).toMatchObject([{ level: 'warn', lane: 'small', count: 1 }]);
  });

  it('that cannot be sent back is delivered again', async () => {
    const rig = createWorkerRig({
      hook: async ({ port, method }, apply) =>
        port === 'queues.small' && method === 'send' ? [{ index: 0, senderFault: false, code: 'Throttled' }] : apply(),
    });
    const delivery = makeDelivery({ v: 99 }, { messageId: 'm-1' });
    expect(await rig.invoke([delivery])).toMatchObject({ failed: ['m-1'] });
  });
});

describe('a message that its submission does not know of', () => {
  it('because there is no such submission is dead-lettered and counted as an error', async () => {
    const rig = createWorkerRig();
    const message = makeRecordMessage();
    expect(await rig.invoke([makeDelivery(message)])).toMatchObject({ failed: [] });
    expect(rig.rows()).toEqual([]);
    expect(rig.deadLetters.messages()).toMatchObject([
      { body: JSON.stringify(message), group: 'acme', attributes: { reason: 'submission_missing', recordNo: '1' } },
    ]);
    expect(rig.telemetry.named('message_dead_lettered')).toMatchObject([
      { level: 'error', reason: 'submission_missing', submissionId: SUBMISSION_ID, count: 1 },
    ]);
  });

  it.each([
    ['names another tenant', { tenantId: 'other' }],
    ['is beyond the end of the file', { recordNo: 3 }],
    ['is of a generation that does not exist', { generation: 1 }],
  ])('because it %s costs no call and no outcome', async (_, change) => {
    const rig = createWorkerRig();
    await rig.submit(2);
    await rig.lane.send([{ body: JSON.stringify(makeRecordMessage(change)), group: 'acme' }]);
    await rig.drain();
    expect(rig.company.calls).toHaveLength(2);
    expect(rig.ledger()).toMatchObject({ succeeded: [0, 1], failed: {} });
    expect(rig.rows()).toHaveLength(2);
    expect(rig.deadLetters.messages()).toMatchObject([{ attributes: { reason: 'foreign_message' } }]);
  });

  it('is not told by its number while fan-out runs: one far ahead of the checkpoint waits for the end of the file', async () => {
    const rig = createWorkerRig();
    const fanOut = { done: false, byteOffset: 0, records: 1_000, line: 1_001 };
    await rig.world.submissions.create(makeProcessing(1_000, { fanOut }));
    await rig.invoke([
      makeDelivery(makeRecordMessage({ recordNo: 2_000 }), { messageId: 'near' }),
      makeDelivery(makeRecordMessage({ recordNo: 9_000 }), { messageId: 'far' }),
    ]);
    expect(rig.company.calls).toHaveLength(1);
    expect(rig.waiting()).toMatchObject([{ message: { recordNo: 9_000, attempt: 1 } }]);
    expect(rig.row(2_000)).toMatchObject({ state: 'succeeded' });
  });
});

describe('a table that answers slowly', () => {
  it.each([
    ['records', 'put', 0],
    ['ledger', 'mark', 1],
  ] as const)(
    '(%s.%s) ends no batch half written: what has no time left goes back to the lane',
    async (port, method, marks) => {
      const slow = { clock: undefined as { sleep(ms: number): Promise<void> } | undefined };
      const calls: string[] = [];
      const rig = createWorkerRig({
        hook: async (call, apply) => {
          calls.push(`${call.port}.${call.method}`);
          if (call.port === port && call.method === method) await slow.clock?.sleep(LONGEST_WRITE_MS);
          return apply();
        },
      });
      await rig.submit(10);
      slow.clock = rig.clock;
      // The calls use up their time, so that the reserve is all that is left.
      rig.geo.latencyMs = 2_900;
      const startMs = rig.clock.now();
      const remainingMs = SETTLE_RESERVE_MS + 3_000 + 300;
      expect(await rig.step({ remainingMs })).toMatchObject({ failed: [] });
      expect(rig.clock.now() - startMs).toBeLessThan(remainingMs);
      expect(calls.filter((call) => call === 'ledger.mark')).toHaveLength(marks);
      expect(calls).not.toContain('submissions.closeChunks');
      expect(rig.waiting()).toHaveLength(10);
      slow.clock = undefined;
      await rig.drain();
      expect(rig.ledger().succeeded).toHaveLength(10);
      expect(rig.company.calls).toHaveLength(10);
      expect(new Set(rig.rows().map(({ attempts }) => attempts))).toEqual(new Set([1]));
    },
  );
});

describe('answers that are too large for a message', () => {
  it('go to the row, and are not bought again', async () => {
    const rig = createWorkerRig();
    const data = { text: 'y'.repeat(60_000) };
    rig.company.behave(() => respond(200, data));
    rig.geo.behave((_, index) => (index < 2 ? respond(429, {}, { 'retry-after': '5' }) : respond(200, {})));
    const fields = { ...makeFields(), notes: 'x'.repeat(945_000) };
    await rig.submit(1, () => ({ content: { kind: 'record', fields } }));
    await rig.step();
    expect(rig.waiting()[0]?.message.answers).toBeUndefined();
    expect(rig.row(1)).toMatchObject({ state: 'deferred', answers: { company: { kind: 'found' } } });
    await rig.drain();
    expect(rig.row(1)).toMatchObject({ state: 'succeeded', answers: { company: { kind: 'found', data } } });
    expect(rig.company.calls).toHaveLength(1);
  });
});

it('tells of every failure, and nothing about what a record holds', async () => {
  const rig = createWorkerRig();
  rig.geo.behave(() => respond(500));
  const fields = { ...makeFields(), name: 'planted-marker', domain: 'planted-marker' };
  await rig.submit(3, ({ recordNo }) => (recordNo === 1 ? { content: { kind: 'record', fields } } : {}));
  await rig.step();
  expect(rig.telemetry.named('record_finished')).toMatchObject([
    { level: 'warn', reason: 'invalid_record', recordNo: 1, lane: 'small' },
  ]);
  expect(rig.telemetry.named('record_attempt_failed')).toHaveLength(2);
  expect(JSON.stringify(rig.telemetry.events)).not.toMatch(/planted-marker|customer000/);
});
