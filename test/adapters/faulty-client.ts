import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { connectionError } from './service-errors.ts';

/** Makes calls of a client fail between the SDK's own repetition and the network, which is where the real ones fail. */
export interface Faults {
  /** The next `count` writes are applied, and their answers are lost on the way back. */
  loseReplies(count: number): void;
  /** The next `count` calls do not reach the service. */
  refuse(count: number, error: () => Error): void;
  /** Runs before the next call is sent, as what another machine does at that moment. */
  beforeNext(interfere: () => Promise<void>): void;
  /** Calls that reached the service. */
  readonly sent: { command: string; input: unknown }[];
}

export function injectFaults(client: DynamoDBDocumentClient): Faults {
  let replies = 0;
  let refusals = 0;
  let refusal: () => Error = () => connectionError('ECONNREFUSED');
  let interference: (() => Promise<void>) | undefined;
  const sent: Faults['sent'] = [];

  const middleware =
    <Call extends { input: object }, Answer>(
      next: (call: Call) => Promise<Answer>,
      context: { commandName?: string },
    ) =>
    async (call: Call): Promise<Answer> => {
      if (refusals > 0) {
        refusals--;
        throw refusal();
      }
      const interfere = interference;
      interference = undefined;
      await interfere?.();
      sent.push({ command: String(context.commandName), input: call.input });
      const answer = await next(call);
      if (replies > 0) {
        replies--;
        throw connectionError('ECONNRESET');
      }
      return answer;
    };
  client.middlewareStack.addRelativeTo(middleware, {
    relation: 'after',
    toMiddleware: 'retryMiddleware',
    name: 'faults',
  });
  return {
    sent,
    loseReplies(count) {
      replies = count;
    },
    refuse(count, error) {
      refusals = count;
      refusal = error;
    },
    beforeNext(interfere) {
      interference = interfere;
    },
  };
}
