import * as v from 'valibot';
import { isOpen, LANES, SUBMISSION_STATES, type Submission, type SubmissionState } from '../../domain/model.ts';
import { isCode, openPicklist, UnsupportedVersionError } from '../../domain/versions.ts';
import { PREPARED_KINDS } from '../../domain/prepare/ports.ts';
import {
  requireKnownSteps,
  storedDialectSchema,
  storedMappingSchema,
  storedReadingSchema,
  storedResultsSchema,
} from '../../domain/profiles/stored.ts';
import { TERMS_OF_0_1_0 } from '../../domain/submissions/terms.ts';
import { numberSet, parseItem, type Item, type Key } from './dynamo.ts';

/** Sort keys of the submissions table. */
export const HEAD_PART = 'head';
export const LEDGER_PREFIX = 'ledger#';

export const BY_TENANT_INDEX = 'byTenant';
export const OPEN_INDEX = 'open';

/** The sparse index of open submissions is spread over this many keys, so that it is no single partition. */
const OPEN_SHARDS = 4;
export const OPEN_SHARD_KEYS: readonly string[] = Array.from({ length: OPEN_SHARDS }, (_, shard) => `open#${shard}`);

export const headKey = (submissionId: string): Key => ({ submissionId, part: HEAD_PART });

/** Always the same shard for a submission: the sum of its characters is spread well enough over four. */
export function openShardOf(submissionId: string): string {
  let sum = 0;
  for (const character of submissionId) sum += character.charCodeAt(0);
  return `open#${sum % OPEN_SHARDS}`;
}

/**
 * A lease that its owner gave up ends at this time, and the owner stays in the item: a release that is repeated because its
 * answer was lost finds its own name. Callers of the port see no lease then.
 */
export const GIVEN_UP_MS = 0;

const FORMATS = ['csv', 'ndjson', 'json'] as const;

/** A code in a place where nothing can go for one that is not known. */
function refuseUnknown(what: string, item: Item, attribute: string, known: readonly string[]): void {
  const value = item[attribute];
  if (isCode(value) && !known.some((code) => code === value))
    throw new UnsupportedVersionError(`The stored ${what}`, `has an unknown ${attribute}: ${value}`);
}

const lease = { leaseOwner: v.exactOptional(v.string()), leaseUntilMs: v.exactOptional(v.number()) };

/** Whatever a newer version stops work for, it is to stop: nothing was tried for the records that are left. */
const stopKind = v.pipe(
  openPicklist(['cancelled', 'expired']),
  v.transform((kind): 'cancelled' | 'expired' => (kind === 'expired' ? 'expired' : 'cancelled')),
);

const sourceSchema = v.object({ key: v.string(), etag: v.string(), sizeBytes: v.number() });

const headSchema = v.object({
  submissionId: v.string(),
  tenantId: v.string(),
  state: openPicklist(SUBMISSION_STATES),
  rejection: v.exactOptional(v.object({ code: v.string(), detail: v.string() })),
  lane: v.exactOptional(v.picklist(LANES)),
  terms: v.optional(
    v.object({
      maxRecordBytes: v.number(),
      maxRecords: v.number(),
      readerVersion: v.number(),
      providers: v.exactOptional(v.array(v.string())),
      schemas: v.exactOptional(v.string()),
      maxFileBytes: v.exactOptional(v.number()),
      reading: v.exactOptional(storedReadingSchema),
      mapping: v.exactOptional(storedMappingSchema),
      results: v.exactOptional(storedResultsSchema),
    }),
    TERMS_OF_0_1_0,
  ),
  source: sourceSchema,
  prepared: v.exactOptional(
    v.object({
      source: sourceSchema,
      format: v.picklist(FORMATS),
      from: v.object({
        kind: openPicklist(PREPARED_KINDS),
        member: v.exactOptional(v.string()),
        sheet: v.exactOptional(v.string()),
        charset: v.exactOptional(v.string()),
      }),
    }),
  ),
  format: v.picklist(FORMATS),
  fileName: v.exactOptional(v.string()),
  expectedRecords: v.exactOptional(v.number()),
  reference: v.exactOptional(v.string()),
  callbackUrl: v.exactOptional(v.string()),
  requestHash: v.string(),
  contentHash: v.exactOptional(v.string()),
  fanOut: v.object({
    done: v.boolean(),
    byteOffset: v.number(),
    records: v.number(),
    line: v.number(),
    dialect: v.exactOptional(storedDialectSchema),
    ...lease,
  }),
  closedChunks: numberSet,
  stop: v.exactOptional(v.object({ kind: stopKind, atMs: v.number() })),
  stoppedGeneration: v.exactOptional(v.number()),
  givenUpGeneration: v.exactOptional(v.number()),
  outboxPending: v.boolean(),
  generation: v.number(),
  resultsVersion: v.number(),
  finalize: v.exactOptional(v.object({ nextPart: v.number(), partAtMs: v.exactOptional(v.number()), ...lease })),
  finalCounts: v.exactOptional(
    v.object({
      total: v.nullable(v.number()),
      pending: v.number(),
      succeeded: v.number(),
      failed: v.number(),
      cancelled: v.number(),
      failures: v.exactOptional(v.record(v.string(), v.number())),
    }),
  ),
  createdAtMs: v.number(),
  updatedAtMs: v.number(),
  progressAtMs: v.number(),
  deadlineAtMs: v.number(),
  nextCheckAtMs: v.exactOptional(v.number()),
  expiresAtSeconds: v.number(),
});

const tokensSchema = v.object({ createdBy: v.exactOptional(v.string()), finalizingBy: v.exactOptional(v.string()) });

/** The head item with what the port does not show: who holds or held the leases, and who made the writes that only one may make. */
export interface StoredSubmission {
  submission: Submission;
  fanOutOwner: string | undefined;
  finalizeOwner: string | undefined;
  createdBy: string | undefined;
  finalizingBy: string | undefined;
}

interface Lease {
  leaseOwner?: string;
  leaseUntilMs?: number;
}

function withoutGivenUp<T extends Lease>(holder: T): T {
  const shown = { ...holder };
  if (shown.leaseUntilMs === GIVEN_UP_MS) {
    delete shown.leaseOwner;
    delete shown.leaseUntilMs;
  }
  return shown;
}

const isState = (state: string): state is SubmissionState => SUBMISSION_STATES.some((known) => known === state);

/** A state that is not known here is open while it is to be checked; where it is closed, nobody touches it. */
function stateOf({
  state,
  nextCheckAtMs,
}: v.InferOutput<typeof headSchema>): Pick<Submission, 'state' | 'storedState'> {
  if (isState(state)) return { state };
  return { state: nextCheckAtMs === undefined ? 'rejected' : 'processing', storedState: state };
}

/**
 * Throws UnsupportedVersionError for a head with a lane or format that is not known here, and InvalidDataError when the item is not a
 * submission's head.
 */
export function parseHead(item: Item): StoredSubmission {
  const what = `head of submission ${String(item['submissionId'])}`;
  refuseUnknown(what, item, 'lane', LANES);
  refuseUnknown(what, item, 'format', FORMATS);
  requireKnownSteps(`The stored ${what}`, item);
  const meta = parseItem(headSchema, item, what);
  const { createdBy, finalizingBy } = parseItem(tokensSchema, item, `head of submission ${meta.submissionId}`);
  const submission: Submission = { ...meta, ...stateOf(meta), fanOut: withoutGivenUp(meta.fanOut) };
  if (meta.finalize !== undefined) submission.finalize = withoutGivenUp(meta.finalize);
  return {
    submission,
    fanOutOwner: meta.fanOut.leaseOwner,
    finalizeOwner: meta.finalize?.leaseOwner,
    createdBy,
    finalizingBy,
  };
}

/** The head item of a new submission. `createdBy` recognises a creation whose answer was lost. */
export function headItem(submission: Submission, createdBy: string): Item {
  const { closedChunks, ...rest } = submission;
  return {
    ...rest,
    part: HEAD_PART,
    createdBy,
    ...(closedChunks.size > 0 ? { closedChunks: new Set(closedChunks) } : {}),
    ...(isOpen(submission.state) && submission.nextCheckAtMs !== undefined
      ? { openShard: openShardOf(submission.submissionId) }
      : {}),
  };
}
