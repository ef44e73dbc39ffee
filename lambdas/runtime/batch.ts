import type { SQSBatchResponse } from 'aws-lambda';
import * as v from 'valibot';
import { InvalidDataError, isPassingFailure } from '../domain/errors.ts';
import type { Delivery } from '../domain/queues/ports.ts';
import type { TimeBudget } from '../domain/time.ts';
import { invocationBudget, type InvocationContext } from './budget.ts';
import type { InvocationTelemetry } from './telemetry.ts';

export interface SqsHandlerOptions {
  /** Works a batch and returns the ids of the messages that must be delivered again. */
  process: (deliveries: readonly Delivery[], budget: TimeBudget) => Promise<readonly string[]>;
  telemetry: InvocationTelemetry;
}

const wholeNumber = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number));
const recordSchema = v.pipe(
  v.object({
    messageId: v.string(),
    receiptHandle: v.string(),
    body: v.string(),
    attributes: v.object({ ApproximateReceiveCount: wholeNumber, SentTimestamp: wholeNumber }),
    messageAttributes: v.optional(v.record(v.string(), v.object({ stringValue: v.optional(v.string()) })), {}),
  }),
  v.transform(({ messageId, receiptHandle, body, attributes, messageAttributes }): Delivery => ({
    messageId,
    receipt: receiptHandle,
    body,
    receiveCount: attributes.ApproximateReceiveCount,
    attributes: Object.fromEntries(
      Object.entries(messageAttributes).flatMap(([name, { stringValue }]) =>
        stringValue === undefined ? [] : [[name, stringValue]],
      ),
    ),
    sentAtMs: attributes.SentTimestamp,
  })),
);
const eventSchema = v.object({ Records: v.pipe(v.array(recordSchema), v.minLength(1)) });

/**
 * The one wrapper of every function behind a queue. It answers with exactly those ids that it received and that are to be
 * delivered again: all of them when the work ends in an error, so that nothing is acknowledged that was not done. It throws
 * only when it was not called by SQS at all.
 */
export function sqsHandler({ process, telemetry }: SqsHandlerOptions) {
  return async (event: unknown, context: InvocationContext): Promise<SQSBatchResponse> => {
    telemetry.begin(context);
    const deliveries = readEvent(event);
    try {
      const ids = new Set(await process(deliveries, invocationBudget(context)));
      return answer(deliveries.filter(({ messageId }) => ids.has(messageId)));
    } catch (error) {
      const level = isPassingFailure(error) ? 'warn' : 'error';
      telemetry.emit({ name: 'unexpected_error', level, error, count: deliveries.length });
      return answer(deliveries);
    } finally {
      telemetry.flush();
    }
  };
}

function readEvent(event: unknown): Delivery[] {
  const parsed = v.safeParse(eventSchema, event);
  if (parsed.success) return parsed.output.Records;
  throw new InvalidDataError(
    `This function is called by its queue, with an event of SQS; this event is not valid at ${v.getDotPath(parsed.issues[0]) ?? 'its root'}.`,
  );
}

const answer = (failed: readonly Delivery[]): SQSBatchResponse => ({
  batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })),
});
