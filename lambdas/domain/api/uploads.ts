import { createHash } from 'node:crypto';
import { InvalidDataError } from '../errors.ts';
import type { Clock, Random } from '../time.ts';
import { idempotencyKeyOf, keyReused, replayHeaders, stillInProgress } from './idempotency-key.ts';
import { newUpload, readUploadId, uploadKey, type Upload } from './ids.ts';
import { parseBody, parseQuery } from './input.ts';
import { InProgressError, KeyReusedError, type IdempotencyStore, type Presigner } from './ports.ts';
import { ProblemError } from './problems.ts';
import type { Answer, ApiRequest } from './request.ts';
import { noParametersSchema, uploadRequestSchema, type UploadView } from './schemas.ts';

/** How long an upload may begin. */
const UPLOAD_URL_SECONDS = 900;

/** How long an upload can be submitted: its file is deleted after that, or soon. */
export const MAX_UPLOAD_AGE_MS = 86_400_000;

export interface UploadDeps {
  presigner: Presigner;
  answers: IdempotencyStore;
  clock: Clock;
  random: Random;
  settings: { maxFileBytes: number };
}

/** POST /v1/uploads */
export const createUpload =
  (deps: UploadDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const { fileName, sizeBytes } = parseBody(uploadRequestSchema, request.body);
    if (sizeBytes !== undefined) refuseTooLarge(sizeBytes, deps.settings.maxFileBytes);
    const { upload, replayed } = await uploadOf(deps, request, tenantId, { fileName, sizeBytes });
    const signed = await deps.presigner.upload({
      key: uploadKey(tenantId, upload),
      expiresInSeconds: UPLOAD_URL_SECONDS,
      nowMs: deps.clock.now(),
      ...(sizeBytes !== undefined && { sizeBytes }),
    });
    const { method, url, headers, expiresAtMs } = signed;
    const expiresAt = new Date(expiresAtMs).toISOString();
    const body: UploadView = { uploadId: upload.uploadId, method, url, headers: { ...headers }, expiresAt };
    return { status: 201, headers: replayHeaders(replayed), body };
  };

/** A new upload, or that of the first request with this idempotency key: its link is signed anew. */
async function uploadOf(
  { answers, clock, random }: UploadDeps,
  request: ApiRequest,
  tenantId: string,
  { fileName, sizeBytes }: { fileName: string | undefined; sizeBytes: number | undefined },
): Promise<{ upload: Upload; replayed: boolean }> {
  const create = (): Upload =>
    newUpload(clock.now(), random, fileName === undefined ? undefined : baseNameOf(fileName));
  const key = idempotencyKeyOf(request);
  if (key === undefined) return { upload: create(), replayed: false };
  const requestHash = createHash('sha256')
    .update(JSON.stringify([fileName ?? null, sizeBytes ?? null]))
    .digest('hex');
  let created: Upload | undefined;
  // No key of a submission has a line feed.
  const named = { tenantId, idempotencyKey: `uploads\n${key}`, requestHash };
  const uploadId = await answers
    .once(named, request.budget, async () => (created = create()).uploadId)
    .catch((error: unknown) => {
      if (error instanceof KeyReusedError) throw keyReused();
      throw error instanceof InProgressError ? stillInProgress(error) : error;
    });
  const upload = created ?? readUploadId(uploadId);
  if (upload === undefined) throw new InvalidDataError('The remembered upload id is not valid.');
  if (clock.now() - upload.createdAtMs <= MAX_UPLOAD_AGE_MS) return { upload, replayed: created === undefined };
  throw new ProblemError('upload_expired', 'The upload of this idempotency key is over a day old. Use a new key.');
}

/** @throws ProblemError `file_too_large` */
export function refuseTooLarge(sizeBytes: number, maxFileBytes: number): void {
  if (sizeBytes <= maxFileBytes) return;
  throw new ProblemError(
    'file_too_large',
    `A file has at most ${maxFileBytes} bytes; this one has ${sizeBytes}. Split it and submit the parts.`,
  );
}

/** The last part of a path of any system; undefined when there is none. */
export function baseNameOf(fileName: string): string | undefined {
  const name = fileName.split(/[/\\]/).at(-1)?.trim();
  return name === undefined || /^\.*$/.test(name) ? undefined : name;
}
