import { once } from 'node:events';
import { CreateTableCommand, DynamoDBClient, type CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import { DOCUMENT_OPTIONS } from '../../lambdas/adapters/clients.ts';
import { createAdmissionStore } from '../../lambdas/adapters/admission-store.ts';
import { createLedgerStore } from '../../lambdas/adapters/ledger-store.ts';
import { createProviderStore } from '../../lambdas/adapters/provider-store.ts';
import { createRecordStore } from '../../lambdas/adapters/record-store.ts';
import { createSubmissionStore } from '../../lambdas/adapters/submission-store.ts';
import { createTestClock } from '../support/memory/index.ts';
import type { StoreWorld } from './world.ts';

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
const TABLES: Record<'submissions' | 'records' | 'providers' | 'tenants', Table> = {
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
  tenants: { KeySchema: [hash('pk')], AttributeDefinitions: [text('pk')] },
};

export interface TestTables {
  client: DynamoDBDocumentClient;
  /** Stores on new, empty tables. */
  world(): Promise<StoreWorld>;
  /** A new, empty table; its name. */
  create(table: keyof typeof TABLES): Promise<string>;
  stop(): Promise<void>;
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

  const create = async (table: keyof typeof TABLES): Promise<string> => {
    const TableName = `${table}-${++serial}`;
    await base.send(new CreateTableCommand({ TableName, BillingMode: 'PAY_PER_REQUEST', ...TABLES[table] }));
    return TableName;
  };

  const world = async (): Promise<StoreWorld> => {
    const clock = createTestClock();
    const submissions = await create('submissions');
    return {
      clock,
      submissions: createSubmissionStore(client, submissions, clock),
      ledger: createLedgerStore(client, submissions, clock),
      records: createRecordStore(client, await create('records'), clock),
      providers: createProviderStore(client, await create('providers'), clock),
      admission: createAdmissionStore(client, await create('tenants'), clock),
    };
  };

  const stop = async (): Promise<void> => {
    base.destroy();
    await new Promise<void>((resolve, reject) => {
      server.close((error?: Error) => (error === undefined || error === null ? resolve() : reject(error)));
    });
  };
  return { client, world, create, stop };
}
