import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { basename } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, Upload } from '../client/client.ts';
import { bodyOf, codeOf } from './api.ts';
import { CommandError, EXIT } from './errors.ts';

const TRIES = 6;
const FIRST_WAIT_MS = 500;

/** A file on this disk, known by what is in it. */
export interface LocalFile {
  path: string;
  fileName: string;
  sizeBytes: number;
  /** Of its bytes, in hexadecimal. */
  sha256: string;
}

/** @throws CommandError when the file cannot be read */
export async function readLocalFile(path: string, fileName = basename(path)): Promise<LocalFile> {
  try {
    const { size } = await stat(path);
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    return { path, fileName, sizeBytes: size, sha256: hash.digest('hex') };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(EXIT.failed, `${path} cannot be read: ${reason}.`, { cause });
  }
}

/**
 * Uploads a file; answers the upload's id. The same file continues where an interrupted run ended: it gets the same upload, and is not sent
 * again when storage has it already.
 *
 * @param onProgress - Called with the bytes sent so far
 * @throws CommandError with what the API or the storage answered
 */
export async function uploadFile(
  client: ApiClient,
  file: LocalFile,
  onProgress: (bytes: number) => void = () => undefined,
): Promise<string> {
  for (let tries = 1; ; tries++) {
    const upload = await placeFor(client, file);
    try {
      await put(upload, file, onProgress);
      return upload.uploadId;
    } catch (error) {
      // A refusal of the storage is final; a lost connection is not.
      if (error instanceof CommandError) throw error;
      if (tries === TRIES) throw lost(upload, error);
      await sleep(FIRST_WAIT_MS * 2 ** (tries - 1));
    }
  }
}

async function placeFor(client: ApiClient, file: LocalFile): Promise<Upload> {
  const body = { fileName: file.fileName, sizeBytes: file.sizeBytes };
  const idempotencyKey = createHash('sha256').update(`${file.sha256} ${file.fileName}`).digest('hex');
  const params = { header: { 'Idempotency-Key': `upload-${idempotencyKey}` } };
  const answer = await client.POST('/v1/uploads', { params, body });
  // The upload of an earlier day: whether its file was submitted is for the submission's own key to say.
  if (codeOf(answer.error) === 'upload_expired') return bodyOf(await client.POST('/v1/uploads', { body }));
  return bodyOf(answer);
}

/** Streams the file; the built-in fetch would announce no length for a stream, and S3 wants one. */
async function put(
  { url, method, headers }: Upload,
  file: LocalFile,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = send(url, { method, headers: { ...headers, 'content-length': file.sizeBytes } });
  const answered = new Promise<IncomingMessage>(
    (done, failed) => void request.on('response', done).on('error', failed),
  );
  const sent = pipeline(createReadStream(file.path), meter(onProgress), request).then(() => undefined);
  // Storage may refuse before it has read everything: its answer says more than the broken pipe.
  const response = await Promise.race([answered, sent.then(() => answered)]).catch(async (error: unknown) => {
    return Promise.race([answered, Promise.reject(error instanceof Error ? error : new Error(String(error)))]);
  });
  const answer = await text(response);
  await sent.catch(() => undefined);
  const status = response.statusCode ?? 0;
  if (status === 200 || status === 412) return;
  if (status >= 500) throw new Error(`the storage answered ${status}`);
  throw new CommandError(EXIT.refused, `The storage refused the upload of ${file.path} (${status}): ${answer}`);
}

function meter(onProgress: (bytes: number) => void): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      bytes += chunk.length;
      onProgress(bytes);
      done(null, chunk);
    },
  });
}

function lost({ url }: Upload, cause: unknown): CommandError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy = 'Run the same command again: it continues with the same upload.';
  return new CommandError(EXIT.unavailable, `The upload to ${new URL(url).host} was lost: ${reason}. ${remedy}`, {
    cause,
  });
}
