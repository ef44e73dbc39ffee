import type { DeployedResource, JsonObject } from '../../contract.ts';
import type { Call } from '../front/call.ts';
import { AwsError, jsonReply, type Reply } from '../front/errors.ts';
import type { Check, Gate } from '../front/gate.ts';
import type { Service } from '../front/service.ts';
import type { BufferedAnswer, BufferedUpstream } from '../front/thread-upstream.ts';
import { forwarded } from '../front/upstream.ts';
import { isRecord, textOf } from '../shapes.ts';
import { leadingKeysOf } from './leading-keys.ts';

const CONTENT_TYPE = 'application/x-amz-json-1.0';
const TARGET_PREFIX = 'DynamoDB_20120810.';

/** Operations on one table, on several, and on none; tables themselves come from the templates. */
const SINGLE = new Set([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'DescribeTable',
  'DescribeTimeToLive',
]);
const BATCH = new Set(['BatchGetItem', 'BatchWriteItem']);

/** DynamoDB: the emulator's tables, with what it leaves out of answers. */
export class DynamoDbService implements Service {
  readonly name = 'dynamodb';
  readonly buffersBody = true;
  readonly #gate: Gate;
  readonly #emulator: BufferedUpstream;
  readonly #tables: ReadonlyMap<string, DeployedResource>;
  readonly #metersCapacity: boolean;

  constructor(
    gate: Gate,
    emulator: BufferedUpstream,
    tables: readonly DeployedResource[],
    { metersCapacity }: { readonly metersCapacity: boolean } = { metersCapacity: false },
  ) {
    this.#gate = gate;
    this.#metersCapacity = metersCapacity;
    this.#emulator = emulator;
    this.#tables = new Map(tables.map((table) => [table.physicalId, table]));
  }

  async handle(call: Call): Promise<Reply> {
    call.operation = (call.header('x-amz-target') ?? '').replace(TARGET_PREFIX, '');
    const input = call.readJson();
    await this.#gate.pass(call, this.#checks(call, input));
    if (call.operation === 'DescribeTimeToLive') return this.#timeToLive(tableNameOf(input['TableName']));
    const body = this.#metersCapacity ? asking(call, input) : call.body;
    const answer = await this.#emulator.send('POST', '/', forwarded(call.headers), body);
    if (this.#metersCapacity) call.capacityUnits = unitsOf(answer);
    if (answer.status < 400) return reply(answer.status, answer.headers, answer.body);
    return this.#failed(call, input, answer);
  }

  #checks(call: Call, input: Record<string, unknown>): Check[] {
    const action = `dynamodb:${call.operation}`;
    if (call.operation === 'ListTables') return [{ action, resource: '*' }];
    if (SINGLE.has(call.operation)) {
      const table = this.#table(input['TableName']);
      call.target = table.physicalId;
      const index = input['IndexName'];
      const resource = typeof index === 'string' ? `${table.arn}/index/${index}` : table.arn;
      return [{ action, resource, context: leadingKeysOf(table, input) }];
    }
    if (BATCH.has(call.operation)) {
      const tables = Object.entries(isRecord(input['RequestItems']) ? input['RequestItems'] : {});
      call.target = tableNameOf(tables[0]?.[0]);
      return tables.map(([name, asked]) => {
        const table = this.#table(name);
        const request = isRecord(asked) ? asked : { Writes: asked };
        return { action, resource: table.arn, context: leadingKeysOf(table, request) };
      });
    }
    throw new AwsError(
      400,
      'UnknownOperationException',
      `The local cloud does not support ${action}: tables come from the templates, and the emulator has no transactions.`,
    );
  }

  #table(nameOrArn: unknown): DeployedResource {
    const table = this.#tables.get(tableNameOf(nameOrArn));
    if (table !== undefined) return table;
    throw new AwsError(400, 'ResourceNotFoundException', 'Requested resource not found');
  }

  /** The emulator never deletes expired items, as the service may not for days; it does not know of the attribute. */
  #timeToLive(tableName: string): Reply {
    const specification = this.#tables.get(tableName)?.properties['TimeToLiveSpecification'];
    const isEnabled = isRecord(specification) && specification['Enabled'] === true;
    const description = isEnabled
      ? { TimeToLiveStatus: 'ENABLED', AttributeName: specification['AttributeName'] }
      : { TimeToLiveStatus: 'DISABLED' };
    return jsonReply({ TimeToLiveDescription: description }, CONTENT_TYPE);
  }

  async #failed(call: Call, input: Record<string, unknown>, answer: BufferedAnswer): Promise<Reply> {
    const error: unknown = JSON.parse(answer.body.toString());
    const type = isRecord(error) ? textOf(error['__type']) : '';
    call.errorCode = type.split('#').pop();
    const wantsItem = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
    if (!isRecord(error) || call.errorCode !== 'ConditionalCheckFailedException' || !wantsItem) {
      return reply(answer.status, answer.headers, answer.body);
    }
    // Read after the fact, so it may already be newer than what the condition saw; callers must not depend on less.
    const item = await this.#read(call, input);
    return reply(answer.status, answer.headers, JSON.stringify(item === undefined ? error : { ...error, Item: item }));
  }

  async #read(call: Call, input: Record<string, unknown>): Promise<unknown> {
    const table = this.#table(input['TableName']);
    const key = isRecord(input['Key']) ? input['Key'] : keyOf(table.properties, input['Item']);
    const answer = await this.#emulator.send(
      'POST',
      '/',
      { ...forwarded(call.headers), 'x-amz-target': `${TARGET_PREFIX}GetItem` },
      JSON.stringify({ TableName: table.physicalId, Key: key, ConsistentRead: true }),
    );
    const output: unknown = JSON.parse(answer.body.toString());
    return isRecord(output) ? output['Item'] : undefined;
  }
}

/** The same request, but asking what capacity it consumes. */
function asking(call: Call, input: Record<string, unknown>): Buffer | string {
  const isAbout = SINGLE.has(call.operation) || BATCH.has(call.operation);
  if (!isAbout || call.operation.startsWith('Describe')) return call.body;
  return JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
}

/**
 * What the emulator counted by DynamoDB's rules (a write costs a unit per KB, a read half of one per 4 KB, or a whole one where it is
 * consistent). A write whose condition fails is charged as well; all items here that can fail one are below a KB.
 */
function unitsOf({ status, body }: BufferedAnswer): number | undefined {
  if (status >= 400) return /ConditionalCheckFailed/.test(body.toString()) ? 1 : 0;
  const output: unknown = JSON.parse(body.toString());
  const consumed: unknown[] = isRecord(output) ? [output['ConsumedCapacity']].flat() : [];
  return consumed.reduce<number>((sum, each) => sum + (isRecord(each) ? Number(each['CapacityUnits'] ?? 0) : 0), 0);
}

function tableNameOf(nameOrArn: unknown): string {
  return typeof nameOrArn === 'string' ? nameOrArn.replace(/^arn:[^/]*\//, '') : '';
}

function keyOf(properties: JsonObject, item: unknown): Record<string, unknown> {
  const schema = Array.isArray(properties['KeySchema']) ? properties['KeySchema'] : [];
  const names = schema.flatMap((element) => (isRecord(element) ? [textOf(element['AttributeName'])] : []));
  return Object.fromEntries(names.map((name) => [name, isRecord(item) ? item[name] : undefined]));
}

/** Without the emulator's checksum, which a changed body no longer has. */
function reply(status: number, headers: BufferedAnswer['headers'], body: Buffer | string): Reply {
  const requestId = String(headers['x-amzn-requestid'] ?? '');
  return { status, headers: { 'content-type': CONTENT_TYPE, 'x-amzn-requestid': requestId }, body };
}
