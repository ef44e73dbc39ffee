import { createHash } from 'node:crypto';
import { MIMEType } from 'node:util';
import type { FileFormat } from '../files/reader.ts';
import { readUploadId, uploadKey, type Upload } from './ids.ts';
import { parseBody, parseQuery } from './input.ts';
import { ProblemError } from './problems.ts';
import type { ApiRequest, Caller } from './request.ts';
import { directParametersSchema, noParametersSchema, submissionRequestSchema } from './schemas.ts';
import { baseNameOf } from './uploads.ts';

/** Where the file of a submission comes from. */
export type FileSource =
  | { kind: 'upload'; upload: Upload; key: string }
  /** In the body of the request; `sha256` is of its bytes. */
  | { kind: 'direct'; body: Uint8Array; contentType: string; sha256: string };

/** What a customer asks for when submitting a file. */
export interface SubmissionRequest {
  file: FileSource;
  format?: FileFormat;
  fileName?: string;
  expectedRecords?: number;
  reference?: string;
  callbackUrl?: string;
  /** SHA-256 (hex) of all that matters of it: tells repetitions from other requests with the same idempotency key. */
  requestHash: string;
}

type Asked = Omit<SubmissionRequest, 'requestHash'>;

const FORMAT_OF_CONTENT = new Map<string, FileFormat>([
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
  ['application/json', 'json'],
]);
const FORMAT_OF_ENDING = new Map<string, FileFormat>([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
  ['json', 'json'],
]);
const READABLE_CHARSETS: readonly string[] = ['utf-8', 'utf8', 'us-ascii'];

/**
 * Reads POST /v1/submissions: a JSON request, or the file itself. `application/json` whose first character is `[` is a file.
 *
 * @throws ProblemError
 */
export function readSubmissionRequest(
  request: ApiRequest,
  { tenantId }: Caller,
  { maxDirectBodyBytes }: { maxDirectBodyBytes: number },
): SubmissionRequest {
  const contentType = contentTypeOf(request);
  const asked =
    contentType === 'application/json' && !beginsLikeArray(request.body)
      ? readUploadRequest(request, tenantId)
      : readDirect(request, contentType, maxDirectBodyBytes);
  return { ...asked, requestHash: hashOf(asked) };
}

function readUploadRequest(request: ApiRequest, tenantId: string): Asked {
  parseQuery(noParametersSchema, request.query);
  const { uploadId, format, ...rest } = parseRequest(request.body);
  const upload = readUploadId(uploadId);
  if (upload === undefined) throw uploadMissing();
  const { fileName } = upload;
  const known = format ?? formatOfName(fileName);
  return {
    file: { kind: 'upload', upload, key: uploadKey(tenantId, upload) },
    ...(known !== undefined && { format: known }),
    ...(fileName !== undefined && { fileName }),
    ...rest,
  };
}

/** Records in lines are sent as `application/json`, too: what is wrong then is the type and not the JSON. */
function parseRequest(body: Uint8Array) {
  try {
    return parseBody(submissionRequestSchema, body);
  } catch (error) {
    const mayBeLines = error instanceof ProblemError && ['invalid_json', 'body_too_large'].includes(error.code);
    if (!mayBeLines || body.find((byte) => !SKIPPED.has(byte)) !== OPENING_BRACE) throw error;
    const remedy = 'If the body is a file with one JSON object a line, send it as application/x-ndjson.';
    throw new ProblemError(error.code, `${error.message} ${remedy}`, { cause: error });
  }
}

function readDirect(request: ApiRequest, contentType: string, maxBytes: number): Asked {
  const { body } = request;
  const format = FORMAT_OF_CONTENT.get(contentType);
  if (format === undefined) throw unsupported(contentType);
  if (body.byteLength > maxBytes) {
    throw new ProblemError(
      'body_too_large',
      `A file in a request has at most ${maxBytes} bytes. Ask POST /v1/uploads for a place to upload it to.`,
    );
  }
  const { fileName, ...rest } = parseQuery(directParametersSchema, request.query);
  const name = fileName === undefined ? undefined : baseNameOf(fileName);
  const sha256 = createHash('sha256').update(body).digest('hex');
  return {
    file: { kind: 'direct', body, contentType, sha256 },
    format,
    ...(name !== undefined && { fileName: name }),
    ...rest,
  };
}

/** The media type in lower case, once what cannot be read is refused. */
function contentTypeOf({ headers }: ApiRequest): string {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new ProblemError('unsupported_media_type', 'Send the body without a Content-Encoding.', {
      errors: [{ header: 'Content-Encoding', detail: 'only identity is accepted' }],
    });
  }
  const { essence, charset } = mediaTypeOf(headers['content-type'] ?? '');
  if (charset !== undefined && !READABLE_CHARSETS.includes(charset)) {
    throw new ProblemError('unsupported_media_type', 'Send the body in UTF-8.', {
      errors: [{ header: 'Content-Type', detail: 'only the charset utf-8 is accepted' }],
    });
  }
  return essence;
}

/** Type and charset in lower case; empty for what is no media type. */
function mediaTypeOf(header: string): { essence: string; charset?: string } {
  try {
    const { essence, params } = new MIMEType(header);
    const charset = params.get('charset')?.trim().toLowerCase();
    return { essence, ...(charset && { charset }) };
  } catch {
    return { essence: '' };
  }
}

const unsupported = (contentType: string): ProblemError =>
  new ProblemError(
    'unsupported_media_type',
    `Send application/json with an uploadId, or a file as ${[...FORMAT_OF_CONTENT.keys()].join(', ')}.`,
    {
      errors: [
        {
          header: 'Content-Type',
          detail: contentType === '' ? 'the header is missing or cannot be read' : 'not one of these',
        },
      ],
    },
  );

/** White space of JSON, and the byte order mark that some editors write. */
const SKIPPED = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

const OPENING_BRACE = 0x7b;

function beginsLikeArray(body: Uint8Array): boolean {
  const first = body.find((byte) => !SKIPPED.has(byte));
  return first === 0x5b;
}

/** Format by a file's name; undefined when its ending says nothing. */
function formatOfName(fileName: string | undefined): FileFormat | undefined {
  const ending = /\.([A-Za-z]+)$/.exec(fileName ?? '')?.[1]?.toLowerCase();
  return ending === undefined ? undefined : FORMAT_OF_ENDING.get(ending);
}

/** Format by a file's first bytes: CSV unless they begin a JSON object or array. Fan-out refuses the file when it is none of that. */
export function formatOfContent(head: Uint8Array): FileFormat {
  if (beginsLikeArray(head)) return 'json';
  return head.find((byte) => !SKIPPED.has(byte)) === OPENING_BRACE ? 'ndjson' : 'csv';
}

function hashOf({ file, format, fileName, expectedRecords, reference, callbackUrl }: Asked): string {
  const content = file.kind === 'upload' ? ['upload', file.upload.objectName] : ['direct', file.sha256];
  const parts = [...content, format, fileName, expectedRecords, reference, callbackUrl].map((part) => part ?? null);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export const uploadMissing = (): ProblemError =>
  new ProblemError(
    'upload_missing',
    'Ask POST /v1/uploads for a place, send the file there with the method and headers given, then submit its uploadId.',
    { errors: [{ pointer: '/uploadId', detail: 'nothing was uploaded under this id' }] },
  );
