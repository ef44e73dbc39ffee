import type { DeployedResource } from '../../contract.ts';
import type { Call } from '../front/call.ts';
import { AwsError, jsonReply, type Reply } from '../front/errors.ts';
import type { Gate } from '../front/gate.ts';
import type { Service } from '../front/service.ts';
import { forwarded, type Upstream } from '../front/upstream.ts';
import { isRecord, textOf } from '../shapes.ts';
import { checkMessage } from './sqs-messages.ts';

const CONTENT_TYPE = 'application/x-amz-json-1.0';

/** Operations that the emulator does, with the IAM action that each needs. Queues themselves come from the templates. */
const ACTIONS: Readonly<Record<string, string>> = {
  SendMessage: 'SendMessage',
  SendMessageBatch: 'SendMessage',
  ReceiveMessage: 'ReceiveMessage',
  DeleteMessage: 'DeleteMessage',
  DeleteMessageBatch: 'DeleteMessage',
  ChangeMessageVisibility: 'ChangeMessageVisibility',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
  GetQueueAttributes: 'GetQueueAttributes',
  SetQueueAttributes: 'SetQueueAttributes',
  GetQueueUrl: 'GetQueueUrl',
  ListQueues: 'ListQueues',
  ListQueueTags: 'ListQueueTags',
  PurgeQueue: 'PurgeQueue',
};

/** No message has an attribute of this name, so asking for it alone is asking for none. */
const NO_ATTRIBUTE = 'none\u0000';

/** SQS: the emulator's queues behind the limits of the service that the emulator does not enforce. */
export class SqsService implements Service {
  readonly name = 'sqs';
  readonly buffersBody = true;
  readonly #gate: Gate;
  readonly #emulator: Upstream;
  readonly #queues: ReadonlyMap<string, DeployedResource>;

  constructor(gate: Gate, emulator: Upstream, queues: readonly DeployedResource[]) {
    this.#gate = gate;
    this.#emulator = emulator;
    this.#queues = new Map(queues.map((queue) => [textOf(queue.attributes['QueueName']), queue]));
  }

  async handle(call: Call): Promise<Reply> {
    call.operation = (call.header('x-amz-target') ?? '').replace(/^AmazonSQS\./, '');
    const input = call.readJson();
    const action = ACTIONS[call.operation];
    if (action === undefined) {
      throw new AwsError(400, 'UnsupportedOperation', `The local cloud does not support sqs:${call.operation}.`);
    }
    if (call.operation === 'ListQueues') {
      await this.#gate.pass(call, [{ action: 'sqs:ListQueues', resource: '*' }]);
      return this.#forward(call, call.body);
    }
    const queue = this.#queueOf(call, input);
    await this.#gate.pass(call, [{ action: `sqs:${action}`, resource: queue.arn }]);
    switch (call.operation) {
      case 'GetQueueUrl':
        return jsonReply({ QueueUrl: queue.physicalId }, CONTENT_TYPE);
      case 'SendMessage':
        throwIfRefused(checkMessage(input));
        return this.#forward(call, call.body);
      case 'SendMessageBatch':
        return this.#sendBatch(call, input);
      case 'ReceiveMessage':
        return this.#receive(call, input);
      default:
        return this.#forward(call, call.body);
    }
  }

  #queueOf(call: Call, input: Record<string, unknown>): DeployedResource {
    call.target = textOf(input['QueueName'] ?? textOf(input['QueueUrl']).split('/').pop());
    const queue = this.#queues.get(call.target);
    if (queue !== undefined) return queue;
    throw new AwsError(400, 'QueueDoesNotExist', 'The specified queue does not exist.');
  }

  /** Entries that the service would refuse are answered here; the rest goes on. */
  async #sendBatch(call: Call, input: Record<string, unknown>): Promise<Reply> {
    const entries = Array.isArray(input['Entries']) ? input['Entries'].filter(isRecord) : [];
    const refused = entries.flatMap((entry) => {
      const refusal = checkMessage(entry);
      return refusal === undefined
        ? []
        : [{ Id: entry['Id'], SenderFault: true, Code: refusal.code, Message: refusal.message }];
    });
    if (refused.length === 0) return this.#forward(call, call.body);
    const ids = new Set(refused.map(({ Id }) => Id));
    const rest = entries.filter((entry) => !ids.has(entry['Id']));
    if (rest.length === 0) return jsonReply({ Successful: [], Failed: refused }, CONTENT_TYPE);
    const answer = await this.#forward(call, JSON.stringify({ ...input, Entries: rest }));
    const output: unknown = JSON.parse(answer.body.toString());
    if (answer.status !== 200 || !isRecord(output)) return answer;
    const failed = Array.isArray(output['Failed']) ? (output['Failed'] as unknown[]) : [];
    return jsonReply({ ...output, Failed: [...failed, ...refused] }, CONTENT_TYPE);
  }

  /** The emulator returns every message attribute where none is asked for; the service returns none. */
  async #receive(call: Call, input: Record<string, unknown>): Promise<Reply> {
    const names = input['MessageAttributeNames'];
    if (Array.isArray(names) && names.length > 0) return this.#forward(call, call.body);
    return this.#forward(call, JSON.stringify({ ...input, MessageAttributeNames: [NO_ATTRIBUTE] }));
  }

  async #forward(call: Call, body: Buffer | string): Promise<Reply> {
    const answer = await this.#emulator.send('POST', '/', forwarded(call.headers), body);
    if (answer.status >= 400) call.errorCode = String(answer.headers['x-amzn-query-error'] ?? answer.status);
    const queryError = answer.headers['x-amzn-query-error'];
    return {
      status: answer.status,
      headers: {
        'content-type': CONTENT_TYPE,
        'x-amzn-requestid': String(answer.headers['x-amz-request-id'] ?? ''),
        ...(queryError === undefined ? {} : { 'x-amzn-query-error': String(queryError) }),
      },
      body: answer.body,
    };
  }
}

function throwIfRefused(refusal: { code: string; message: string } | undefined): void {
  if (refusal !== undefined) throw new AwsError(400, refusal.code, refusal.message);
}
