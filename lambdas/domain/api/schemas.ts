import * as v from 'valibot';
import { CLOSED_STATES, LANES, RECORD_STATES, SUBMISSION_STATES } from '../model.ts';
import { PREPARED_KINDS } from '../prepare/ports.ts';
import { profileSchema } from '../profiles/profile.ts';
import { REASON_CODES } from '../reasons.ts';
import { FILE_CODES } from '../source/file-codes.ts';
import type { UnknownCode } from '../versions.ts';
import { isCallbackUrl } from './callback-url.ts';
import { PROBLEM_CODES } from './problems.ts';

/* The bodies of requests and answers: what is checked, and what the OpenAPI document says. */

const FILE_REASONS = Object.keys(FILE_CODES).join(', ');
const FORMATS = ['csv', 'ndjson', 'json'] as const;
/** Largest JSON request; it has a handful of short members. */
export const MAX_REQUEST_BYTES = 16 * 1024;
const MAX_FILE_NAME_LENGTH = 255;
const MAX_REFERENCE_LENGTH = 200;
const MAX_URL_LENGTH = 2_048;

/** Neither control characters nor halves of characters, which no store keeps as they are. */
export const PLAIN_TEXT = /^[^\p{Cc}\p{Cs}]*$/u;

export const described = <S extends v.GenericSchema>(schema: S, text: string) => v.pipe(schema, v.description(text));

export const plainText = (maxLength: number) =>
  v.pipe(
    v.string('a text is required'),
    v.minLength(1, 'a text is required'),
    v.maxLength(maxLength, `at most ${maxLength} characters are allowed`),
    v.regex(PLAIN_TEXT, 'control characters are not allowed'),
  );
const wholeNumber = (minimum: number) =>
  v.pipe(
    v.number('a number is required'),
    v.integer('a whole number is required'),
    v.minValue(minimum, `at least ${minimum} is required`),
    v.maxValue(Number.MAX_SAFE_INTEGER, 'a smaller number is required'),
  );

const fileNameSchema = described(
  plainText(MAX_FILE_NAME_LENGTH),
  'Name of the file at the customer; only its last part is kept. Its ending tells the format where nothing else does.',
);
const expectedRecordsSchema = described(
  wholeNumber(0),
  'Records that the customer believes the file has. A small file that has another number is refused.',
);
const referenceSchema = described(
  plainText(MAX_REFERENCE_LENGTH),
  "The customer's own reference; it comes back in every answer.",
);
export const publicUrlSchema = v.pipe(
  v.string('a URL is required'),
  v.maxLength(MAX_URL_LENGTH, `at most ${MAX_URL_LENGTH} characters are allowed`),
  v.check(isCallbackUrl, 'an https URL of a public host, without credentials or fragment, is required'),
);
const callbackUrlSchema = described(publicUrlSchema, 'Gets a POST when the submission has ended.');

export const PROFILE_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** A name, and a version where it is not the newest one. */
export const PROFILE_REFERENCE = /^([a-z0-9][a-z0-9._-]{0,63})(?:@([1-9]\d{0,5}))?$/;
const profileReferenceSchema = v.pipe(
  v.string('the name of a profile is required'),
  v.regex(PROFILE_REFERENCE, 'the name of a profile is required, with @ and a version where it is not the newest'),
);

/** Of a call that takes none. */
export const noParametersSchema = v.strictObject({});

export const uploadRequestSchema = v.strictObject({
  fileName: v.exactOptional(fileNameSchema),
  sizeBytes: v.exactOptional(described(wholeNumber(0), 'Size of the file, to be refused before uploading too much.')),
});

export const submissionRequestSchema = v.strictObject({
  uploadId: described(
    v.pipe(v.string('an upload id is required'), v.maxLength(2_000, 'no upload id is that long')),
    'As POST /v1/uploads gave it.',
  ),
  format: v.exactOptional(
    described(
      v.picklist(FORMATS, `one of ${FORMATS.join(', ')} is required`),
      'Without it, the ending of the file name tells, and without that the first bytes of the file.',
    ),
  ),
  expectedRecords: v.exactOptional(expectedRecordsSchema),
  reference: v.exactOptional(referenceSchema),
  callbackUrl: v.exactOptional(callbackUrlSchema),
  profile: v.exactOptional(
    described(
      v.union([profileReferenceSchema, profileSchema], 'a profile, or the name of one, is required'),
      'How the file is to be read, and which of its columns are which fields: a profile, or the name of one that is stored, as `name` or `name@version`.',
    ),
  ),
});

/** A whole number as text in a query, from `minimum` to `maximum`. */
const integerParameter = (minimum: number, maximum: number) => {
  const remedy = `a whole number from ${minimum} to ${maximum} is required`;
  return v.pipe(
    v.string(remedy),
    v.regex(/^\d{1,15}$/, remedy),
    v.transform(Number),
    v.number(),
    v.integer(remedy),
    v.minValue(minimum, remedy),
    v.maxValue(maximum, remedy),
  );
};
export const limitParameter = (fallback: number, maximum: number) =>
  v.optional(integerParameter(1, maximum), String(fallback));
export const cursorParameter = v.exactOptional(
  described(
    v.pipe(v.string(), v.maxLength(1_024, 'no cursor is that long')),
    'As `nextCursor` of the page before gave it, with the same filters.',
  ),
);

/** Query of a direct submission: what a JSON request would say beside the file. */
export const directParametersSchema = v.strictObject({
  fileName: v.exactOptional(fileNameSchema),
  expectedRecords: v.exactOptional(integerParameter(0, 1e9)),
  reference: v.exactOptional(referenceSchema),
  callbackUrl: v.exactOptional(callbackUrlSchema),
  profile: v.exactOptional(described(profileReferenceSchema, 'Name of a stored profile, as `name` or `name@version`.')),
});

/** Longest time that a status is waited for: with what comes before and after it, below the gateway's 29 seconds. */
const MAX_WAIT_SECONDS = 20;

export const statusParametersSchema = v.strictObject({
  wait: described(v.optional(integerParameter(0, MAX_WAIT_SECONDS), '0'), 'Seconds to wait at most.'),
});

export const submissionListParametersSchema = v.strictObject({
  state: v.exactOptional(v.picklist(SUBMISSION_STATES, `one of ${SUBMISSION_STATES.join(', ')} is required`)),
  limit: limitParameter(20, 100),
  cursor: cursorParameter,
});

export const recordListParametersSchema = v.strictObject({
  recordId: v.exactOptional(described(plainText(200), "The customer's own identifier, as it is used.")),
  state: v.exactOptional(
    described(
      v.picklist(RECORD_STATES, `one of ${RECORD_STATES.join(', ')} is required`),
      '`pending` includes retrying and deferred records, `failed` includes dead-lettered ones, as the counts of a submission do.',
    ),
  ),
  reason: v.exactOptional(v.picklist(REASON_CODES, 'a reason code is required')),
  limit: limitParameter(100, 500),
  cursor: cursorParameter,
});

export const timestamp = v.pipe(v.string(), v.isoTimestamp());
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const nextCursor = described(v.nullable(v.string()), 'Null on the last page.');
const link = v.string();

export const uploadSchema = v.object({
  uploadId: v.string(),
  method: v.literal('PUT'),
  url: v.string(),
  headers: described(v.record(v.string(), v.string()), 'To be sent exactly so: they are part of the signature.'),
  expiresAt: timestamp,
});

export const submissionSchema = v.object({
  id: v.string(),
  state: v.picklist(SUBMISSION_STATES),
  reason: v.exactOptional(
    described(
      v.string(),
      `Why it was rejected, cancelled or expired: a stable code; of a file one of ${FILE_REASONS}. New ones may be added.`,
    ),
  ),
  message: v.exactOptional(described(v.string(), 'The reason in words, with the remedy.')),
  lane: described(v.nullable(v.picklist(LANES)), 'Null until the beginning of the file has been read.'),
  reference: v.exactOptional(v.string()),
  preparedFrom: v.exactOptional(
    described(
      v.object({
        kind: described(v.string(), `${PREPARED_KINDS.join(', ')}; new ones may be added.`),
        member: v.exactOptional(described(v.string(), 'The file in the archive.')),
        sheet: v.exactOptional(described(v.string(), 'The sheet of the workbook.')),
        charset: v.exactOptional(described(v.string(), 'The character set of the text.')),
      }),
      'Present where the file was unpacked or decoded before its records were read.',
    ),
  ),
  createdAt: timestamp,
  updatedAt: timestamp,
  counts: v.object({
    total: described(v.nullable(count), 'Null until the whole file has been read.'),
    pending: count,
    succeeded: count,
    failed: count,
    cancelled: count,
  }),
  failures: described(v.record(v.string(), count), 'Failed records by reason code.'),
  countsAsOf: v.exactOptional(described(timestamp, 'Present where the counts are older than the answer.')),
  estimatedCompletionAt: v.exactOptional(timestamp),
  expiresAt: described(timestamp, 'When submission, records and results are deleted.'),
  links: v.object({ self: link, records: link, results: link }),
});

export const recordSchema = v.object({
  submissionId: v.string(),
  recordNo: v.pipe(v.number(), v.integer(), v.minValue(1)),
  state: v.picklist(RECORD_STATES),
  reason: v.exactOptional(v.picklist(REASON_CODES)),
  message: v.exactOptional(described(v.string(), 'The reason in words.')),
  attempts: count,
  waitingOn: v.exactOptional(v.string()),
  waitingUntil: v.exactOptional(timestamp),
  updatedAt: v.exactOptional(timestamp),
  line: v.exactOptional(described(count, 'Line of the file where the record begins; the row of a sheet.')),
  record: v.exactOptional(
    described(
      v.record(v.string(), v.unknown()),
      'The record as it was sent. Absent in lists without `recordId`, and of a row that is no record.',
    ),
  ),
  used: v.exactOptional(
    described(
      v.record(v.string(), v.unknown()),
      'The fields that are checked and looked up, where they are not what was sent. Absent as `record` is.',
    ),
  ),
  output: v.exactOptional(
    described(
      v.record(v.string(), v.unknown()),
      'Of a succeeded record: its `record_id` and what each provider found, null where it found nothing.',
    ),
  ),
});

export const storedProfileSchema = v.object({
  name: v.string(),
  version: described(count, 'Raised by every change. A version never changes.'),
  createdAt: timestamp,
  profile: profileSchema,
});
export const profileListSchema = v.object({
  items: v.array(v.object({ name: v.string(), version: count, updatedAt: timestamp })),
});

export const submissionPageSchema = v.object({ items: v.array(submissionSchema), nextCursor });
export const recordPageSchema = v.object({ items: v.array(recordSchema), nextCursor });

export const resultsSchema = v.object({
  version: described(count, 'Raised by every replay.'),
  state: v.picklist(CLOSED_STATES),
  files: v.array(
    v.object({
      kind: v.picklist(['succeeded', 'failed']),
      format: v.picklist(['ndjson', 'csv']),
      part: described(v.pipe(v.number(), v.integer(), v.minValue(1)), 'Parts follow each other in record order.'),
      url: described(v.string(), 'To be fetched without the API key, until it expires. Ask again for a fresh one.'),
      expiresAt: timestamp,
      records: count,
      bytes: count,
      sha256: v.string(),
    }),
  ),
});

export const problemSchema = v.object({
  type: v.string(),
  title: v.string(),
  status: v.exactOptional(v.pipe(v.number(), v.integer())),
  code: described(v.picklist(PROBLEM_CODES), 'Stable; decide by this. New ones may be added.'),
  detail: v.exactOptional(v.string()),
  errors: v.exactOptional(
    v.array(
      v.object({
        pointer: v.exactOptional(described(v.string(), 'JSON pointer into the body.')),
        parameter: v.exactOptional(v.string()),
        header: v.exactOptional(v.string()),
        detail: v.string(),
      }),
    ),
  ),
  retryAfterSeconds: v.exactOptional(count),
  requestId: v.exactOptional(v.string()),
});

export type ProfileView = v.InferOutput<typeof storedProfileSchema>;
export type UploadView = v.InferOutput<typeof uploadSchema>;
/** Answers pass on what a newer version stored: the document lists the codes of this one. */
export type WithUnknown<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | UnknownCode };

export type SubmissionView = WithUnknown<v.InferOutput<typeof submissionSchema>, 'state'>;
export type RecordView = WithUnknown<v.InferOutput<typeof recordSchema>, 'state' | 'reason'>;
type ResultsAnswer = v.InferOutput<typeof resultsSchema>;
export type ResultsView = WithUnknown<Omit<ResultsAnswer, 'files'>, 'state'> & {
  files: WithUnknown<ResultsAnswer['files'][number], 'kind' | 'format'>[];
};
