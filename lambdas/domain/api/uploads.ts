import type { Clock, Random } from '../time.ts';
import { newUpload, uploadKey } from './ids.ts';
import { parseBody, parseQuery } from './input.ts';
import type { Presigner } from './ports.ts';
import { ProblemError } from './problems.ts';
import type { Answer } from './request.ts';
import { noParametersSchema, uploadRequestSchema, type UploadView } from './schemas.ts';

/** How long an upload may begin. */
const UPLOAD_URL_SECONDS = 900;

export interface UploadDeps {
  presigner: Presigner;
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
    const nowMs = deps.clock.now();
    const upload = newUpload(nowMs, deps.random, fileName === undefined ? undefined : baseNameOf(fileName));
    const signed = await deps.presigner.upload({
      key: uploadKey(tenantId, upload),
      expiresInSeconds: UPLOAD_URL_SECONDS,
      nowMs,
      ...(sizeBytes !== undefined && { sizeBytes }),
    });
    const { method, url, headers, expiresAtMs } = signed;
    const expiresAt = new Date(expiresAtMs).toISOString();
    const body: UploadView = { uploadId: upload.uploadId, method, url, headers: { ...headers }, expiresAt };
    return { status: 201, body };
  };

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
