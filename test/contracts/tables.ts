import { once } from 'node:events';
import { CreateTableCommand, DynamoDBClient, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import { DOCUMENT_OPTIONS } from '../../lambdas/adapters/clients.ts';
import { createAdmissionStore } from '../../lambdas/adapters/dynamodb/admission-store.ts';
import { createLedgerStore } from '../../lambdas/adapters/dynamodb/ledger-store.ts';
import { createProviderStore } from '../../lambdas/adapters/dynamodb/provider-store.ts';
import { createRecordStore } from '../../lambdas/adapters/dynamodb/record-store.ts';
import { createSubmissionStore } from '../../lambdas/adapters/dynamodb/submission-store.ts';
import { createTestClock } from '../support/memory/index.ts';
import type { StoreWorld } from './world.ts';

type TableName = 'submissions' | 'records' | 'providers' | 'tenants' | 'webhooks';
type Table = Pick<CreateTableCommandInput, 'KeySchema' | 'AttributeDefinitions' | 'GlobalSecondaryIndexes'>;

const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' as const });
const range = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' as const });
const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
const number = (AttributeName: string) => ({ AttributeName, AttributeType: 'N' as const });
const index = (IndexName: string, partition: string, sort: string) => ({
  IndexName,
  KeySchema: [hash(partition), range(sort)],
  Projection: { ProjectionType: 'KEYS_ONLY' as const },
});

/** Keys and indexes as the data stack declares them. */
const TABLES: Record<TableName, Table> = {
  submissions: {
    KeySchema: [hash('submissionId'), range('part')],
    AttributeDefinitions: [
      text('submissionId'),
      text('part'),
      text('tenantId'),
      text('openShard'),
      number('createdAtMs'),
      number('nextCheckAtMs'),
    ],
    GlobalSecondaryIndexes: [index('byTenant', 'tenantId', 'createdAtMs'), index('open', 'openShard', 'nextCheckAtMs')],
  },
  records: {
    KeySchema: [hash('chunkKey'), range('recordNo')],
    AttributeDefinitions: [text('chunkKey'), number('recordNo')],
  },
  providers: { KeySchema: [hash('provider')], AttributeDefinitions: [text('provider')] },
  webhooks: {
    KeySchema: [hash('owner'), range('part')],
    AttributeDefinitions: [text('owner'), text('part'), number('createdAtMs')],
    GlobalSecondaryIndexes: [index('byCreation', 'owner', 'createdAtMs')],
  },
  tenants: { KeySchema: [hash('pk')], AttributeDefinitions: [text('pk')] },
};

export interface TestTables {
  client: DynamoDBDocumentClient;
  /** Stores on new, empty tables. */
  world(): Promise<StoreWorld>;
  /** A new, empty table; its name. */
  create(table: TableName): Promise<string>;
  stop(): Promise<void>;
}

/** The stores on tables that exist and are empty. */
function storesOn(client: DynamoDBDocumentClient, names: Record<Exclude<TableName, 'webhooks'>, string>): StoreWorld {
  const clock = createTestClock();
  return {
    clock,
    submissions: createSubmissionStore(client, names.submissions, clock),
    ledger: createLedgerStore(client, names.submissions, clock),
    records: createRecordStore(client, names.records, clock),
    providers: createProviderStore(client, names.providers, clock),
    admission: createAdmissionStore(client, names.tenants, clock),
  };
}

/** An emulator of DynamoDB in this process. */
export async function startTables(): Promise<TestTables> {
  const server = dynalite({ createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const base = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const client = DynamoDBDocumentClient.from(base, DOCUMENT_OPTIONS);
  let serial = 0;

  const create = async (table: TableName): Promise<string> => {
    const TableName = `${table}-${++serial}`;
    await base.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...TABLES[table] }));
    return TableName;
  };

  const world = async (): Promise<StoreWorld> =>
    storesOn(client, {
      submissions: await create('submissions'),
      records: await create('records'),
      providers: await create('providers'),
      tenants: await create('tenants'),
    });

  const stop = async (): Promise<void> => {
    base.destroy();
    await new Promise<void>((resolve, reject) => {
      server.close((error?: Error) => (error === undefined || error === null ? resolve() : reject(error)));
    });
  };
  return { client, world, create, stop };
}
