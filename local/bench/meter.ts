import { LANES } from '../../lambdas/domain/model.ts';
import type { InvocationReport, LogLine, ObservedCall } from '../cloud/index.ts';
import type { LocalSluice } from '../start.ts';

/** SQS charges a request for every begun 64 KB of its payload, https://aws.amazon.com/sqs/pricing/ */
const SQS_REQUEST_BYTES = 64 * 1024;
/** CloudWatch Logs adds so much to every event, https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html */
const LOG_EVENT_OVERHEAD_BYTES = 26;
const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);
/** Classes of S3's price list, https://aws.amazon.com/s3/pricing/ */
const S3_GETS = new Set(['GetObject', 'HeadObject']);
/** Free of charge, and no request of the pipeline. */
const CONTROL = new Set(['DescribeTable', 'DescribeTimeToLive', 'ListTables']);
const EMPTY_RECEIVE_BYTES = 64;

/** Billable operations, counted where they are made: at the AWS endpoint, the functions and their logs. */
export interface Operations {
  sqsSends: number;
  sqsDeletes: number;
  /** Receives of the event sources that brought something, and those that did not. */
  sqsReceives: number;
  sqsEmptyReceives: number;
  sqsOther: number;
  writeUnits: number;
  /** Upper bound: one unit for every index of a table whose head items were written. */
  indexWriteUnits: number;
  readUnits: number;
  s3Puts: number;
  s3Gets: number;
  otherCalls: number;
  invocations: number;
  /** Of the workers, who wait for slots most of the time, and of everything else. */
  workerGigabyteSeconds: number;
  otherGigabyteSeconds: number;
  /** Resident memory of the largest worker, as a share of its memory. */
  workerPeakShare: number;
  logBytes: number;
}

export const noOperations = (): Operations => ({
  sqsSends: 0,
  sqsDeletes: 0,
  sqsReceives: 0,
  sqsEmptyReceives: 0,
  sqsOther: 0,
  writeUnits: 0,
  indexWriteUnits: 0,
  readUnits: 0,
  s3Puts: 0,
  s3Gets: 0,
  otherCalls: 0,
  invocations: 0,
  workerGigabyteSeconds: 0,
  otherGigabyteSeconds: 0,
  workerPeakShare: 0,
  logBytes: 0,
});

/** Counts from now on, until the returned function is called: it answers what was counted. */
export function meter(sluice: LocalSluice): () => Operations {
  const { cloud, functions } = sluice;
  const counted = noOperations();
  const indexes = new Map(
    cloud.byType('AWS::DynamoDB::Table').map(({ physicalId, properties }) => {
      const declared = properties['GlobalSecondaryIndexes'];
      return [physicalId, Array.isArray(declared) ? declared.length : 0];
    }),
  );
  const workers = new Set(LANES.map((lane) => sluice.functionOf('worker', lane).name));
  const stop = [
    cloud.onCall((call) => countCall(counted, call, indexes.get(call.target ?? '') ?? 0)),
    functions.onInvocation((report) => countInvocation(counted, report, workers.has(report.functionName))),
    functions.logs.observe((line) => countLine(counted, line)),
  ];
  return () => {
    for (const end of stop) end();
    return counted;
  };
}

export function countCall(counted: Operations, call: ObservedCall, indexes: number): void {
  // The operator looks on; AWS bills what the pipeline does.
  if (call.functionName === undefined && call.service !== 's3') return;
  if (call.service === 'sqs') countSqs(counted, call);
  else if (call.service === 's3') counted[S3_GETS.has(call.operation) ? 's3Gets' : 's3Puts'] += 1;
  else if (call.service !== 'dynamodb') counted.otherCalls += 1;
  else if (!CONTROL.has(call.operation)) countDynamo(counted, call, indexes);
}

function countSqs(counted: Operations, { operation, requestBytes, responseBytes }: ObservedCall): void {
  const requests = Math.max(1, Math.ceil(Math.max(requestBytes, responseBytes) / SQS_REQUEST_BYTES));
  if (operation.startsWith('SendMessage')) counted.sqsSends += requests;
  else if (operation.startsWith('DeleteMessage')) counted.sqsDeletes += requests;
  else if (operation !== 'ReceiveMessage') counted.sqsOther += requests;
  else counted[responseBytes < EMPTY_RECEIVE_BYTES ? 'sqsEmptyReceives' : 'sqsReceives'] += requests;
}

function countDynamo(counted: Operations, call: ObservedCall, indexes: number): void {
  const units = call.capacityUnits ?? 0;
  if (READS.has(call.operation)) counted.readUnits += units;
  else {
    counted.writeUnits += units;
    if (isHead(call.input)) counted.indexWriteUnits += indexes;
  }
}

/** Of a table's items, only heads have the attributes of its indexes; see docs/architecture.md. */
const isHead = (input: unknown): boolean => JSON.stringify(input).includes('"part":{"S":"head"}');

function countInvocation(
  counted: Operations,
  { billedMs, memoryMb, peakBytes }: InvocationReport,
  isWorker: boolean,
): void {
  counted.invocations += 1;
  if (isWorker) counted.workerPeakShare = Math.max(counted.workerPeakShare, peakBytes / 1_024 ** 2 / memoryMb);
  counted[isWorker ? 'workerGigabyteSeconds' : 'otherGigabyteSeconds'] += (billedMs / 1_000) * (memoryMb / 1_024);
}

function countLine(counted: Operations, { text }: LogLine): void {
  counted.logBytes += Buffer.byteLength(text) + LOG_EVENT_OVERHEAD_BYTES;
}
