import type { DeployedResource, Json } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import { servicePrincipal } from './authorization/principals.ts';
import type { Emulator } from './emulators/emulator.ts';
import type { BufferedUpstream } from './front/thread-upstream.ts';
import { isRecord, textOf } from './shapes.ts';

/** Queue properties that the emulator takes as attributes of the same name. */
const QUEUE_ATTRIBUTES = [
  'DelaySeconds',
  'KmsMasterKeyId',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'ReceiveMessageWaitTimeSeconds',
  'RedriveAllowPolicy',
  'RedrivePolicy',
  'SqsManagedSseEnabled',
  'VisibilityTimeout',
];

/** Subscriptions that send something to a person; nothing is sent from this machine. */
const TO_PEOPLE = new Set(['email', 'email-json', 'sms']);

export interface Emulators {
  /** Queues, topics and objects. */
  readonly fauxqs: Emulator;
  /** Tables. */
  readonly dynalite: BufferedUpstream;
}

/** Creates the templates' queues, topics, buckets and tables in the emulators. */
export async function provision(
  resources: readonly DeployedResource[],
  emulators: Emulators,
  authorizer: Authorizer,
  region: string,
): Promise<void> {
  const { fauxqs, dynalite } = emulators;
  for (const resource of resources) {
    switch (resource.type) {
      case 'AWS::SQS::Queue':
        await fauxqs.command('createQueue', queueOf(resource));
        break;
      case 'AWS::S3::Bucket':
        await fauxqs.command('createBucket', { name: resource.physicalId });
        break;
      case 'AWS::SNS::Topic':
        await createTopic(resource, fauxqs, authorizer);
        break;
      case 'AWS::SNS::Subscription':
        await subscribe(textOf(resource.properties['TopicArn']), resource.properties, resource, fauxqs, authorizer);
        break;
      case 'AWS::DynamoDB::Table':
      case 'AWS::DynamoDB::GlobalTable':
        await createTable(resource, dynalite, region);
        break;
      default:
    }
  }
}

function queueOf(queue: DeployedResource): {
  name: string;
  url: string;
  arn: string;
  attributes: Record<string, string>;
} {
  return {
    name: textOf(queue.attributes['QueueName']),
    url: queue.physicalId,
    arn: queue.arn,
    attributes: attributesOf(queue.properties, QUEUE_ATTRIBUTES),
  };
}

async function createTopic(topic: DeployedResource, fauxqs: Emulator, authorizer: Authorizer): Promise<void> {
  const displayName = topic.properties['DisplayName'];
  const attributes = typeof displayName === 'string' ? { DisplayName: displayName } : {};
  await fauxqs.command('createTopic', { name: textOf(topic.attributes['TopicName']), arn: topic.arn, attributes });
  for (const subscription of [topic.properties['Subscription'] ?? []].flat()) {
    if (isRecord(subscription)) await subscribe(topic.arn, subscription, topic, fauxqs, authorizer);
  }
}

async function subscribe(
  topicArn: string,
  subscription: Record<string, unknown>,
  resource: DeployedResource,
  fauxqs: Emulator,
  authorizer: Authorizer,
): Promise<void> {
  const protocol = textOf(subscription['Protocol']);
  const endpoint = textOf(subscription['Endpoint']);
  if (TO_PEOPLE.has(protocol)) return;
  if (protocol !== 'sqs') {
    throw new LocalCloudError(
      `${resource.stack}/${resource.logicalId}: the local cloud delivers from topics to queues only, not to ${protocol}.`,
    );
  }
  // A queue that does not let the topic send gets nothing, and nobody is told but the log of denials.
  const { allowed } = await authorizer.authorize({
    principal: servicePrincipal('sns.amazonaws.com'),
    action: 'sqs:SendMessage',
    resource: endpoint,
    context: { 'aws:SourceArn': topicArn },
  });
  if (!allowed) return;
  const attributes = attributesOf(subscription, ['FilterPolicy', 'FilterPolicyScope', 'RawMessageDelivery']);
  await fauxqs.command('subscribe', { topicArn, protocol, endpoint, attributes });
}

/** The named members as the services' APIs take them: everything is text, and objects are JSON. */
function attributesOf(from: Record<string, unknown>, names: readonly string[]): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const name of names) {
    const value = from[name];
    if (isRecord(value)) attributes[name] = JSON.stringify(value);
    else if (value !== undefined) attributes[name] = textOf(value);
  }
  return attributes;
}

async function createTable(table: DeployedResource, dynalite: BufferedUpstream, region: string): Promise<void> {
  const { AttributeDefinitions, GlobalSecondaryIndexes, KeySchema, LocalSecondaryIndexes } = table.properties;
  const indexes = {
    ...(GlobalSecondaryIndexes === undefined ? {} : { GlobalSecondaryIndexes: indexesOf(GlobalSecondaryIndexes) }),
    ...(LocalSecondaryIndexes === undefined ? {} : { LocalSecondaryIndexes: indexesOf(LocalSecondaryIndexes) }),
  };
  // The emulator has no throughput limits, so it makes no difference that provisioned tables become on-demand ones.
  const input = { TableName: table.physicalId, AttributeDefinitions, KeySchema, BillingMode: 'PAY_PER_REQUEST' };
  await dynamodb(table, dynalite, region, 'CreateTable', { ...input, ...indexes });
  let status: unknown;
  do {
    const described = await dynamodb(table, dynalite, region, 'DescribeTable', { TableName: table.physicalId });
    status = isRecord(described['Table']) ? described['Table']['TableStatus'] : undefined;
  } while (status === 'CREATING');
}

function indexesOf(indexes: Json): unknown[] {
  return [indexes].flat().map((index) => {
    const { IndexName, KeySchema, Projection } = isRecord(index) ? index : {};
    return { IndexName, KeySchema, Projection };
  });
}

async function dynamodb(
  table: DeployedResource,
  dynalite: BufferedUpstream,
  region: string,
  operation: string,
  input: unknown,
): Promise<Record<string, unknown>> {
  const scope = `local/20000101/${region}/dynamodb/aws4_request`;
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-date': '20000101T000000Z',
    authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
  };
  const answer = await dynalite.send('POST', '/', headers, JSON.stringify(input));
  if (answer.status !== 200) {
    throw new LocalCloudError(
      `${table.stack}/${table.logicalId}: the emulator refuses the table: ${answer.body.toString()}`,
    );
  }
  const output: unknown = JSON.parse(answer.body.toString());
  return isRecord(output) ? output : {};
}
