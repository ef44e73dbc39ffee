import type { DeployedResource } from '../../contract.ts';
import { LocalCloudError } from '../../errors.ts';
import type { Call } from '../front/call.ts';
import { AwsError, type Reply } from '../front/errors.ts';
import type { Gate } from '../front/gate.ts';
import type { Service } from '../front/service.ts';
import { forwarded, type Upstream } from '../front/upstream.ts';

/** Operations by the resource that IAM checks: a topic, or everything. Topics come from the templates. */
const ON_TOPIC = new Set(['Publish', 'PublishBatch', 'GetTopicAttributes', 'ListSubscriptionsByTopic']);
const ON_ALL = new Set(['ListTopics', 'ListSubscriptions']);

/** SNS: the emulator's topics. */
export class SnsService implements Service {
  readonly name = 'sns';
  readonly buffersBody = true;
  readonly #gate: Gate;
  readonly #emulator: Upstream;
  readonly #topics: ReadonlySet<string>;

  constructor(gate: Gate, emulator: Upstream, topics: readonly DeployedResource[]) {
    this.#gate = gate;
    this.#emulator = emulator;
    this.#topics = new Set(topics.map(({ arn }) => arn));
  }

  async handle(call: Call): Promise<Reply> {
    const form = new URLSearchParams(call.body.toString());
    call.operation = form.get('Action') ?? '';
    const topic = form.get('TopicArn') ?? '';
    if (!ON_TOPIC.has(call.operation) && !ON_ALL.has(call.operation)) {
      throw new AwsError(400, 'InvalidAction', `The local cloud does not support sns:${call.operation}.`);
    }
    if (ON_TOPIC.has(call.operation) && !this.#topics.has(topic)) {
      throw new AwsError(404, 'NotFound', 'Topic does not exist');
    }
    call.target = topic.split(':').pop();
    // IAM knows one action for both ways to publish.
    const action = call.operation === 'PublishBatch' ? 'sns:Publish' : `sns:${call.operation}`;
    await this.#gate.pass(call, [{ action, resource: ON_TOPIC.has(call.operation) ? topic : '*' }]);
    const answer = await this.#emulator.send('POST', '/', forwarded(call.headers), call.body);
    return { status: answer.status, headers: { 'content-type': 'text/xml' }, body: answer.body };
  }

  /**
   * Publishes for a service of AWS, which may.
   *
   * @throws LocalCloudError when there is no such topic
   */
  async publish(topicArn: string, subject: string, message: string): Promise<void> {
    if (!this.#topics.has(topicArn)) throw new LocalCloudError(`The templates have no topic ${topicArn}.`);
    const form = new URLSearchParams({ Action: 'Publish', TopicArn: topicArn, Subject: subject, Message: message });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, body } = await this.#emulator.send('POST', '/', headers, form.toString());
    if (status !== 200) throw new LocalCloudError(`${topicArn} did not take a message: ${body.toString()}`);
  }
}
