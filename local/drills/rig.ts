import { SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { createDynamoClient, createSqsClient } from '../../lambdas/adapters/clients.ts';
import { createRecordStore } from '../../lambdas/adapters/dynamodb/record-store.ts';
import { createSubmissionStore } from '../../lambdas/adapters/dynamodb/submission-store.ts';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import { CLOSED_STATES } from '../../lambdas/domain/model.ts';
import type { RecordStore } from '../../lambdas/domain/records/ports.ts';
import type { SubmissionStore } from '../../lambdas/domain/submissions/ports.ts';
import { systemClock } from '../../lambdas/runtime/clock.ts';
import { ApiClient } from '../demo/client.ts';
import { writeGeneratedFile } from '../demo/generate.ts';
import { startLocal, type LocalOptions, type LocalSluice } from '../start.ts';
import { waitFor } from './wait.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

/** What a record that crashed its worker waits until it is delivered again: in an account six times the function's timeout. */
const SHORT_VISIBILITY_SECONDS = 4;
/** Silence after which a message counts as lost; in an account ten minutes. */
const LOST_AFTER_SECONDS = 5;

const outputsSchema = v.object({ SubmissionsTableName: v.string(), RecordsTableName: v.string() });

/** A local cloud and what a drill needs to disturb it and to look into it. */
export interface Rig {
  readonly sluice: LocalSluice;
  readonly client: ApiClient;
  readonly submissions: SubmissionStore;
  readonly records: RecordStore;
  /** With the operator's credentials. */
  readonly sqs: SQSClient;
  stop(): Promise<void>;
}

/** Starts a local cloud in which lost messages are noticed within seconds, and the reconciler runs when it is told to. */
export async function startRig(options: LocalOptions = {}): Promise<Rig> {
  const sluice = await startLocal({
    schedules: 'manual',
    variables: {
      LOST_AFTER_SECONDS: String(LOST_AFTER_SECONDS),
      LANE_VISIBILITY_SECONDS: String(SHORT_VISIBILITY_SECONDS),
    },
    ...options,
  });
  const { awsEndpoint: endpoint, region, operatorCredentials, outputs } = sluice.cloud;
  const access = { endpoint, region, credentials: { ...operatorCredentials } };
  const dynamo: DynamoDBDocumentClient = createDynamoClient(access);
  const sqs = createSqsClient({ ...access, useQueueUrlAsEndpoint: false });
  const tables = v.parse(outputsSchema, Object.assign({}, ...Object.values(outputs)));
  return {
    sluice,
    client: new ApiClient(sluice.apiUrl, sluice.tenants[0]?.apiKey ?? ''),
    submissions: createSubmissionStore(dynamo, tables.SubmissionsTableName, systemClock),
    records: createRecordStore(dynamo, tables.RecordsTableName, systemClock),
    sqs,
    async stop() {
      dynamo.destroy();
      sqs.destroy();
      await sluice.stop();
    },
  };
}

/** Submits a file of generated records. */
export async function submitGenerated({ client }: Pick<Rig, 'client'>, records: number): Promise<SubmissionView> {
  const path = join(ROOT, '.local', 'drills', `records-${records}.csv`);
  await writeGeneratedFile(path, records);
  return client.submitFile(path, 'drill');
}

/** The same, compressed by gzip: it has to be prepared. */
export async function submitCompressed({ client }: Pick<Rig, 'client'>, records: number): Promise<SubmissionView> {
  const path = join(ROOT, '.local', 'drills', `records-${records}.csv`);
  await writeGeneratedFile(path, records);
  await writeFile(`${path}.gz`, gzipSync(await readFile(path)));
  return client.submitFile(`${path}.gz`, 'drill');
}

/** Submits a small file with this content, CSV. */
export async function submitText({ client }: Rig, content: string): Promise<SubmissionView> {
  const path = join(ROOT, '.local', 'drills', `${createHash('sha256').update(content).digest('hex').slice(0, 16)}.csv`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return client.submitFile(path, 'drill');
}

const finished = ({ counts }: SubmissionView): number => counts.succeeded + counts.failed + counts.cancelled;
export const isClosed = ({ state }: Pick<SubmissionView, 'state'>): boolean =>
  CLOSED_STATES.some((closed) => closed === state);

/** Waits until at least so many records have an outcome, or all of them. */
export async function untilFinished({ client }: Rig, id: string, records: number, timeoutMs: number): Promise<number> {
  return waitFor(
    async () => {
      const view = await client.submission(id);
      return finished(view) >= records || isClosed(view) ? finished(view) : undefined;
    },
    { what: `${records} outcomes of ${id}`, timeoutMs },
  );
}

/**
 * Waits until a submission is closed. Where nothing waits in any queue although it is open, something got lost: then the
 * reconciler looks at it, as it would within minutes.
 */
export async function untilClosed(rig: Rig, id: string, timeoutMs: number): Promise<SubmissionView> {
  return waitFor(
    async () => {
      const view = await rig.client.submission(id);
      if (isClosed(view)) return view;
      if (await isQuiet(rig)) await reconcileNow(rig, id);
      return undefined;
    },
    { what: `the end of ${id}`, timeoutMs, everyMs: 500 },
  );
}

/** True when every queue but the dead-letter queues is empty: nothing is visible, delayed or in flight. */
export async function isQuiet({ sluice: { cloud, resources } }: Rig): Promise<boolean> {
  const working = Object.entries(resources.queues).filter(([name]) => !isDeadLetterQueue(name));
  const depths = await Promise.all(working.map(async ([, url]) => cloud.inspect.queueDepth(url)));
  return depths.every(({ visible, inFlight, delayed }) => visible + inFlight + delayed === 0);
}

const isDeadLetterQueue = (name: string): boolean => /dlq|deadletter/i.test(name);

/** Runs the reconciler with this submission among those that are due. */
export async function reconcileNow({ sluice, submissions }: Rig, id: string): Promise<void> {
  await submissions.scheduleCheck(id, systemClock.now());
  await sluice.fireSchedule('reconciler');
}

/** URL of the queue with this path in the stacks. */
export function queueUrl({ sluice }: Rig, path: string): string {
  const url = sluice.resources.queues[path];
  if (url !== undefined) return url;
  throw new RangeError(`There is no queue ${path}; there are: ${Object.keys(sluice.resources.queues).join(', ')}.`);
}

/** Lets what a dead worker held be delivered again within seconds; call the returned function to undo it. */
export async function shortenVisibility(rig: Rig): Promise<() => Promise<void>> {
  const lanes = ['SmallLane', 'BulkLane'] as const;
  const set = async (seconds: (lane: string) => string): Promise<void> => {
    for (const lane of lanes) {
      const QueueUrl = queueUrl(rig, `${lane}/Records/Queue`);
      const Attributes = { VisibilityTimeout: seconds(lane) };
      await rig.sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
    }
  };
  const before = Object.fromEntries(lanes.map((lane) => [lane, declaredVisibility(rig, lane)]));
  await set(() => String(SHORT_VISIBILITY_SECONDS));
  return async () => set((lane) => before[lane] ?? '');
}

function declaredVisibility({ sluice: { cloud } }: Rig, lane: string): string {
  const queue = cloud.byType('AWS::SQS::Queue').find(({ path }) => path.endsWith(`/${lane}/Records/Queue/Resource`));
  return String(v.parse(v.union([v.number(), v.string()]), queue?.properties['VisibilityTimeout']));
}
