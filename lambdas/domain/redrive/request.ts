import * as v from 'valibot';
import { InvalidDataError } from '../errors.ts';
import { LANES } from '../model.ts';
import { isTenantId } from '../tenants/api-keys.ts';
import { REASON_CODES, type ReasonCode } from '../reasons.ts';
import { openPicklist } from '../versions.ts';

/** The operator asked for something that cannot be done: an answer, and no failure of the function. */
export class RedriveRequestError extends InvalidDataError {}

/** Also codes that are not in the catalogue: a newer version may have written them. */
const reasonSchema = openPicklist(REASON_CODES);
const reasonList = v.pipe(
  v.union([reasonSchema, v.pipe(v.array(reasonSchema), v.minLength(1))]),
  v.transform((reasons): readonly ReasonCode[] => (typeof reasons === 'string' ? [reasons] : reasons)),
);
const time = v.pipe(
  v.string(),
  v.check((text) => !Number.isNaN(Date.parse(text))),
  v.transform((text) => Date.parse(text)),
);
const whole = (minimum: number, maximum: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(minimum), v.maxValue(maximum));

/** Replays of one record, or of one unreadable message: what fails after them stays dead-lettered. */
export const MAX_REDRIVES = 3;
const MAX_RECORDS = 1_000_000;

const requestSchema = v.strictObject({
  mode: v.optional(v.picklist(['records', 'dead_letter_queue', 'give_up']), 'records'),
  submissionId: v.optional(v.string()),
  tenantId: v.optional(v.string()),
  reason: v.optional(reasonList),
  /** Only records that this provider has not answered. */
  provider: v.optional(v.string()),
  finishedAfter: v.optional(time),
  finishedBefore: v.optional(time),
  lane: v.optional(v.picklist(LANES)),
  dryRun: v.optional(v.boolean(), true),
  /** Also records that a replay cannot help, as the catalogue of reasons sees it. */
  force: v.optional(v.boolean(), false),
  /** Records that were replayed so often already are left alone: what is replayed by itself leaves a replay to operators. */
  maxRedrives: v.optional(whole(1, MAX_REDRIVES), MAX_REDRIVES),
  /** Records replayed, at most; or messages looked at, after which no other submission is begun. */
  limit: v.optional(whole(1, MAX_RECORDS), 100_000),
  ratePerSecond: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(100_000))),
  /** `nextCursor` of an earlier answer to the same request. */
  cursor: v.optional(v.string()),
});

/** What an operator asks for, see docs/runbook.md. Times in epoch milliseconds. */
export type RedriveRequest = v.InferOutput<typeof requestSchema>;

const FIELDS = Object.keys(requestSchema.entries);
const ALLOWED: Readonly<Record<string, string>> = {
  mode: 'records, dead_letter_queue or give_up',
  submissionId: 'the id of a submission, like sub_01J…',
  tenantId: 'the id of a tenant',
  reason: `one or a list of ${REASON_CODES.join(', ')}, or another code that records carry`,
  provider: 'the name of a provider in config/providers.ts',
  finishedAfter: 'a time like 2026-01-31T12:00:00Z',
  finishedBefore: 'a time like 2026-01-31T12:00:00Z',
  lane: LANES.join(' or '),
  dryRun: 'true or false',
  force: 'true or false',
  maxRedrives: `a whole number from 1 to ${MAX_REDRIVES}`,
  limit: `a whole number from 1 to ${MAX_RECORDS}`,
  ratePerSecond: 'a number of records per second from 0.01 to 100000',
  cursor: 'the nextCursor of an earlier answer to the same request',
};

/**
 * Checks an operator's request.
 *
 * @throws RedriveRequestError naming the field, its value and what is allowed.
 */
export function parseRedriveRequest(event: unknown, providers: readonly string[]): RedriveRequest {
  const parsed = v.safeParse(requestSchema, event);
  if (!parsed.success) throw refusal(event, parsed.issues[0]);
  const request = parsed.output;
  if (request.provider !== undefined && !providers.includes(request.provider)) {
    throw new RedriveRequestError(`provider is "${request.provider}": use one of ${providers.join(', ')}.`);
  }
  if (request.tenantId !== undefined && !isTenantId(request.tenantId)) {
    throw new RedriveRequestError(
      `tenantId is ${JSON.stringify(request.tenantId.slice(0, 100))}: set the id of a tenant.`,
    );
  }
  const { mode, submissionId, tenantId, reason, provider, finishedAfter, lane } = request;
  const selectors = [submissionId, tenantId, reason, provider, finishedAfter, lane];
  if (mode === 'records' && selectors.every((selector) => selector === undefined)) {
    throw new RedriveRequestError(
      'Nothing is selected: set at least one of submissionId, tenantId, reason, provider, finishedAfter or lane.',
    );
  }
  if (
    mode === 'give_up' &&
    (submissionId === undefined || selectors.some((each) => each !== undefined && each !== submissionId))
  ) {
    throw new RedriveRequestError(
      'mode is "give_up": set submissionId, and no other selector. It ends one submission without results.',
    );
  }
  return request;
}

function refusal(event: unknown, issue: v.BaseIssue<unknown>): RedriveRequestError {
  const path = v.getDotPath(issue);
  if (path === null) {
    return new RedriveRequestError(
      `The event is ${JSON.stringify(event)}: send a JSON object, like {"submissionId": "sub_…"}.`,
    );
  }
  const field = path.split('.')[0] ?? path;
  const value = JSON.stringify(issue.input)?.slice(0, 100);
  const allowed = ALLOWED[field];
  return new RedriveRequestError(
    allowed === undefined
      ? `There is no field ${field}: the fields are ${FIELDS.join(', ')}.`
      : `${path} is ${value}: set ${allowed}.`,
  );
}
