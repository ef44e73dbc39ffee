import { createHash } from 'node:crypto';
import { MIMEType } from 'node:util';
import { CHARSETS, charsetOf } from '../prepare/charsets.ts';
import { formatOfContent, formatOfName, opensWith } from '../files/format.ts';
import type { FileFormat } from '../files/reader.ts';
import type { Profile } from '../profiles/profile.ts';
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
  /** By the ending of the file's name. */
  namedFormat?: FileFormat;
  /** Character set of the file where it is declared not to be UTF-8, see {@link charsetOf}. */
  charset?: string;
  fileName?: string;
  expectedRecords?: number;
  reference?: string;
  callbackUrl?: string;
  /** The profile itself, or the name of one that is stored. */
  profile?: Profile | string;
  /** SHA-256 (hex) of all that matters of it: tells repetitions from other requests with the same idempotency key. */
  requestHash: string;
}

type Asked = Omit<SubmissionRequest, 'requestHash'>;

/** What the customer says, then the name of the file, then its content. Lines of JSON are often in a file called `.json`. */
export function formatOf(
  { format, namedFormat }: Pick<SubmissionRequest, 'format' | 'namedFormat'>,
  head: Uint8Array,
): FileFormat {
  if (format !== undefined) return format;
  if (namedFormat === undefined || (namedFormat === 'json' && opensWith(head, '{'))) return formatOfContent(head);
  return namedFormat;
}

const FORMAT_OF_CONTENT = new Map<string, FileFormat>([
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['application/x-jsonlines', 'ndjson'],
  ['application/json', 'json'],
]);
/** Types that say how a file is packed, and nothing about the format of its records. */
const PACKED: ReadonlySet<string> = new Set([
  'application/gzip',
  'application/x-gzip',
  'application/zip',
  'application/x-zip-compressed',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
]);

/**
 * Reads POST /v1/submissions: a JSON request, or the file itself. `application/json` is a file where it is an array, or several lines of which
 * the first is an object of its own.
 *
 * @throws ProblemError
 */
export function readSubmissionRequest(
  request: ApiRequest,
  { tenantId }: Caller,
  { maxDirectBodyBytes }: { maxDirectBodyBytes: number },
): SubmissionRequest {
  const { contentType, charset } = contentTypeOf(request);
  const asked =
    contentType === 'application/json' && !isFile(request.body)
      ? readUploadRequest(request, tenantId)
      : { ...readDirect(request, contentType, maxDirectBodyBytes), ...(charset !== 'utf-8' && { charset }) };
  return { ...asked, requestHash: hashOf(asked, identityOf(asked.file)) };
}

/** Bytes of the beginning of a body by which lines of JSON are recognised. */
const LINE_BYTES = 256 * 1024;

function isFile(body: Uint8Array): boolean {
  if (opensWith(body, '[')) return true;
  const lines = Buffer.from(body.subarray(0, LINE_BYTES))
    .toString('utf8')
    .split(/\r\n|\r|\n/);
  const [first = '', second = ''] = lines.filter((line) => line.trim() !== '');
  return second.trimStart().startsWith('{') && isObject(first.replace(/^\uFEFF/, '').replace(/,\s*$/, ''));
}

function isObject(text: string): boolean {
  try {
    return text.trimStart().startsWith('{') && JSON.parse(text) !== null;
  } catch {
    return false;
  }
}

function readUploadRequest(request: ApiRequest, tenantId: string): Asked {
  parseQuery(noParametersSchema, request.query);
  const { uploadId, format, ...rest } = parseRequest(request.body);
  const upload = readUploadId(uploadId);
  if (upload === undefined) throw uploadMissing();
  const { fileName } = upload;
  const namedFormat = formatOfName(fileName);
  return {
    file: { kind: 'upload', upload, key: uploadKey(tenantId, upload) },
    ...(format !== undefined && { format }),
    ...(namedFormat !== undefined && { namedFormat }),
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
    if (!mayBeLines || !opensWith(body, '{')) throw error;
    const remedy = 'If the body is a file with one JSON object a line, send it as application/x-ndjson.';
    throw new ProblemError(error.code, `${error.message} ${remedy}`, { cause: error });
  }
}

function readDirect(request: ApiRequest, contentType: string, maxBytes: number): Asked {
  const { body } = request;
  const isLines = contentType === 'application/json' && !opensWith(body, '[');
  const format = isLines ? 'ndjson' : FORMAT_OF_CONTENT.get(contentType);
  if (format === undefined && !PACKED.has(contentType)) throw unsupported(contentType);
  if (body.byteLength > maxBytes) {
    throw new ProblemError(
      'body_too_large',
      `A file in a request has at most ${maxBytes} bytes. Ask POST /v1/uploads for a place to upload it to.`,
    );
  }
  const { fileName, ...rest } = parseQuery(directParametersSchema, request.query);
  const name = fileName === undefined ? undefined : baseNameOf(fileName);
  const namedFormat = formatOfName(name);
  const sha256 = createHash('sha256').update(body).digest('hex');
  return {
    file: { kind: 'direct', body, contentType, sha256 },
    ...(format !== undefined && { format }),
    ...(namedFormat !== undefined && { namedFormat }),
    ...(name !== undefined && { fileName: name }),
    ...rest,
  };
}

/** Media type and character set, once what cannot be read is refused. A compressed file is recognised by its first bytes. */
function contentTypeOf({ headers }: ApiRequest): { contentType: string; charset: string } {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const { essence, charset: label = 'utf-8' } = mediaTypeOf(headers['content-type'] ?? '');
  const isText = essence === 'application/json';
  if (encoding !== 'identity' && (encoding !== 'gzip' || isText)) {
    throw new ProblemError('unsupported_media_type', 'Send a file as it is or compressed by gzip, and JSON as it is.', {
      errors: [
        { header: 'Content-Encoding', detail: `${isText ? 'only identity is' : 'identity and gzip are'} accepted` },
      ],
    });
  }
  const charset = charsetOf(label);
  if (charset === undefined || (isText && charset !== 'utf-8')) {
    const accepted = isText ? 'utf-8' : CHARSETS.join(', ');
    throw new ProblemError('unsupported_media_type', 'Send the body in UTF-8, or name the character set that it has.', {
      errors: [{ header: 'Content-Type', detail: `the charset can be ${accepted}` }],
    });
  }
  return { contentType: essence, charset };
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
    `Send application/json with an uploadId, or a file as ${[...FORMAT_OF_CONTENT.keys(), ...PACKED].join(', ')}.`,
    {
      errors: [
        {
          header: 'Content-Type',
          detail: contentType === '' ? 'the header is missing or cannot be read' : 'not one of these',
        },
      ],
    },
  );

/** What tells the file of a request from others. */
const identityOf = (file: FileSource): readonly string[] =>
  file.kind === 'upload' ? ['upload', file.upload.objectName] : ['direct', file.sha256];

/** As `requestHash`, for every upload of the same bytes; undefined where no checksum of them is known. */
export const contentHashOf = (
  request: SubmissionRequest,
  { sizeBytes, checksum }: { sizeBytes: number; checksum?: string },
): string | undefined =>
  request.file.kind === 'upload' && checksum !== undefined
    ? hashOf(request, ['content', String(sizeBytes), checksum])
    : undefined;

function hashOf(
  { format, namedFormat, charset, fileName, expectedRecords, reference, callbackUrl, profile }: Asked,
  content: readonly string[],
): string {
  const parts = [...content, format ?? namedFormat, fileName, expectedRecords, reference, callbackUrl].map(
    (part) => part ?? null,
  );
  // Absent as before there were any, so that a repetition is known again across versions.
  const all =
    charset === undefined && profile === undefined ? parts : [...parts, charset ?? null, ...(profile ? [profile] : [])];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

export const uploadMissing = (): ProblemError =>
  new ProblemError(
    'upload_missing',
    'Ask POST /v1/uploads for a place, send the file there with the method and headers given, then submit its uploadId.',
    { errors: [{ pointer: '/uploadId', detail: 'nothing was uploaded under this id' }] },
  );
