import { describe, expect, it } from '@jest/globals';
import { handBack } from '../../../lambdas/domain/queues/hand-back.ts';
import { encodeBody } from '../../../lambdas/domain/queues/messages.ts';
import { readBatch } from '../../../lambdas/domain/worker/deliveries.ts';
import { makeDelivery, makeRecordMessage } from '../../support/factories.ts';
import { createMemoryWorld, createTestClock } from '../../support/memory/index.ts';

const MINUTE_MS = 60_000;

describe('a message of a newer version', () => {
  it('waits longer each time, up to a quarter of an hour, and is an error by then', async () => {
    const clock = createTestClock();
    const { queues, telemetry } = createMemoryWorld({ clock });
    const queue = queues.live.finalize;
    const body = JSON.stringify({ v: 2, submissionId: 'sub_1', tenantId: 'acme' });
    const waits: number[] = [];
    let delivery = makeDelivery(body, { attributes: { redrives: '1' } });
    for (let round = 0; round < 6; round++) {
      expect(await handBack({ queue, telemetry, random: () => 0 }, [delivery])).toEqual(new Set());
      const [message] = queue.messages();
      waits.push((message?.visibleAtMs ?? 0) - clock.now());
      delivery = makeDelivery(body, { attributes: message?.attributes ?? {} });
      queue.purge();
    }
    expect(waits).toEqual([1, 2, 4, 8, 15, 15].map((minutes) => minutes * MINUTE_MS));
    expect(delivery.attributes).toEqual({ redrives: '1', handedBack: '6' });
    const events = telemetry.named('message_handed_back');
    expect(events.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'warn', 'error', 'error']);
    expect(events[0]).toMatchObject({ submissionId: 'sub_1', tenantId: 'acme', count: 1 });
  });

  it('says that it was received before: its first worker may have ended between the row and the next message', async () => {
    const { queues, telemetry } = createMemoryWorld({ clock: createTestClock() });
    const queue = queues.live.small;
    const body = encodeBody(makeRecordMessage());
    let delivery = makeDelivery(body, { receiveCount: 2 });
    for (let round = 0; round < 2; round++) {
      await handBack({ queue, telemetry, random: () => 0 }, [delivery]);
      delivery = makeDelivery(body, { attributes: queue.messages()[0]?.attributes ?? {} });
      queue.purge();
    }
    expect(readBatch([delivery]).items).toMatchObject([{ message: { redelivered: true } }]);
    expect(readBatch([makeDelivery(body)]).items[0]?.message.redelivered).toBeUndefined();
  });
});
