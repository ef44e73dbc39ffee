import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { createIdempotencyStore } from '../../../lambdas/adapters/dynamodb/idempotency-store.ts';
import { InProgressError, KeyReusedError, type IdempotencyStore } from '../../../lambdas/domain/api/ports.ts';
import { DependencyUnavailableError } from '../../../lambdas/domain/errors.ts';
import { startTables, type TestTables } from '../../contracts/tables.ts';

let tables: TestTables;
beforeAll(async () => {
  tables = await startTables();
});
afterAll(async () => tables.stop());

const REQUEST = { tenantId: 'acme', idempotencyKey: 'k', requestHash: 'a'.repeat(64) };
const budget = { remainingMs: () => 20_000 };

let serial = 0;

async function setUp() {
  const table = `idempotency-${++serial}`;
  await tables.client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    }),
  );
  const memory = createIdempotencyStore(tables.client, table, 3_600);
  const items = async () => (await tables.client.send(new ScanCommand({ TableName: table }))).Items ?? [];
  return { table, memory, items };
}

/** Holds the first request open until it is told to end. */
function held(memory: IdempotencyStore, remainingMs = 20_000) {
  let end: (answer: string) => void = () => undefined;
  let started: () => void = () => undefined;
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const answered = memory.once(REQUEST, { remainingMs: () => remainingMs }, async () => {
    started();
    return new Promise<string>((resolve) => {
      end = resolve;
    });
  });
  return { running, answered, end: (answer: string) => end(answer) };
}

test('an answer is made once and given again', async () => {
  const { memory } = await setUp();
  let made = 0;
  const answer = async (): Promise<string> => `answer ${++made}`;
  expect(await memory.once(REQUEST, budget, answer)).toBe('answer 1');
  expect(await memory.once(REQUEST, budget, answer)).toBe('answer 1');
  expect(made).toBe(1);
});

test('another request with the key is refused', async () => {
  const { memory } = await setUp();
  await memory.once(REQUEST, budget, async () => 'first');
  const other = { ...REQUEST, requestHash: 'b'.repeat(64) };
  await expect(memory.once(other, budget, async () => 'second')).rejects.toThrow(KeyReusedError);
});

test('tenants do not share keys', async () => {
  const { memory } = await setUp();
  await memory.once(REQUEST, budget, async () => 'first');
  expect(await memory.once({ ...REQUEST, tenantId: 'globex' }, budget, async () => 'second')).toBe('second');
  // Neither do two that could be read as one.
  const ambiguous = { ...REQUEST, tenantId: 'acm', idempotencyKey: 'ek' };
  expect(await memory.once(ambiguous, budget, async () => 'third')).toBe('third');
});

test('what is refused is forgotten', async () => {
  const { memory, items } = await setUp();
  const refuse = async (): Promise<string> => {
    throw new RangeError('refused');
  };
  await expect(memory.once(REQUEST, budget, refuse)).rejects.toThrow(RangeError);
  expect(await items()).toEqual([]);
  await expect(memory.once(REQUEST, budget, refuse)).rejects.toThrow(RangeError);
  expect(await memory.once({ ...REQUEST, requestHash: 'b'.repeat(64) }, budget, async () => 'taken')).toBe('taken');
});

test('what is refused is tried again when the same request is sent again', async () => {
  const { memory } = await setUp();
  const refuse = async (): Promise<string> => {
    throw new RangeError('refused');
  };
  await expect(memory.once(REQUEST, budget, refuse)).rejects.toThrow(RangeError);
  expect(await memory.once(REQUEST, budget, async () => 'taken')).toBe('taken');
});

test('while it is under way, another request is refused for that, and the same one told so', async () => {
  const { memory } = await setUp();
  const first = held(memory);
  await first.running;
  const other = { ...REQUEST, requestHash: 'b'.repeat(64) };
  await expect(memory.once(other, budget, async () => 'second')).rejects.toThrow(KeyReusedError);
  await expect(memory.once(REQUEST, budget, async () => 'second')).rejects.toThrow(InProgressError);
  first.end('first');
  expect(await first.answered).toBe('first');
  expect(await memory.once(REQUEST, budget, async () => 'second')).toBe('first');
});

test('a request whose invocation is over holds nobody up', async () => {
  const { memory } = await setUp();
  // It has a millisecond left and never answers.
  await held(memory, 1).running;
  expect(await untilFree(memory)).toBe('second');
});

/** The time of the first invocation is the machine's: asked until it is over. */
async function untilFree(memory: IdempotencyStore): Promise<string> {
  for (;;) {
    try {
      return await memory.once(REQUEST, budget, async () => 'second');
    } catch (error) {
      if (!(error instanceof InProgressError)) throw error;
    }
  }
}

test('neither keys nor requests are stored readably, and everything expires', async () => {
  const { memory, items } = await setUp();
  await memory.once({ ...REQUEST, idempotencyKey: 'MARKER' }, budget, async () => 'answer');
  const [item] = await items();
  expect(item).toMatchObject({ status: 'COMPLETED', data: 'answer', expiration: expect.any(Number) });
  expect(JSON.stringify(item)).not.toContain('MARKER');
  expect(JSON.stringify(item)).not.toContain(REQUEST.requestHash);
});

test('a table that does not work is a dependency that fails', async () => {
  const memory = createIdempotencyStore(tables.client, 'missing', 3_600);
  await expect(memory.once(REQUEST, budget, async () => 'answer')).rejects.toThrow(DependencyUnavailableError);
});
