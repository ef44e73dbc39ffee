import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import * as v from 'valibot';
import {
  problemSchema,
  resultsSchema,
  submissionSchema,
  uploadSchema,
  type ResultsView,
  type SubmissionView,
  type UploadView,
} from '../../lambdas/domain/api/schemas.ts';
import { LocalError } from '../errors.ts';

const TRIES = 5;

/** A customer of the API: the calls that a file needs from upload to results. */
export class ApiClient {
  readonly #apiUrl: string;
  readonly #apiKey: string;

  constructor(apiUrl: string, apiKey: string) {
    this.#apiUrl = apiUrl;
    this.#apiKey = apiKey;
  }

  /**
   * Uploads a file to a presigned URL and submits it.
   *
   * @throws LocalError with what the API or the upload answered
   */
  async submitFile(path: string, reference: string): Promise<SubmissionView> {
    return this.submit(await this.upload(path), reference);
  }

  /**
   * Uploads a file to a presigned URL; answers the upload's id.
   *
   * @throws LocalError with what the API or the upload answered
   */
  async upload(path: string): Promise<string> {
    const { size } = await stat(path);
    const upload = await this.#call('POST', '/v1/uploads', uploadSchema, { fileName: basename(path), sizeBytes: size });
    await putFile(upload, path, size);
    return upload.uploadId;
  }

  /** @throws LocalError with what the API answered */
  submit(uploadId: string, reference: string): Promise<SubmissionView> {
    return this.#call('POST', '/v1/submissions', submissionSchema, { uploadId, reference });
  }

  submission(id: string): Promise<SubmissionView> {
    return this.#call('GET', `/v1/submissions/${id}`, submissionSchema);
  }

  results(id: string): Promise<ResultsView> {
    return this.#call('GET', `/v1/submissions/${id}/results`, resultsSchema);
  }

  /** Waits and repeats where the API asks for it (429, 503), as every client should. */
  async #call<S extends v.GenericSchema>(
    method: string,
    path: string,
    schema: S,
    body?: object,
  ): Promise<v.InferOutput<S>> {
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${this.#apiUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer: unknown = await response.json();
      if (response.ok) return v.parse(schema, answer);
      const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (tries >= TRIES || Number.isNaN(waitSeconds)) throw refusal(`${method} ${path}`, response.status, answer);
      await new Promise((done) => setTimeout(done, waitSeconds * 1000));
    }
  }
}

function refusal(call: string, status: number, answer: unknown): LocalError {
  const problem = v.safeParse(problemSchema, answer);
  const words = problem.success ? `${problem.output.title}. ${problem.output.detail ?? ''}` : JSON.stringify(answer);
  return new LocalError(`${call} answered ${status}: ${words}`);
}

/** Streams the file; the built-in fetch would announce no length for a stream, and S3 wants one. */
async function putFile({ url, method, headers }: UploadView, path: string, size: number): Promise<void> {
  const request = httpRequest(url, { method, headers: { ...headers, 'content-length': size } });
  const answered = new Promise<IncomingMessage>((done, failed) => request.on('response', done).on('error', failed));
  const [response] = await Promise.all([answered, pipeline(createReadStream(path), request)]);
  const answer = await text(response);
  if (response.statusCode === 200) return;
  throw new LocalError(`The upload of ${path} answered ${response.statusCode}: ${answer}`);
}
