import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as v from 'valibot';
import type { ResultsView } from '../../lambdas/domain/api/schemas.ts';
import { LocalError } from '../errors.ts';

/** A results file on this disk. */
export interface ResultFile {
  readonly kind: ResultsView['files'][number]['kind'];
  readonly format: ResultsView['files'][number]['format'];
  readonly path: string;
  readonly records: number;
}

/** Downloads every results file through its presigned URL into a directory. */
export async function downloadResults({ files, version }: ResultsView, directory: string): Promise<ResultFile[]> {
  await mkdir(directory, { recursive: true });
  const downloaded: ResultFile[] = [];
  for (const { kind, format, part, url, records } of files) {
    const path = join(directory, `v${version}-${kind}-${part}.${format}`);
    const response = await fetch(url);
    if (!response.ok || response.body === null) {
      throw new LocalError(`The download of ${path} answered ${response.status}: ${await response.text()}`);
    }
    await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
    downloaded.push({ kind, format, path, records });
  }
  return downloaded;
}

const failedRecordSchema = v.object({
  recordNo: v.number(),
  line: v.number(),
  reason: v.string(),
  message: v.string(),
  detail: v.optional(v.string()),
});

export type FailedRecord = v.InferOutput<typeof failedRecordSchema>;

/** The first failed records of the results, at most `limit`. */
export async function failedRecords(files: readonly ResultFile[], limit: number): Promise<FailedRecord[]> {
  const failed: FailedRecord[] = [];
  for await (const line of linesOf(files, 'failed')) {
    if (failed.length >= limit) break;
    failed.push(v.parse(v.pipe(v.string(), v.parseJson(), failedRecordSchema), line));
  }
  return failed;
}

/** The first succeeded record of the results; undefined where none succeeded. */
export async function firstSucceeded(files: readonly ResultFile[]): Promise<unknown> {
  for await (const line of linesOf(files, 'succeeded')) return JSON.parse(line);
  return undefined;
}

async function* linesOf(files: readonly ResultFile[], kind: ResultFile['kind']): AsyncGenerator<string> {
  for (const file of files) {
    if (file.kind !== kind || file.format !== 'ndjson') continue;
    for await (const line of createInterface({ input: createReadStream(file.path), crlfDelay: Infinity })) {
      if (line !== '') yield line;
    }
  }
}
