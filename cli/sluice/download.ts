import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ApiClient, Results } from '../client/client.ts';
import { bodyOf } from './api.ts';
import { CommandError, EXIT } from './errors.ts';

type Part = Results['files'][number];

/** Results on this disk: the parts of one kind and format, joined. */
export interface DownloadedFile {
  kind: Part['kind'];
  format: Part['format'];
  path: string;
  records: number;
}

const TRIES = 4;
const LINE_FEED = 10;

/**
 * Downloads the results into a directory: one file of each kind and format. Every part is compared with its checksum before a file gets its
 * name, so that what is there is whole.
 *
 * @throws CommandError when a part does not arrive, or is not what the API says that it is
 */
export async function downloadResults(client: ApiClient, id: string, directory: string): Promise<DownloadedFile[]> {
  await mkdir(directory, { recursive: true });
  const results = await resultsOf(client, id);
  const groups = Map.groupBy(results.files, ({ kind, format }) => `${kind}.${format}`);
  const downloaded: DownloadedFile[] = [];
  for (const [name, parts] of groups) {
    const [first] = parts;
    if (first === undefined) continue;
    const path = join(directory, `${id}-v${results.version}-${name}`);
    await joinParts(client, id, results.version, parts, path);
    const records = parts.reduce((sum, part) => sum + part.records, 0);
    downloaded.push({ kind: first.kind, format: first.format, path, records });
  }
  return downloaded;
}

const resultsOf = async (client: ApiClient, id: string): Promise<Results> =>
  bodyOf(await client.GET('/v1/submissions/{id}/results', { params: { path: { id } } }));

async function joinParts(
  client: ApiClient,
  id: string,
  version: number,
  parts: readonly Part[],
  path: string,
): Promise<void> {
  const unfinished = `${path}.unfinished`;
  try {
    await rm(unfinished, { force: true });
    for (const part of parts.toSorted((a, b) => a.part - b.part)) {
      const one = `${unfinished}-${part.part}`;
      await downloadPart(client, id, version, part, one);
      // Every part of a CSV begins with the header: the joined file has it once.
      const skipHeader = part.format === 'csv' && part.part > 1;
      const target = createWriteStream(unfinished, { flags: 'a' });
      if (skipHeader) await pipeline(createReadStream(one), withoutFirstLine(), target);
      else await pipeline(createReadStream(one), target);
      await rm(one);
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function downloadPart(client: ApiClient, id: string, version: number, part: Part, path: string): Promise<void> {
  let { url } = part;
  for (let tries = 1; ; tries++) {
    const found = await fetchTo(url, path).catch((cause: unknown) => cause);
    if (found === part.sha256) return;
    await rm(path, { force: true });
    if (tries < TRIES) {
      url = await freshUrl(client, id, version, part);
      continue;
    }
    const what = `Part ${part.part} of the ${part.kind} records (${part.format})`;
    if (typeof found === 'string') {
      throw new CommandError(
        EXIT.damaged,
        `${what} has the SHA-256 ${found}, but should have ${part.sha256}: nothing was kept of it.`,
      );
    }
    const reason = found instanceof Error ? found.message : String(found);
    throw new CommandError(EXIT.unavailable, `${what} could not be downloaded: ${reason}.`, { cause: found });
  }
}

/** Links expire: a part that comes late has a new one. */
async function freshUrl(client: ApiClient, id: string, version: number, part: Part): Promise<string> {
  const now = await resultsOf(client, id);
  const same = now.files.find(
    ({ kind, format, part: no }) => kind === part.kind && format === part.format && no === part.part,
  );
  if (now.version === version && same !== undefined) return same.url;
  throw new CommandError(
    EXIT.refused,
    `The results of ${id} were replaced by version ${now.version} meanwhile: run the command again.`,
  );
}

/** Answers the SHA-256 of what was written. */
async function fetchTo(url: string, path: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`the storage answered ${response.status}`);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(response.body), hashing, createWriteStream(path));
  return hash.digest('hex');
}

function withoutFirstLine(): Transform {
  let isHeader = true;
  let inQuotes = false;
  return new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      let from = 0;
      while (isHeader && from < chunk.length) {
        const byte = chunk[from++];
        if (byte === 0x22) inQuotes = !inQuotes;
        isHeader = byte !== LINE_FEED || inQuotes;
      }
      done(null, chunk.subarray(from));
    },
  });
}
