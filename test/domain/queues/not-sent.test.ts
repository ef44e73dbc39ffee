import { expect, it } from '@jest/globals';
import { handBack } from '../../../lambdas/domain/queues/hand-back.ts';
import { encodeBody } from '../../../lambdas/domain/queues/messages.ts';
import { notSent } from '../../../lambdas/domain/queues/not-sent.ts';
import type { QueueSender } from '../../../lambdas/domain/queues/ports.ts';
import { sendDelayed } from '../../../lambdas/domain/redrive/replay.ts';
import type { Telemetry } from '../../../lambdas/domain/telemetry.ts';
import { deadLetterUnreadable } from '../../../lambdas/domain/worker/deliveries.ts';
import { makeDelivery, makeRecordMessage } from '../../support/factories.ts';
import { createMemoryWorld, createTestClock } from '../../support/memory/index.ts';

it('a message that was not sent may be sent later', () => {
  expect(notSent('It was', { index: 0, senderFault: false, code: 'ServiceUnavailable' })).toMatchObject({
    name: 'DependencyUnavailableError',
    message: 'It was not sent: ServiceUnavailable.',
  });
});

it('a message that the queue refuses needs a person, who is told what was refused', () => {
  const refused = { action: 'sqs:SendMessage', resource: 'https://sqs/queue' };
  expect(notSent('It was', { index: 0, senderFault: false, code: 'AccessDenied', refused })).toMatchObject({
    name: 'DependencyMisconfiguredError',
    ...refused,
  });
});

const refused = { action: 'sqs:SendMessage', resource: 'https://sqs/queue' };
/** A queue that this function may not send to. */
const queue: QueueSender = {
  send: async (messages) =>
    [...messages.keys()].map((index) => ({ index, senderFault: false, code: 'AccessDenied', refused })),
};
const delivery = makeDelivery(encodeBody(makeRecordMessage()));

it.each<[string, (telemetry: Telemetry) => Promise<unknown>]>([
  ['hands messages back', async (telemetry) => handBack({ queue, telemetry, random: () => 0 }, [delivery])],
  [
    'sets unreadable messages apart',
    async (telemetry) => deadLetterUnreadable({ deadLetterQueue: queue, telemetry, lane: 'small' }, [delivery]),
  ],
  [
    'replays records',
    async (telemetry) => sendDelayed({ telemetry, clock: createTestClock() }, queue, [makeRecordMessage()], () => 0),
  ],
])('whoever %s says what the queue refused', async (_what, send) => {
  const { telemetry } = createMemoryWorld({ clock: createTestClock() });
  await send(telemetry);
  expect(telemetry.named('unexpected_error')).toMatchObject([
    { error: { name: 'DependencyMisconfiguredError', ...refused } },
  ]);
});
