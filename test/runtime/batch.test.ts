import { describe, expect, it } from '@jest/globals';
import { DependencyUnavailableError } from '../../lambdas/domain/errors.ts';
import type { Delivery } from '../../lambdas/domain/queues/ports.ts';
import { sqsHandler, type SqsHandlerOptions } from '../../lambdas/runtime/batch.ts';
import { createMemoryTelemetry } from '../support/memory/telemetry.ts';

const record = (messageId: string, changes: Record<string, unknown> = {}) => ({
  messageId,
  receiptHandle: `receipt-${messageId}`,
  body: '{}',
  attributes: { ApproximateReceiveCount: '2', SentTimestamp: '1767701700000', SenderId: 'x' },
  messageAttributes: { redrives: { stringValue: '1', dataType: 'String' }, blob: { dataType: 'Binary' } },
  eventSource: 'aws:sqs',
  ...changes,
});
const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 42_000 };

function setUp(process: SqsHandlerOptions['process']) {
  const telemetry = createMemoryTelemetry();
  const order: string[] = [];
  const handler = sqsHandler({
    process: async (deliveries, budget) => {
      order.push('process');
      return process(deliveries, budget);
    },
    telemetry: {
      ...telemetry,
      begin: ({ awsRequestId }) => void order.push(`begin ${awsRequestId}`),
      flush: () => void order.push('flush'),
    },
  });
  return { handler, order, telemetry };
}

const failuresOf = (...ids: string[]) => ({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

describe('a batch from SQS', () => {
  it('becomes deliveries, with the time that Lambda leaves', async () => {
    const seen: { deliveries: readonly Delivery[]; remainingMs: number }[] = [];
    const { handler } = setUp(async (deliveries, budget) => {
      seen.push({ deliveries, remainingMs: budget.remainingMs() });
      return [];
    });
    expect(await handler({ Records: [record('a')] }, context)).toEqual(failuresOf());
    expect(seen).toEqual([
      {
        deliveries: [
          {
            messageId: 'a',
            receipt: 'receipt-a',
            body: '{}',
            receiveCount: 2,
            attributes: { redrives: '1' },
            sentAtMs: 1_767_701_700_000,
          },
        ],
        remainingMs: 42_000,
      },
    ]);
  });

  it('of one message that must come back answers with that one failure', async () => {
    const { handler } = setUp(async () => ['a']);
    expect(await handler({ Records: [record('a')] }, context)).toEqual(failuresOf('a'));
  });

  it('answers only with ids that it received, each once', async () => {
    const { handler } = setUp(async () => ['b', 'b', 'stranger']);
    expect(await handler({ Records: [record('a'), record('b')] }, context)).toEqual(failuresOf('b'));
  });

  it('comes back whole when the work ends in an error, which is told and not thrown', async () => {
    const { handler, telemetry, order } = setUp(async () => Promise.reject(new Error('A defect.')));
    expect(await handler({ Records: [record('a'), record('b')] }, context)).toEqual(failuresOf('a', 'b'));
    expect(telemetry.named('unexpected_error')).toMatchObject([{ level: 'error', count: 2 }]);
    expect(order).toEqual(['begin request-1', 'process', 'flush']);
  });

  it('comes back whole, without being called a defect, when a call to AWS fails', async () => {
    const error = new DependencyUnavailableError('Throttled.');
    const { handler, telemetry } = setUp(async () => Promise.reject(error));
    expect(await handler({ Records: [record('a')] }, context)).toEqual(failuresOf('a'));
    expect(telemetry.named('unexpected_error')).toMatchObject([{ level: 'warn', error }]);
  });

  it.each([
    ['nothing', undefined],
    ['an event of something else', { detail: {} }],
    ['no records', { Records: [] }],
    ['a record without a receive count', { Records: [record('a', { attributes: {} })] }],
  ])('is told apart from %s', async (_, event) => {
    const { handler, order } = setUp(async () => []);
    await expect(handler(event, context)).rejects.toThrow(/called by its queue/);
    expect(order).not.toContain('process');
  });
});
