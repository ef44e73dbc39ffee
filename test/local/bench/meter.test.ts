import { countCall, noOperations, type Operations } from '../../../local/bench/meter.ts';
import { rateOf } from '../../../local/bench/calls.ts';
import { figuresOf } from '../../../local/bench/ops.ts';
import type { ObservedCall } from '../../../local/cloud/index.ts';

function counted(call: Partial<ObservedCall>, indexes = 0): Partial<Operations> {
  const operations = noOperations();
  const made: ObservedCall = {
    atMs: 0,
    durationMs: 1,
    principal: 'arn:aws:sts::1:assumed-role/worker/worker',
    functionName: 'worker',
    service: 'sqs',
    operation: 'SendMessageBatch',
    target: 'queue',
    status: 200,
    errorCode: undefined,
    requestBytes: 1_000,
    responseBytes: 200,
    input: {},
    capacityUnits: undefined,
    ...call,
  };
  countCall(operations, made, indexes);
  return Object.fromEntries(Object.entries(operations).filter(([, value]) => value !== 0));
}

describe('what AWS bills', () => {
  it.each([
    ['a request', { requestBytes: 65_536 }, { sqsSends: 1 }],
    ['a request for every begun 64 KB that is sent', { requestBytes: 65_537 }, { sqsSends: 2 }],
    ['and for what is received', { operation: 'ReceiveMessage', responseBytes: 200_000 }, { sqsReceives: 4 }],
    ['empty receives, apart', { operation: 'ReceiveMessage', responseBytes: 2 }, { sqsEmptyReceives: 1 }],
    ['deletes', { operation: 'DeleteMessageBatch' }, { sqsDeletes: 1 }],
    ['other requests', { operation: 'GetQueueAttributes' }, { sqsOther: 1 }],
  ])('of a queue: %s', (_, call, expected) => {
    expect(counted(call)).toEqual(expected);
  });

  it('of a table: units by reads and writes, and an index entry where a head is written', () => {
    const dynamodb = { service: 'dynamodb', target: 'submissions' };
    expect(counted({ ...dynamodb, operation: 'BatchGetItem', capacityUnits: 10 })).toEqual({ readUnits: 10 });
    expect(counted({ ...dynamodb, operation: 'PutItem', capacityUnits: 2, input: { Item: {} } }, 3)).toEqual({
      writeUnits: 2,
    });
    const input = { Key: { submissionId: { S: 'sub_1' }, part: { S: 'head' } } };
    expect(counted({ ...dynamodb, operation: 'UpdateItem', capacityUnits: 1, input }, 3)).toEqual({
      writeUnits: 1,
      indexWriteUnits: 3,
    });
    expect(counted({ ...dynamodb, operation: 'DescribeTable' })).toEqual({});
  });

  it('of objects: by class; the customer pays nothing for an upload, the pipeline does', () => {
    expect(counted({ service: 's3', operation: 'PutObject', functionName: undefined })).toEqual({ s3Puts: 1 });
    expect(counted({ service: 's3', operation: 'GetObject' })).toEqual({ s3Gets: 1 });
  });

  it('is not what the operator looks at', () => {
    expect(counted({ functionName: undefined })).toEqual({});
  });
});

describe('operations per succeeded record', () => {
  it('counts sends, receives and deletes together, and idle receives apart', () => {
    const figures = figuresOf(
      { ...noOperations(), sqsSends: 100, sqsReceives: 100, sqsDeletes: 110, sqsEmptyReceives: 900, writeUnits: 1_400 },
      1_000,
    );
    expect(figures.find(({ what }) => what === 'SQS requests')).toMatchObject({ value: '0.31', isMet: true });
    expect(figures.find(({ what }) => what === 'DynamoDB write units')).toMatchObject({ value: '1.4', isMet: true });
    expect(figures.find(({ what }) => what.startsWith('empty receives'))).toMatchObject({ value: '900 in all' });
  });
});

describe('a rate', () => {
  it('is that of the intervals between calls', () => {
    expect(rateOf([0, 10, 20, 30])).toBe(100);
    expect(rateOf([5])).toBe(0);
    expect(rateOf([])).toBe(0);
  });
});
