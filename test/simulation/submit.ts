import { AcceptedSchemas } from '../../lambdas/domain/submissions/schemas.ts';
import { resolveProfile } from '../../lambdas/domain/profiles/profile.ts';
import recordSchema from '../../config/record.schema.json' with { type: 'json' };
import { READER_VERSION, TERMS_OF_0_1_0 } from '../../lambdas/domain/submissions/terms.ts';
import { encodeBody, MESSAGE_VERSION } from '../../lambdas/domain/queues/messages.ts';
import type { MemoryWorld } from '../support/memory/index.ts';
import { makeSubmission } from '../support/factories.ts';
import { fileOf, isMapped, MAX_RECORD_BYTES } from './files.ts';
import { DEADLINE_MS, SCHEMAS } from './functions.ts';
import type { SubmissionPlan } from './plan.ts';

const ACCEPTED = new AcceptedSchemas({ keepSchemas: async () => undefined, getSchemas: async () => SCHEMAS }, SCHEMAS);

const { mapping: MAPPING } = resolveProfile({}, recordSchema);

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 30;

export const submissionIdOf = ({ index }: Pick<SubmissionPlan, 'index'>): string => `sub_${index}`;

/** What the API does when it accepts a submission, and when it dies doing so: the submission is stored before anything else. */
export async function accept(world: MemoryWorld, plan: SubmissionPlan, nowMs: number): Promise<void> {
  const { tenantId, file, diesAccepting } = plan;
  const submissionId = submissionIdOf(plan);
  const key = `uploads/${tenantId}/${submissionId}`;
  const submission = makeSubmission({
    submissionId,
    tenantId,
    source: { key, ...world.objects.seed(key, fileOf(plan)) },
    terms: {
      ...TERMS_OF_0_1_0,
      ...(isMapped(plan) && { readerVersion: READER_VERSION, mapping: MAPPING }),
      maxRecordBytes: MAX_RECORD_BYTES,
      providers: ['company', 'geo'],
      schemas: ACCEPTED.hash,
    },
    callbackUrl: 'https://hooks.example/ended',
    format: file === 'ndjson' ? 'ndjson' : 'csv',
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    progressAtMs: nowMs,
    deadlineAtMs: nowMs + DEADLINE_MS,
    nextCheckAtMs: nowMs + 60_000,
    expiresAtSeconds: Math.floor((nowMs + RETENTION_DAYS * DAY_MS) / 1_000),
  });
  await world.submissions.keepSchemas(ACCEPTED.hash, SCHEMAS);
  await world.submissions.create(submission);
  if (diesAccepting === 'before_send') return;
  await world.admission.setOpenWork(tenantId, { submissionId, records: plan.kinds.length });
  await world.queues.live.fanOut.send([
    { body: encodeBody({ v: MESSAGE_VERSION, submissionId, tenantId }), group: tenantId },
  ]);
  if (diesAccepting === 'before_mark') return;
  await world.submissions.markRelayed(submissionId);
}
