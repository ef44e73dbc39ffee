import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Cloud,
  type DeployedResource,
  resourceNames,
  type ResourceNames,
  startCloud,
} from '../../local/cloud/index.ts';
import { synthesize } from '../../local/synthesize.ts';

/*
 * Every function, with its own credentials, tries everything that there is against everything that there is. What it reaches
 * is written down here, by hand and not from the templates: everything else must be denied, by the policies themselves.
 */

const SMALL = 'SmallLane/Records/Queue';
const BULK = 'BulkLane/Records/Queue';
const SMALL_DLQ = 'SmallLane/Records/Dlq';
const BULK_DLQ = 'BulkLane/Records/Dlq';
const FAN_OUT = 'FanOut/Requests/Queue';
const PREPARE = 'PrepareRequests/Queue';
const FINALIZE = 'Finalization/Requests/Queue';
const WEBHOOKS = 'Webhooks/Requests/Queue';
const consume = (queue: string): string[] => [`Receive ${queue}`, `Delete ${queue}`];
const drain = (queue: string): string[] => [...consume(queue), `ChangeVisibility ${queue}`];

const worker = (queue: string, dlq: string): string[] => [
  ...consume(queue),
  ...[queue, dlq, FINALIZE].map((target) => `Send ${target}`),
  ...['Get', 'Update'].map((action) => `${action} Submissions`),
  ...['Get', 'BatchGet', 'Put'].map((action) => `${action} Records`),
  ...['Get', 'Update'].map((action) => `${action} Providers`),
  'GetSecret',
];

const REACHES: Readonly<Record<string, readonly string[]>> = {
  authorizer: ['Get Tenants key#'],
  submit: [
    ...['Get', 'Put', 'Query', 'Update'].map((action) => `${action} Submissions`),
    ...['BatchGet', 'Update'].map((action) => `${action} Tenants tenant#`),
    'Get Tenants system',
    ...['Get', 'Put', 'Update', 'Delete'].map((action) => `${action} Idempotency`),
    'PutObject once uploads/',
    'GetObject uploads/',
    'List uploads/',
    `Send ${FAN_OUT}`,
    `Send ${WEBHOOKS}`,
    ...['endpoints#', 'deliveries#'].flatMap((kind) =>
      ['Get', 'Put', 'Query', 'Update'].map((action) => `${action} Webhooks ${kind}`),
    ),
    'Update Webhooks secrets#',
  ],
  preview: ['Get Tenants system', 'GetObject uploads/', 'List uploads/'],
  status: [
    ...['Get', 'BatchGet', 'Query'].map((action) => `${action} Submissions`),
    'Query Submissions/byTenant',
    'BatchGet Records',
    ...['endpoints#', 'deliveries#'].flatMap((kind) =>
      ['Get', 'BatchGet', 'Query'].map((action) => `${action} Webhooks ${kind}`),
    ),
    'Query Webhooks/byCreation',
    'Get Tenants system',
    ...['results/', 'uploads/', 'prepared/'].flatMap((prefix) => [`GetObject ${prefix}`, `List ${prefix}`]),
  ],
  'fan-out': [
    ...consume(FAN_OUT),
    ...[PREPARE, FAN_OUT, SMALL, BULK, FINALIZE, WEBHOOKS].map((queue) => `Send ${queue}`),
    ...['Get', 'Query', 'Update'].map((action) => `${action} Submissions`),
    ...['BatchGet', 'Update'].map((action) => `${action} Tenants tenant#`),
    'GetObject uploads/',
    'GetObject prepared/',
    'List uploads/',
    'List prepared/',
  ],
  prepare: [
    ...consume(PREPARE),
    ...[PREPARE, FAN_OUT].map((queue) => `Send ${queue}`),
    ...['Get', 'Update'].map((action) => `${action} Submissions`),
    'GetObject uploads/',
    'List uploads/',
    'List prepared/',
    ...['GetObject', 'PutObject', 'PutObject once', 'CreateMultipart', 'AbortMultipart'].map(
      (action) => `${action} prepared/`,
    ),
  ],
  'worker small': worker(SMALL, SMALL_DLQ),
  'worker bulk': worker(BULK, BULK_DLQ),
  finalizer: [
    ...consume(FINALIZE),
    `Send ${FINALIZE}`,
    `Send ${WEBHOOKS}`,
    ...['Get', 'Update'].map((action) => `${action} Submissions`),
    'Query Records',
    'Update Tenants tenant#',
    'GetObject uploads/',
    'GetObject prepared/',
    'List uploads/',
    'List prepared/',
    ...['GetObject', 'PutObject', 'PutObject once', 'CreateMultipart', 'AbortMultipart', 'List'].map(
      (action) => `${action} results/`,
    ),
  ],
  reconciler: [
    ...drain(SMALL_DLQ),
    ...drain(BULK_DLQ),
    ...[FAN_OUT, SMALL, BULK, FINALIZE].map((queue) => `Send ${queue}`),
    ...['Get', 'BatchGet', 'Query', 'Update'].map((action) => `${action} Submissions`),
    'Query Submissions/open',
    ...['Get', 'BatchGet', 'Put'].map((action) => `${action} Records`),
    'Get Providers',
    ...['Get', 'Update'].map((action) => `${action} Tenants system`),
    ...['Get', 'BatchGet', 'Update'].map((action) => `${action} Tenants tenant#`),
    'GetObject uploads/',
    'GetObject prepared/',
    'List uploads/',
    'List prepared/',
    'PutObject set-apart/',
    'PutObject once set-apart/',
    'CreateMultipart set-apart/',
  ],
  webhooks: [
    ...consume(WEBHOOKS),
    `Send ${WEBHOOKS}`,
    ...['Get', 'Query', 'Update'].map((action) => `${action} Webhooks endpoints#`),
    'Get Webhooks secrets#',
    ...['Get', 'Put', 'Update'].map((action) => `${action} Webhooks deliveries#`),
  ],
  redrive: [
    ...drain(SMALL_DLQ),
    ...drain(BULK_DLQ),
    ...[SMALL, BULK].map((queue) => `Send ${queue}`),
    ...['Get', 'BatchGet', 'Query', 'Update'].map((action) => `${action} Submissions`),
    ...['Query', 'Scan'].map((action) => `${action} Submissions/byTenant`),
    ...['Get', 'BatchGet', 'Put'].map((action) => `${action} Records`),
    'Get Providers',
    'GetObject uploads/',
    'GetObject prepared/',
    'List uploads/',
    'List prepared/',
    'PutObject set-apart/',
    'PutObject once set-apart/',
    'CreateMultipart set-apart/',
  ],
};

type Attempt = readonly [name: string, run: (clients: Clients) => Promise<unknown>];

interface Clients {
  dynamo: DynamoDBClient;
  lambda: LambdaClient;
  s3: S3Client;
  secrets: SecretsManagerClient;
  sqs: SQSClient;
}

let cloud: Cloud;
let names: ResourceNames;
beforeAll(async () => {
  cloud = await startCloud({ assemblyDirectory: await synthesize({ stage: 'dev' }) });
  names = resourceNames(cloud);
});
afterAll(() => cloud?.stop());

/** ARN of a function's role. */
const roleOf = ({ Role }: DeployedResource['properties']): string => (typeof Role === 'string' ? Role : '');

function clientsOf({ properties, physicalId }: DeployedResource): Clients {
  const credentials = { ...cloud.credentialsFor(roleOf(properties), physicalId) };
  const access = { endpoint: cloud.awsEndpoint, region: cloud.region, credentials, maxAttempts: 1 };
  return {
    dynamo: new DynamoDBClient(access),
    lambda: new LambdaClient(access),
    s3: new S3Client({ ...access, forcePathStyle: true }),
    secrets: new SecretsManagerClient(access),
    sqs: new SQSClient({ ...access, useQueueUrlAsEndpoint: false }),
  };
}

const nameOf = ({ properties }: DeployedResource): string => {
  const { Variables } = properties['Environment'] as unknown as { Variables: Record<string, string> };
  return [Variables['POWERTOOLS_SERVICE_NAME'], Variables['LANE']].filter((part) => part !== undefined).join(' ');
};

const onQueue = ([path, QueueUrl]: [string, string]): Attempt[] => [
  [`Send ${path}`, async ({ sqs }) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }))],
  [
    `Receive ${path}`,
    async ({ sqs }) => sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 0, VisibilityTimeout: 0 })),
  ],
  [`Delete ${path}`, async ({ sqs }) => sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: 'none' }))],
  [
    `ChangeVisibility ${path}`,
    async ({ sqs }) =>
      sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: 'none', VisibilityTimeout: 0 })),
  ],
  [`Purge ${path}`, async ({ sqs }) => sqs.send(new PurgeQueueCommand({ QueueUrl }))],
];

/** Keys that items of a table may have, by table: those of the tenants and webhooks tables are of three kinds. */
const PARTITIONS: Readonly<Record<string, readonly string[]>> = {
  Tenants: ['key#', 'tenant#', 'system'],
  Webhooks: ['endpoints#', 'secrets#', 'deliveries#'],
};
const KEYS: Readonly<Record<string, (partition: string) => Record<string, { S: string } | { N: string }>>> = {
  Submissions: () => ({ submissionId: { S: 'sub_1' }, part: { S: 'head' } }),
  Records: () => ({ chunkKey: { S: 'sub_1#0' }, recordNo: { N: '1' } }),
  Providers: () => ({ provider: { S: 'company' } }),
  Tenants: (partition) => ({ pk: { S: partition.endsWith('#') ? `${partition}1` : partition } }),
  Idempotency: () => ({ id: { S: '1' } }),
  Webhooks: (partition) => ({ owner: { S: `${partition}1` }, part: { S: '1' } }),
};

function onTable([path, TableName]: [string, string]): Attempt[] {
  const table = path.replace('Tables/', '');
  const scan: Attempt = [`Scan ${table}`, async ({ dynamo }) => dynamo.send(new ScanCommand({ TableName }))];
  return [
    scan,
    ...INDEXES.filter(({ of }) => of === table).flatMap((index) => onIndex(TableName, index)),
    ...(PARTITIONS[table] ?? ['']).flatMap((partition) => {
      const on = (action: string): string => `${action} ${table} ${partition}`.trim();
      const Key = KEYS[table]?.(partition) ?? {};
      const [[name, value] = ['', { S: '' }]] = Object.entries(Key);
      const query = {
        TableName,
        KeyConditionExpression: '#k = :k',
        ExpressionAttributeNames: { '#k': name },
        ExpressionAttributeValues: { ':k': value },
      };
      const attempts: Attempt[] = [
        [on('Get'), async ({ dynamo }) => dynamo.send(new GetItemCommand({ TableName, Key }))],
        [on('Put'), async ({ dynamo }) => dynamo.send(new PutItemCommand({ TableName, Item: Key }))],
        [on('Update'), async ({ dynamo }) => dynamo.send(new UpdateItemCommand({ TableName, Key }))],
        [on('Delete'), async ({ dynamo }) => dynamo.send(new DeleteItemCommand({ TableName, Key }))],
        [on('Query'), async ({ dynamo }) => dynamo.send(new QueryCommand(query))],
        [
          on('BatchGet'),
          async ({ dynamo }) =>
            dynamo.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [Key] } } })),
        ],
        [
          on('BatchWrite'),
          async ({ dynamo }) =>
            dynamo.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item: Key } }] } })),
        ],
      ];
      return attempts;
    }),
  ];
}

const INDEXES = [
  { of: 'Submissions', name: 'byTenant', key: 'tenantId', value: 'acme' },
  { of: 'Submissions', name: 'open', key: 'openShard', value: 'acme' },
  { of: 'Webhooks', name: 'byCreation', key: 'owner', value: 'deliveries#1' },
];

function onIndex(TableName: string, { of, name: IndexName, key, value }: (typeof INDEXES)[number]): Attempt[] {
  const query = {
    TableName,
    IndexName,
    KeyConditionExpression: '#k = :k',
    ExpressionAttributeNames: { '#k': key },
    ExpressionAttributeValues: { ':k': { S: value } },
  };
  return [
    [`Query ${of}/${IndexName}`, async ({ dynamo }) => dynamo.send(new QueryCommand(query))],
    [`Scan ${of}/${IndexName}`, async ({ dynamo }) => dynamo.send(new ScanCommand({ TableName, IndexName }))],
  ];
}

function onPrefix(Bucket: string, prefix: string): Attempt[] {
  const object = { Bucket, Key: `${prefix}acme/planted` };
  const upload = { ...object, UploadId: 'none' };
  return [
    [`GetObject ${prefix}`, async ({ s3 }) => s3.send(new GetObjectCommand(object))],
    [`PutObject ${prefix}`, async ({ s3 }) => s3.send(new PutObjectCommand({ ...object, Body: 'x' }))],
    [
      `PutObject once ${prefix}`,
      async ({ s3 }) => s3.send(new PutObjectCommand({ ...object, Body: 'x', IfNoneMatch: '*' })),
    ],
    [`DeleteObject ${prefix}`, async ({ s3 }) => s3.send(new DeleteObjectCommand(object))],
    [`CreateMultipart ${prefix}`, async ({ s3 }) => s3.send(new CreateMultipartUploadCommand(object))],
    [`AbortMultipart ${prefix}`, async ({ s3 }) => s3.send(new AbortMultipartUploadCommand(upload))],
    ['List all', async ({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket }))],
    [`List ${prefix}`, async ({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefix }))],
  ];
}

function everything(): Attempt[] {
  const buckets = Object.entries(names.buckets);
  const files = buckets.find(([path]) => path === 'Files/Bucket')?.[1] ?? '';
  const others = buckets.filter(([, bucket]) => bucket !== files);
  const [SecretId = ''] = Object.values(names.secrets);
  return [
    ...Object.entries(names.queues).flatMap(onQueue),
    ...Object.entries(names.tables).flatMap(onTable),
    ...['uploads/', 'prepared/', 'results/', 'set-apart/', 'elsewhere/'].flatMap((prefix) => onPrefix(files, prefix)),
    ...others.flatMap(([path, bucket]) => onPrefix(bucket, `${path}/`)),
    ['GetSecret', async ({ secrets }) => secrets.send(new GetSecretValueCommand({ SecretId }))],
    ['PutSecret', async ({ secrets }) => secrets.send(new PutSecretValueCommand({ SecretId, SecretString: '{}' }))],
    ...Object.entries(names.functions).map(([path, FunctionName]): Attempt => [
      `Invoke ${path}`,
      async ({ lambda }) => lambda.send(new InvokeCommand({ FunctionName, InvocationType: 'DryRun' })),
    ]),
  ];
}

const denialsOf = ({ physicalId }: DeployedResource): number =>
  cloud.denials().filter(({ functionName }) => functionName === physicalId).length;

/** Names of the attempts that were not denied, whatever else became of them. */
async function reachOf(fn: DeployedResource): Promise<string[]> {
  const clients = clientsOf(fn);
  const reached: string[] = [];
  try {
    for (const [name, run] of everything()) {
      const before = denialsOf(fn);
      await run(clients).catch(() => undefined);
      if (denialsOf(fn) === before) reached.push(name);
    }
  } finally {
    for (const client of Object.values(clients)) client.destroy();
  }
  return reached;
}

describe('a function that somebody broke into', () => {
  const reached = new Map<string, string[]>();
  beforeAll(async () => {
    // The CDK's own functions have no variables: they empty buckets when a stage is destroyed.
    const functions = cloud.byType('AWS::Lambda::Function').filter(({ properties }) => 'Environment' in properties);
    await Promise.all(functions.map(async (fn) => reached.set(nameOf(fn), await reachOf(fn))));
  });

  test('is one of eleven, and tries more than a hundred things', () => {
    expect([...reached.keys()].toSorted()).toEqual(Object.keys(REACHES).toSorted());
    expect(everything().length).toBeGreaterThan(100);
  });

  test.each(Object.keys(REACHES))('as %s reaches this and nothing else', (name) => {
    expect(reached.get(name)?.toSorted()).toEqual([...(REACHES[name] ?? [])].toSorted());
  });

  test('publishes no alarm', async () => {
    const [topicArn = ''] = Object.values(names.topics);
    for (const { properties, physicalId } of cloud.byType('AWS::Lambda::Function')) {
      const request = { principal: roleOf(properties), functionName: physicalId };
      const { allowed } = await cloud.authorize({ ...request, action: 'sns:Publish', resource: topicArn });
      expect(allowed).toBe(false);
    }
  });

  /** Functions that reach anything of which the pattern speaks. */
  const whoReaches = (pattern: RegExp): string[] =>
    [...reached].filter(([, all]) => all.some((name) => pattern.test(name))).map(([name]) => name);

  test.each([
    ['the credentials of the providers', /Secret/, ['worker bulk', 'worker small']],
    ['an API key, even only to read one', /Tenants key#/, ['authorizer']],
    ['a way to make an API key', /(?:Put|Update|Delete|BatchWrite) Tenants key#/, []],
    ['a way to replace an upload', /(?:PutObject|CreateMultipart|DeleteObject) uploads\//, []],
    ['a way to add an upload', /PutObject once uploads\//, ['submit']],
    ['results', /results\//, ['finalizer', 'status']],
    ['a way to write results', /(?:Put|Delete|Create|Abort)\w* (?:once )?results\//, ['finalizer']],
    [
      'uploads, but for those that read or take files',
      / uploads\//,
      ['fan-out', 'finalizer', 'prepare', 'preview', 'reconciler', 'redrive', 'status', 'submit'],
    ],
    [
      'a way to write what is read instead of uploads',
      /(?:Put|Delete|Create|Abort)\w* (?:once )?prepared\//,
      ['prepare'],
    ],
    ['a list of a whole bucket, or anything elsewhere', /List all|elsewhere|AccessLogs/, []],
    ['a list of results', /List results\//, ['finalizer', 'status']],
    ['other functions', /Invoke/, []],
    ['all items of a table', /Scan/, ['redrive']],
    ['deletion of rows', /Delete (?:Submissions|Records|Providers|Tenants)/, []],
    ['purging', /Purge/, []],
  ])('%s: %s', (_what, pattern, expected) => {
    expect(whoReaches(pattern).toSorted()).toEqual(expected);
  });

  test('as status writes nothing at all', () => {
    expect(reached.get('status')?.filter((name) => !/^(?:Get|BatchGet|Query|GetObject|List) /.test(name))).toEqual([]);
  });

  test.each([
    [SMALL, 'worker small'],
    [BULK, 'worker bulk'],
    [FAN_OUT, 'fan-out'],
    [PREPARE, 'prepare'],
    [FINALIZE, 'finalizer'],
  ])('takes nothing out of %s but as %s', (queue, owner) => {
    expect(whoReaches(new RegExp(`^(?:Receive|Delete|ChangeVisibility) ${queue}$`))).toEqual([owner]);
  });
});
