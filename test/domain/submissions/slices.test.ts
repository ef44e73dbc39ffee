import {
  DependencyMisconfiguredError,
  DependencyUnavailableError,
  InvalidDataError,
  LeaseLostError,
  ShortReadError,
} from '../../../lambdas/domain/errors.ts';
import {
  isPassing,
  newOwner,
  retryDelay,
  sendOne,
  SLICE_DEFAULTS,
  sliceTimer,
} from '../../../lambdas/domain/submissions/slices.ts';
import { createMemoryWorld, createTestClock, seededRandom } from '../../support/memory/index.ts';

const MESSAGE = { submissionId: 'sub_1', tenantId: 'acme' };

describe('the owner of a lease', () => {
  it('has another name in every invocation', () => {
    const random = seededRandom(1);
    const names = Array.from({ length: 100 }, () => newOwner(random));
    expect(new Set(names).size).toBe(100);
    for (const name of names) expect(name).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('the wait before the slice that follows a failure', () => {
  const deps = { random: () => 0.5, settings: SLICE_DEFAULTS };

  it('is short for what passes, and longer for what a person must allow or correct', () => {
    const denied = new DependencyMisconfiguredError('Denied.', { action: 's3:GetObject', resource: 'bucket' });
    expect(retryDelay(new DependencyUnavailableError('Throttled.'), deps)).toBe(SLICE_DEFAULTS.retryDelayMs);
    expect(retryDelay(new ShortReadError('Short.', { cause: denied }), deps)).toBe(
      SLICE_DEFAULTS.misconfiguredDelayMs * 1.25,
    );
  });
});

describe('the timer of a slice', () => {
  it('ends it after its time', async () => {
    const clock = createTestClock();
    const isOver = sliceTimer(clock, { remainingMs: () => 900_000 }, { ...SLICE_DEFAULTS, sliceMs: 60_000 });
    await clock.advance(59_999);
    expect(isOver()).toBe(false);
    await clock.advance(1);
    expect(isOver()).toBe(true);
  });

  it('ends it when the invocation comes to its end', () => {
    let remaining = 20_000;
    const settings = { ...SLICE_DEFAULTS, reserveMs: 20_000 };
    const isOver = sliceTimer(createTestClock(), { remainingMs: () => remaining }, settings);
    expect(isOver()).toBe(false);
    remaining = 19_999;
    expect(isOver()).toBe(true);
  });
});

describe('the message that continues a slice', () => {
  it('carries everything it was given, in the group of its tenant, after a delay that the queue accepts', async () => {
    const clock = createTestClock();
    const { queues } = createMemoryWorld({ clock });
    const results = { v: 1, kind: 'results', ...MESSAGE };
    await sendOne(queues.live.finalize, results, 5_000_000);
    await sendOne(queues.live.finalize, MESSAGE, -1);
    const [late, prompt] = queues.live.finalize.messages();
    expect(JSON.parse(late?.body ?? '')).toEqual(results);
    expect(late).toMatchObject({ group: 'acme', visibleAtMs: clock.now() + 900_000 });
    expect(prompt?.visibleAtMs).toBe(clock.now());
  });

  it('throws a passing error when the queue does not take it', async () => {
    const queue = { send: async () => [{ index: 0, senderFault: false, code: 'Throttled' }] };
    await expect(sendOne(queue, MESSAGE)).rejects.toThrow(DependencyUnavailableError);
  });
});

describe('a failure', () => {
  it('passes when a dependency failed, a body broke off or the lease was lost', () => {
    for (const Passing of [DependencyUnavailableError, ShortReadError, LeaseLostError]) {
      expect(isPassing(new Passing('x'))).toBe(true);
    }
    expect(isPassing(new InvalidDataError('x'))).toBe(false);
    expect(isPassing(new TypeError('x'))).toBe(false);
  });
});
