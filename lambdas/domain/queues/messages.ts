import * as v from 'valibot';
import { InvalidDataError } from '../errors.ts';
import type { ProviderAnswers } from '../model.ts';
import { isReasonCode, type ReasonCode } from '../reasons.ts';
import { isCode, refuseNewerVersion, UnsupportedVersionError, type UnknownCode } from '../versions.ts';

/**
 * Major version of the message bodies on the queues. Members may be added within it: consumers ignore those that they do not know, and
 * whoever sends a message again carries them on.
 */
export const MESSAGE_VERSION = 1;

const data = v.record(v.string(), v.unknown());
const ageSeconds = v.exactOptional(v.number());
const KINDS = ['found', 'not_found', 'not_applicable'];
const unknownKind = v.custom<UnknownCode>((value) => isCode(value) && !KINDS.includes(value));

/** Answers of the providers by name, as they are kept in rows and carried by messages. */
export const answersSchema: v.GenericSchema<unknown, ProviderAnswers> = v.record(
  v.string(),
  v.union([
    v.variant('kind', [
      v.looseObject({ kind: v.literal('found'), data, ageSeconds }),
      v.looseObject({ kind: v.literal('not_found'), ageSeconds }),
      v.looseObject({ kind: v.literal('not_applicable') }),
    ]),
    v.looseObject({ kind: unknownKind, data: v.exactOptional(data), ageSeconds }),
  ]),
);

const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What fan-out found at a position of the file: a record, or a row that is none. */
const contentSchema = v.variant('kind', [
  v.object({ kind: v.literal('record'), fields: v.record(v.string(), v.unknown()) }),
  /** A record whose target fields are not what was sent. A kind of its own: a version that does not know it must not use `fields`. */
  v.object({
    kind: v.literal('mapped'),
    fields: v.record(v.string(), v.unknown()),
    used: v.record(v.string(), v.unknown()),
  }),
  v.object({
    kind: v.literal('defect'),
    reason: v.custom<ReasonCode>(isReasonCode),
    defect: v.string(),
    detail: v.string(),
  }),
]);

const recordMembers = {
  v: v.literal(MESSAGE_VERSION),
  submissionId: v.string(),
  tenantId: v.string(),
  lane: v.picklist(['small', 'bulk']),
  recordNo: positive,
  /** Physical line of the file where the record begins, 1-based. */
  line: positive,
  /** 1-based number of the attempt that this message asks for. */
  attempt: positive,
  generation: count,
  redrives: count,
  firstEnqueuedAtMs: count,
  expiresAtSeconds: count,
  /** Not to be worked before this time: a wait beyond the queue's longest delay goes in hops. */
  notBeforeMs: v.optional(count),
  /** Since when a provider has not been ready for this record. */
  notReadySinceMs: v.optional(count),
  /** Takes the place of a message whose worker ended: it is no copy, whatever wait its row announces. */
  redelivered: v.optional(v.literal(true)),
  /** Times in a row that it came back because our own platform failed. */
  platformRetries: v.optional(positive),
  /** Answers already paid for, carried so that they survive even when the row could not be written. */
  answers: v.optional(answersSchema),
  content: contentSchema,
};

/** One record on its lane's queue. */
export type RecordMessage = v.InferOutput<v.ObjectSchema<typeof recordMembers, undefined>>;
export type RecordContent = RecordMessage['content'];

const fanOutMembers = { v: v.literal(MESSAGE_VERSION), submissionId: v.string(), tenantId: v.string() };
/** Asks fan-out to begin or continue: where it continues is in the submission, not in the message. */
export type FanOutMessage = v.InferOutput<v.ObjectSchema<typeof fanOutMembers, undefined>>;

const finalizeMembers = {
  ...fanOutMembers,
  /** `callback` is what version 0.1 sent to itself: the end is announced in its place. */
  kind: v.picklist(['results', 'callback']),
};
/** Asks the finalizer to write the results. */
export type FinalizeMessage = v.InferOutput<v.ObjectSchema<typeof finalizeMembers, undefined>>;

const event = v.looseObject({ type: v.string(), timestamp: v.string(), data });
const eventMembers = {
  v: v.literal(MESSAGE_VERSION),
  kind: v.literal('event'),
  tenantId: v.string(),
  submissionId: v.optional(v.string()),
  eventId: v.string(),
  event,
  callbackUrl: v.optional(v.string()),
  expiresAtSeconds: count,
};
const deliveryMembers = {
  v: v.literal(MESSAGE_VERSION),
  kind: v.literal('delivery'),
  tenantId: v.string(),
  submissionId: v.optional(v.string()),
  deliveryId: v.string(),
  /** 1-based number of the attempt that this message asks for. */
  attempt: positive,
  notBeforeMs: v.optional(count),
};
/** Tells of something that endpoints are to be told of. */
export type EventMessage = v.InferOutput<v.ObjectSchema<typeof eventMembers, undefined>>;
/** Asks for an attempt of a delivery. */
export type DeliveryMessage = v.InferOutput<v.ObjectSchema<typeof deliveryMembers, undefined>>;
export type WebhookMessage = EventMessage | DeliveryMessage;

const reader =
  <T>(name: string, schema: v.GenericSchema<unknown, T>) =>
  (body: string): T => {
    const what = `The ${name} message`;
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch (cause) {
      throw new InvalidDataError(`${what} is not JSON.`, { cause });
    }
    refuseNewerVersion(what, value, MESSAGE_VERSION);
    const parsed = v.safeParse(schema, value);
    if (parsed.success) return parsed.output;
    const [issue] = parsed.issues;
    const place = v.getDotPath(issue) ?? 'its root';
    if (parsed.issues.every(isUnknownChoice))
      throw new UnsupportedVersionError(what, `has an unknown code at ${place}`);
    throw new InvalidDataError(`${what} is not valid at ${place}: ${issue.type} expected.`);
  };

/** A code in a place where each has a meaning of its own (lane, kind): nothing can go for one that is not known. */
const isUnknownChoice = ({ type, input }: v.BaseIssue<unknown>): boolean =>
  (type === 'picklist' || type === 'variant') && isCode(input);

/**
 * Parses a lane message's body; members that are not known stay in it. Throws {@link UnsupportedVersionError}, and {@link InvalidDataError}
 * without quoting record content.
 */
export const parseRecordMessage = reader<RecordMessage>('record', v.looseObject(recordMembers));
/** Parses a fan-out message's body, like {@link parseRecordMessage}. */
export const parseFanOutMessage = reader<FanOutMessage>('fan-out', v.looseObject(fanOutMembers));
/** Parses a finalize message's body, like {@link parseRecordMessage}. */
export const parseFinalizeMessage = reader<FinalizeMessage>('finalize', v.looseObject(finalizeMembers));

/** Parses a message of the webhooks' queue, like {@link parseRecordMessage}. */
export const parseWebhookMessage = reader<WebhookMessage>(
  'webhook',
  v.variant('kind', [v.looseObject(eventMembers), v.looseObject(deliveryMembers)]),
);

/**
 * Serializes a body in ASCII: every other character is escaped, because SQS refuses some characters that JSON allows
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html). Size = length.
 */
export function encodeBody(body: unknown): string {
  const json = JSON.stringify(body);
  // Most bodies have nothing to escape, and looking is far cheaper than replacing.
  return NOT_ASCII.test(json) ? json.replaceAll(EVERY_NOT_ASCII, escape) : json;
}

const NOT_ASCII = /[\u007f-\uffff]/;
const EVERY_NOT_ASCII = /[\u007f-\uffff]/g;
const escape = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Encodes many first messages of one submission: what they have in common is serialized once.
 *
 * @returns the same as {@link encodeBody} of the whole message, but for the order of its members
 */
export function firstMessageEncoder(
  common: Omit<RecordMessage, 'recordNo' | 'line' | 'content' | 'firstEnqueuedAtMs'>,
): (own: Pick<RecordMessage, 'recordNo' | 'line' | 'content' | 'firstEnqueuedAtMs'>) => string {
  const beginning = encodeBody(common).slice(0, -1);
  return ({ recordNo, line, firstEnqueuedAtMs, content }) =>
    `${beginning},"recordNo":${recordNo},"line":${line},"firstEnqueuedAtMs":${firstEnqueuedAtMs},"content":${encodeBody(content)}}`;
}
