import { admit, countRecords, estimateRecords, type AdmissionLimits } from '../tenants/admission.ts';
import { isPassingFailure } from '../errors.ts';
import { encodeBody, MESSAGE_VERSION, type FanOutMessage } from '../queues/messages.ts';
import { isOpen, type Submission } from '../model.ts';
import type { AdmissionStore, Backlog, OpenWork } from '../tenants/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import { notSent } from '../queues/not-sent.ts';
import type { QueueSender } from '../queues/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { AcceptedSchemas } from '../submissions/schemas.ts';
import { READER_VERSION } from '../submissions/terms.ts';
import type { Telemetry } from '../telemetry.ts';
import type { Clock, Random } from '../time.ts';
import { grantedPace, type PaceSettings } from './estimate.ts';
import type { ProfileStore } from '../profiles/ports.ts';
import type { ResolvedProfile } from '../profiles/profile.ts';
import { findSource, firstBytes, keepSource, type FoundSource } from './file-source.ts';
import { keyReused } from './idempotency-key.ts';
import { ProblemError } from './problems.ts';
import { findGivenProfile, resolveFor } from './profiles.ts';
import { contentHashOf, formatOf, type SubmissionRequest } from './submission-request.ts';

export interface AcceptSettings extends PaceSettings {
  maxFileBytes: number;
  maxRecords: number;
  maxRecordBytes: number;
  /** Names of the providers that the records are asked at. */
  providers: readonly string[];
  admission: AdmissionLimits;
  retentionDays: number;
  deadlineHours: number;
}

export interface AcceptDeps {
  submissions: SubmissionStore;
  admission: AdmissionStore;
  objects: ObjectStore;
  fanOutQueue: QueueSender;
  schemas: AcceptedSchemas;
  profiles: ProfileStore;
  telemetry: Telemetry;
  clock: Clock;
  random: Random;
  settings: AcceptSettings;
}

const DAY_MS = 86_400_000;
/** The reconciler looks at a new submission for the first time after this. */
const FIRST_CHECK_MS = 60_000;
export interface Accepted {
  submission: Submission;
  /** The snapshot that admission went by. */
  backlog: Backlog | undefined;
  /** True when it was there before: the request is a repetition. */
  repeated: boolean;
  /** What the tenant has open, this submission included where it is new. */
  open: readonly OpenWork[];
}

/**
 * Takes a submission on: source checked, admission granted, head item written with its outbox mark, fan-out asked for. A caller
 * that repeats it with the same id gets the submission that stands.
 *
 * @param mayStand - whether the id is derived, so that the submission may be there already
 * @throws ProblemError for what is refused, DependencyUnavailableError when nothing is known to be accepted.
 */
export async function acceptSubmission(
  deps: AcceptDeps,
  { tenantId, submissionId, mayStand }: { tenantId: string; submissionId: string; mayStand: boolean },
  request: SubmissionRequest,
): Promise<Accepted> {
  const { submissions, admission } = deps;
  const [standing, source, open, backlog] = await Promise.all([
    mayStand ? submissions.get(submissionId) : undefined,
    settled(findSource(deps, tenantId, submissionId, request)),
    admission.openWork(tenantId),
    admission.backlog(),
  ]);
  // What stands is answered whatever became of its file and of the limits since.
  if (standing)
    return { submission: await repeatAcceptance(deps, standing, request, source), backlog, repeated: true, open };
  const found = await source();
  const profile = resolveFor(deps.schemas, await findGivenProfile(deps, tenantId, request.profile), ['profile']);
  const records = await mustBeAdmitted(deps, { tenantId, open, backlog }, found, request);
  const [kept] = await Promise.all([keepSource(deps, found, request), deps.schemas.keep()]);
  const { format: said = profile.format } = request;
  const format = formatOf({ ...request, ...(said && { format: said }) }, await firstBytes(deps.objects, kept));
  const { created, stored } = await submissions.create(
    newSubmission(deps, { submissionId, tenantId, source: kept, format, ...sameAs(request, found) }, request, profile),
  );
  if (!created)
    return { submission: await repeatAcceptance(deps, stored, request, source), backlog, repeated: true, open };
  // Before the message: afterwards it might be written when the submission has already ended.
  await attempt(deps, stored, async () => admission.setOpenWork(tenantId, { submissionId, records }));
  deps.telemetry.emit({ name: 'submission_accepted', level: 'info', submissionId, tenantId, count: records });
  const openNow = [...open, { submissionId, records }];
  return { submission: await relay(deps, stored), backlog, repeated: false, open: openNow };
}

/** Waits for the end of a promise, whichever it is, and gives it out later. */
async function settled<T>(promise: Promise<T>): Promise<() => Promise<T>> {
  await Promise.allSettled([promise]);
  return async () => promise;
}

/** Estimated records of the file. Throws ProblemError when it is not taken on now. */
async function mustBeAdmitted(
  { settings, clock, admission, telemetry }: AcceptDeps,
  { tenantId, open, backlog }: { tenantId: string; open: readonly OpenWork[]; backlog: Backlog | undefined },
  { sizeBytes }: FoundSource,
  { expectedRecords, file }: SubmissionRequest,
): Promise<number> {
  const { maxRecords, admission: limits } = settings;
  const pacePerSecond = grantedPace(settings.pacePerSecond, backlog);
  if (expectedRecords !== undefined && expectedRecords > maxRecords) {
    throw new ProblemError(
      'too_many_records',
      `A file has at most ${maxRecords} records; ${expectedRecords} are expected. Split it and submit the parts.`,
    );
  }
  const records =
    file.kind === 'direct'
      ? Math.min(maxRecords, Math.max(countRecords(file.body), expectedRecords ?? 0))
      : estimateRecords(sizeBytes, expectedRecords, maxRecords);
  const decision = admit({ open, backlog, records, limits, pacePerSecond, nowMs: clock.now() });
  if (decision.admitted) return records;
  const { code, detail, retryAfterSeconds } = decision;
  // What counts as open may have ended before the reconciler ever saw it: nothing else would correct it for this tenant.
  if (code !== 'system_busy') await recountSoon({ admission, telemetry }, tenantId);
  throw new ProblemError(code, detail, { retryAfterSeconds });
}

/** The refusal stands whether or not this is noted: the next one notes it again. */
async function recountSoon(
  { admission, telemetry }: Pick<AcceptDeps, 'admission' | 'telemetry'>,
  tenantId: string,
): Promise<void> {
  try {
    await admission.recountSoon(tenantId);
  } catch (error) {
    if (!isPassingFailure(error)) throw error;
    telemetry.emit({ name: 'unexpected_error', level: 'warn', tenantId, error });
  }
}

/**
 * Answers a repetition with the submission that stands, and does what may have been left undone.
 *
 * @param source - The file of the repetition: the same bytes under another upload id are the same request
 * @throws ProblemError `idempotency_key_reused` when it stands for another request.
 */
export async function repeatAcceptance(
  deps: AcceptDeps,
  stored: Submission,
  request: SubmissionRequest,
  source: () => Promise<FoundSource>,
): Promise<Submission> {
  const isSame = stored.requestHash === request.requestHash || (await hasSameContent(stored, request, source));
  if (!isSame) throw keyReused();
  return stored.outboxPending && isOpen(stored.state) ? relay(deps, stored) : stored;
}

async function hasSameContent(
  { contentHash }: Submission,
  request: SubmissionRequest,
  source: () => Promise<FoundSource>,
): Promise<boolean> {
  if (contentHash === undefined || request.file.kind !== 'upload') return false;
  try {
    return contentHashOf(request, await source()) === contentHash;
  } catch (error) {
    // A file that could not be submitted is not the one that was.
    if (error instanceof ProblemError) return false;
    throw error;
  }
}

function sameAs(request: SubmissionRequest, found: FoundSource): Pick<Submission, 'contentHash'> {
  const contentHash = contentHashOf(request, found);
  return contentHash === undefined ? {} : { contentHash };
}

/** Sends the fan-out message. The submission is accepted either way: while the outbox mark stands, the reconciler sends it. */
export async function relay(deps: AcceptDeps, submission: Submission): Promise<Submission> {
  const { submissionId, tenantId } = submission;
  const message: FanOutMessage = { v: MESSAGE_VERSION, submissionId, tenantId };
  const isRelayed = await attempt(deps, submission, async () => {
    const [failure] = await deps.fanOutQueue.send([{ body: encodeBody(message), group: tenantId }]);
    if (failure) throw notSent('The fan-out message was', failure);
    await deps.submissions.markRelayed(submissionId);
  });
  return isRelayed ? { ...submission, outboxPending: false } : submission;
}

/** Does what somebody else makes up for when it fails. */
async function attempt(
  { telemetry }: AcceptDeps,
  { submissionId, tenantId }: Submission,
  step: () => Promise<void>,
): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    if (!isPassingFailure(error)) throw error;
    telemetry.emit({
      name: 'submission_accepted',
      level: 'warn',
      submissionId,
      tenantId,
      outcome: 'left_to_reconciler',
      error,
    });
    return false;
  }
}

function newSubmission(
  { clock, settings, schemas }: AcceptDeps,
  fixed: Pick<Submission, 'submissionId' | 'tenantId' | 'source' | 'format' | 'contentHash'>,
  { charset, fileName, expectedRecords, reference, callbackUrl, requestHash }: SubmissionRequest,
  { reading: said, mapping, results }: ResolvedProfile,
): Submission {
  const nowMs = clock.now();
  const reading = { ...said, ...(charset !== undefined && { charset }) };
  return {
    ...fixed,
    state: 'accepted',
    ...(fileName !== undefined && { fileName }),
    ...(expectedRecords !== undefined && { expectedRecords }),
    ...(reference !== undefined && { reference }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    requestHash,
    terms: {
      maxRecordBytes: settings.maxRecordBytes,
      maxRecords: settings.maxRecords,
      readerVersion: READER_VERSION,
      providers: [...settings.providers],
      schemas: schemas.hash,
      maxFileBytes: settings.maxFileBytes,
      ...(Object.keys(reading).length > 0 && { reading }),
      mapping,
      ...(results && { results }),
    },
    fanOut: { done: false, byteOffset: 0, records: 0, line: 1 },
    closedChunks: new Set(),
    outboxPending: true,
    generation: 0,
    resultsVersion: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    progressAtMs: nowMs,
    deadlineAtMs: nowMs + settings.deadlineHours * 3_600_000,
    nextCheckAtMs: nowMs + FIRST_CHECK_MS,
    expiresAtSeconds: Math.floor((nowMs + settings.retentionDays * DAY_MS) / 1_000),
  };
}
