import { encodeBody, MESSAGE_VERSION, type EventMessage } from '../../../lambdas/domain/queues/messages.ts';
import type { Drill } from '../drill.ts';
import { fileAtFault, ill, nearTimeout, newerMessage, together } from '../faults.ts';
import { good } from '../traffic.ts';

const HIDDEN = { silentWithin: 40, fileEvery: 5 } as const;

/** A submission has ended whose callback leads into a network of its own. */
const refusedCallback: Drill['arrange'] = ({ simulation, from }) =>
  simulation.at(from + 0.1, async () => {
    const message: EventMessage = {
      v: MESSAGE_VERSION,
      kind: 'event',
      tenantId: 'globex',
      eventId: 'evt_1_0',
      event: { type: 'submission.completed', timestamp: '2026-01-05T09:00:09.000Z', data: {} },
      callbackUrl: 'https://refused.example/',
      expiresAtSeconds: 4e9,
    };
    await simulation.world.queues.live.webhooks.send([{ body: encodeBody(message), group: 'globex' }]);
  });

/** Events that are not told, or to nobody. */
export const WEBHOOK_DRILLS: readonly Drill[] = [
  {
    fault: 'the event source of webhooks is disabled',
    lastsFor: 42,
    rings: { 'Webhooks/Requests/OldestMessageAge': 37 },
    arrange: ill('webhooks', { what: 'stopped' }),
  },
  {
    fault: 'webhooks fails at its start',
    lastsFor: 6,
    ...HIDDEN,
    rings: { 'Webhooks/Webhooks/Errors': 3 },
    arrange: together(fileAtFault(good(3)), ill('webhooks', { what: 'broken' })),
  },
  {
    fault: 'webhooks is throttled',
    lastsFor: 6,
    rings: { 'Webhooks/Webhooks/Throttles': 4 },
    arrange: ill('webhooks', { what: 'throttled' }),
  },
  {
    fault: 'invocations of webhooks nearly run out of time',
    lastsFor: 15,
    silentWithin: 25,
    rings: { 'Webhooks/Webhooks/NearTimeout': 15 },
    arrange: nearTimeout('webhooks'),
  },
  {
    fault: 'webhooks may not read its table',
    lastsFor: 12,
    silentWithin: 16,
    rings: { 'Webhooks/Webhooks/Misconfigured': 8 },
    arrange: ill('webhooks', { what: 'denied', port: 'webhooks' }),
  },
  {
    fault: 'webhooks cannot read its table',
    lastsFor: 20,
    silentWithin: 16,
    rings: { 'Webhooks/Webhooks/DependencyFailures': 11 },
    arrange: ill('webhooks', { what: 'failing', port: 'webhooks' }),
  },
  {
    fault: 'a defect of webhooks reads no endpoints',
    breaks: ['no defect'],
    lastsFor: 6,
    silentWithin: 25,
    rings: { 'Webhooks/Webhooks/UnexpectedErrors': 3 },
    arrange: ill('webhooks', { what: 'defective', port: 'webhooks' }),
  },
  {
    fault: 'a message of a newer version is in the queue of webhooks',
    lastsFor: 21,
    silentWithin: 60,
    rings: { 'Webhooks/NewerMessages': 20 },
    arrange: newerMessage('webhooks'),
  },
  {
    fault: 'a callback is given up',
    lastsFor: 2,
    silentWithin: 200,
    rings: { 'Webhooks/GivenUp': 60 },
    arrange: refusedCallback,
  },
];
