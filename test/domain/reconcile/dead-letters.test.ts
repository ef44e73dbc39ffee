import { describe, expect, it } from '@jest/globals';
import { encodeBody } from '../../../lambdas/domain/queues/messages.ts';
import { makeRecordMessage } from '../../support/factories.ts';
import { MINUTE_MS } from '../../support/reconcile-rig.ts';
import { createRedriveRig, type RedriveRig } from '../../support/redrive-rig.ts';

const ages = (rig: RedriveRig, outcome = 'dead_letters_age', lane?: string): (number | undefined)[] =>
  rig.world.telemetry.events
    .filter((event) => event.name === 'gauge' && event.outcome === outcome && event.lane === lane)
    .map(({ ageMs }) => ageMs);
const put = async (rig: RedriveRig, queue: 'small' | 'finalize', body = 'nonsense'): Promise<void> => {
  await rig.world.queues.deadLetters[queue].send([{ body, group: 'acme' }]);
};

describe('the age of dead letters', () => {
  it('is the time since their queue was last empty, however often they are received', async () => {
    const rig = createRedriveRig();
    await put(rig, 'small');
    await put(rig, 'finalize');
    for (let minute = 0; minute < 5; minute++) {
      await rig.minutes(1);
      for (const queue of ['small', 'finalize'] as const) {
        const { deadLetters } = rig.world.queues;
        await deadLetters[queue].release(await deadLetters[queue].receive(10, MINUTE_MS));
      }
    }
    const expected = [0, 1, 2, 3, 4].map((minutes) => minutes * MINUTE_MS);
    expect(ages(rig, 'dead_letters_age', 'small')).toEqual(expected);
    expect(ages(rig, 'dead_letters_age_finalize')).toEqual(expected);
    expect(ages(rig, 'dead_letters_age', 'bulk')).toEqual([0, 0, 0, 0, 0]);
    expect(ages(rig, 'dead_letters_age_fanOut')).toEqual([0, 0, 0, 0, 0]);
  });

  it('begins anew once the queue was empty for five minutes, and not at the first count of zero', async () => {
    const rig = createRedriveRig();
    await put(rig, 'small');
    await rig.minutes(2);
    rig.world.queues.deadLetters.small.purge();
    await rig.minutes(1);
    await put(rig, 'small');
    await rig.minutes(1);
    expect(ages(rig, 'dead_letters_age', 'small').at(-1)).toBe(3 * MINUTE_MS);
    rig.world.queues.deadLetters.small.purge();
    await rig.minutes(6);
    await put(rig, 'small');
    await rig.minutes(2);
    expect(ages(rig, 'dead_letters_age', 'small').at(-1)).toBe(MINUTE_MS);
  });
});

describe('the automatic redrive', () => {
  it('receives dead letters that it cannot replay once after an outage, and again when others come', async () => {
    const rig = createRedriveRig();
    rig.reconciler.deps.automaticRedrive = rig.deps;
    await rig.seed(1);
    await rig.finish([{ recordNo: 1, state: 'dead_lettered', reason: 'attempts_exhausted' }]);
    await put(rig, 'small');
    await rig.world.providers.block('company', rig.clock.now() + 2 * MINUTE_MS);
    await rig.minutes(15);
    const received = (): number[] =>
      rig.world.queues.deadLetters.small.messages().map(({ receiveCount }) => receiveCount);
    expect(received()).toEqual([1]);

    await put(rig, 'small', encodeBody(makeRecordMessage()));
    await rig.minutes(2);

    expect(rig.messages()).toMatchObject([{ recordNo: 1 }]);
    await rig.minutes(10);
    expect(received()).toEqual([2]);
  });
});
