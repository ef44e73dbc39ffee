import * as v from 'valibot';
import { InvalidDataError } from '../errors.ts';

/** Version of the message bodies on the queues. A consumer parks what it does not know in the dead-letter queue. */
export const MESSAGE_VERSION = 1;

const answer = v.variant('kind', [
  v.strictObject({ kind: v.literal('found'), data: v.record(v.string(), v.unknown()) }),
  v.strictObject({ kind: v.literal('not_found') }),
  v.strictObject({ kind: v.literal('not_applicable') }),
]);

/** Answers of the providers by name, as they are kept in rows and carried by messages. */
export const answersSchema = v.record(v.string(), answer);

const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** What fan-out found at a position of the file: a record, or a row that is none. */
const contentSchema = v.variant('kind', [
  v.strictObject({ kind: v.literal('record'), fields: v.record(v.string(), v.unknown()) }),
  v.strictObject({
    kind: v.literal('defect'),
    reason: v.picklist(['malformed_row', 'record_too_large']),
    defect: v.string(),
    detail: v.string(),
  }),
]);

const recordMessageSchema = v.strictObject({
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
  /** Takes the place of a message whose worker ended: it is no copy, whatever wait its row announces. */
  redelivered: v.optional(v.literal(true)),
  /** Times in a row that it came back because our own platform failed. */
  platformRetries: v.optional(positive),
  /** Answers already paid for, carried so that they survive even when the row could not be written. */
  answers: v.optional(answersSchema),
  content: contentSchema,
});

/** One record on its lane's queue. */
export type RecordMessage = v.InferOutput<typeof recordMessageSchema>;
export type RecordContent = RecordMessage['content'];

const fanOutMessageSchema = v.strictObject({
  v: v.literal(MESSAGE_VERSION),
  submissionId: v.string(),
  tenantId: v.string(),
});
/** Asks fan-out to begin or continue: where it continues is in the submission, not in the message. */
export type FanOutMessage = v.InferOutput<typeof fanOutMessageSchema>;

const finalizeMessageSchema = v.strictObject({
  v: v.literal(MESSAGE_VERSION),
  kind: v.picklist(['results', 'callback']),
  submissionId: v.string(),
  tenantId: v.string(),
  /** 1-based number of the delivery attempt of a callback. */
  attempt: v.optional(positive),
});
/** Asks the finalizer to write the results, or to tell the customer's callback URL. */
export type FinalizeMessage = v.InferOutput<typeof finalizeMessageSchema>;

const reader =
  <S extends v.GenericSchema>(name: string, schema: S) =>
  (body: string): v.InferOutput<S> => {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch (cause) {
      throw new InvalidDataError(`The ${name} message is not JSON.`, { cause });
    }
    const parsed = v.safeParse(schema, value);
    if (parsed.success) return parsed.output;
    const issue = parsed.issues[0];
    throw new InvalidDataError(
      `The ${name} message is not valid at ${v.getDotPath(issue) ?? 'its root'}: ${issue.type} expected.`,
    );
  };

/** Parses a lane message's body. Throws {@link InvalidDataError} without quoting record content. */
export const parseRecordMessage = reader('record', recordMessageSchema);
/** Parses a fan-out message's body. Throws {@link InvalidDataError}. */
export const parseFanOutMessage = reader('fan-out', fanOutMessageSchema);
/** Parses a finalize message's body. Throws {@link InvalidDataError}. */
export const parseFinalizeMessage = reader('finalize', finalizeMessageSchema);

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
