import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ParseArgsOptionsConfig } from 'node:util';
import type { ApiClient, Submission } from '../client/client.ts';
import { bodyOf, codeOf } from './api.ts';
import { downloadResults } from './download.ts';
import { CommandError, EXIT, usageError, type ExitCode } from './errors.ts';
import { duration, ProgressView, type ProgressStream } from './progress.ts';
import { profileOf, profiles, saveProposal, tellPreview } from './profiles.ts';
import { readLocalFile, uploadFile, type LocalFile } from './upload.ts';
import { exitCodeOf, watch } from './watch.ts';

/** What a command works with. */
export interface Context {
  client: ApiClient;
  /** Results of the command: what a pipe gets. */
  print: (line: string) => void;
  /** Progress, for people only. */
  terminal: ProgressStream;
  input: NodeJS.ReadableStream;
  options: Options;
}
type Options = Readonly<Record<string, string | boolean | undefined>>;

export interface Command {
  usage: string;
  summary: string;
  options: ParseArgsOptionsConfig;
  /** Fewest and most arguments beside the options. */
  operands: readonly [number, number];
  run: (context: Context, operands: readonly string[]) => Promise<ExitCode>;
}

/** Of `sluice`, by name. Everything that is said of them is made from this. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  preview: {
    usage: 'preview FILE [--profile NAME|FILE] [--format F] [--save FILE]',
    summary: 'what would become of a file, and the profile that makes more of it right; nothing is paid',
    options: {
      profile: { type: 'string' },
      format: { type: 'string' },
      name: { type: 'string' },
      save: { type: 'string' },
    },
    operands: [1, 1],
    run: preview,
  },
  submit: {
    usage:
      'submit FILE [--watch] [--out DIR] [--profile NAME|FILE] [--reference TEXT] [--format F] [--expected N] [--again]',
    summary: 'upload a file and submit it; - reads standard input (give it a --name)',
    options: {
      watch: { type: 'boolean' },
      out: { type: 'string' },
      profile: { type: 'string' },
      name: { type: 'string' },
      reference: { type: 'string' },
      format: { type: 'string' },
      expected: { type: 'string' },
      again: { type: 'boolean' },
    },
    operands: [1, 1],
    run: submit,
  },
  list: {
    usage: 'list [--state S] [--limit N]',
    summary: 'submissions, newest first',
    options: { state: { type: 'string' }, limit: { type: 'string' } },
    operands: [0, 0],
    run: list,
  },
  status: {
    usage: 'status ID [--watch]',
    summary: 'how far a submission is',
    options: { watch: { type: 'boolean' } },
    operands: [1, 1],
    run: status,
  },
  records: {
    usage: 'records ID [NUMBER] [--record-id ID] [--state S] [--reason R] [--limit N]',
    summary: 'what happened to the records, one JSON object a line',
    options: {
      'record-id': { type: 'string' },
      state: { type: 'string' },
      reason: { type: 'string' },
      limit: { type: 'string' },
    },
    operands: [1, 2],
    run: records,
  },
  results: {
    usage: 'results ID --out DIR',
    summary: 'download the results, compared with their checksums',
    options: { out: { type: 'string' } },
    operands: [1, 1],
    run: results,
  },
  cancel: {
    usage: 'cancel ID',
    summary: 'stop a submission; finished records keep their outcome',
    options: {},
    operands: [1, 1],
    run: cancel,
  },
  profiles: {
    usage: 'profiles [NAME | put NAME FILE | delete NAME]',
    summary: 'stored profiles: how files are read, and which columns are which fields',
    options: {},
    operands: [0, 3],
    run: profiles,
  },
};

async function submit(context: Context, [path = '']: readonly string[]): Promise<ExitCode> {
  const { options, client } = context;
  const expectedRecords = number(options, 'expected', 0);
  const reference = text(options, 'reference');
  const said = await saidOfFile(options);
  const submission = await withFile(context, path, async (file) => {
    const uploadId = await upload(context, file);
    const view = viewOf(context);
    // The same bytes are the same request, so that a repeated command does not process a file twice.
    const idempotencyKey = options['again'] === true ? `${file.sha256}-${Date.now()}` : file.sha256;
    const answer = await client.POST('/v1/submissions', {
      params: { header: { 'Idempotency-Key': idempotencyKey } },
      body: {
        uploadId,
        ...said,
        ...(reference !== undefined && { reference }),
        ...(expectedRecords !== undefined && { expectedRecords }),
      },
    });
    if (codeOf(answer.error) === 'idempotency_key_reused') throw submittedBefore(path);
    const accepted = bodyOf(answer);
    if (answer.response.headers.get('idempotency-replayed') === 'true') {
      view?.say(`This file was submitted before, as ${accepted.id}; with --again it is processed once more.`);
    }
    return accepted;
  });
  const out = text(options, 'out');
  if (options['watch'] !== true && out === undefined) {
    tell(context, submission);
    return EXIT.done;
  }
  return follow(context, submission.id, out);
}

/** What the options say of a file. */
async function saidOfFile(options: Options) {
  const [format, profile] = [text(options, 'format'), text(options, 'profile')];
  return {
    ...(format !== undefined && { format: oneOf('format', format, ['csv', 'ndjson', 'json']) }),
    ...(profile !== undefined && { profile: await profileOf(profile) }),
  };
}

async function upload(context: Context, file: LocalFile): Promise<string> {
  const view = viewOf(context);
  const uploadId = await uploadFile(context.client, file, (bytes) => {
    view?.showUpload(bytes, file.sizeBytes, performance.now());
  });
  view?.end();
  return uploadId;
}

async function preview(context: Context, [path = '']: readonly string[]): Promise<ExitCode> {
  const { options, client, print } = context;
  const said = await saidOfFile(options);
  const found = await withFile(context, path, async (file) => {
    const uploadId = await upload(context, file);
    return bodyOf(await client.POST('/v1/previews', { body: { uploadId, ...said } }));
  });
  if (options['json'] === true) print(JSON.stringify(found));
  else tellPreview(print, found);
  const save = text(options, 'save');
  if (save !== undefined) context.terminal.write(`${await saveProposal(save, found)}\n`);
  return found.asProposed === undefined && found.asGiven.refused ? EXIT.notProcessed : EXIT.done;
}

const submittedBefore = (path: string): CommandError =>
  new CommandError(
    EXIT.refused,
    `${path} was submitted before, with other options. To process it once more, add --again; sluice list shows what was submitted.`,
  );

/** Standard input is kept in a file while it is uploaded: an upload needs its length, and may have to be repeated. */
async function withFile<T>(
  { input, options }: Context,
  path: string,
  use: (file: Awaited<ReturnType<typeof readLocalFile>>) => Promise<T>,
): Promise<T> {
  if (path !== '-') return use(await readLocalFile(path, text(options, 'name')));
  const name = text(options, 'name');
  if (name === undefined)
    throw usageError('Standard input has no name: give one that says the format, like --name customers.csv.');
  const directory = await mkdtemp(join(tmpdir(), 'sluice-'));
  try {
    const copy = join(directory, 'input');
    await pipeline(input, createWriteStream(copy));
    return await use(await readLocalFile(copy, name));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function status(context: Context, [id = '']: readonly string[]): Promise<ExitCode> {
  if (context.options['watch'] === true) return follow(context, id, undefined);
  tell(context, bodyOf(await context.client.GET('/v1/submissions/{id}', { params: { path: { id } } })));
  return EXIT.done;
}

async function follow(context: Context, id: string, out: string | undefined): Promise<ExitCode> {
  const view = viewOf(context);
  const submission = await watch(context.client, id, view);
  view?.end();
  tell(context, submission);
  const { succeeded, failed, cancelled } = submission.counts;
  if (out !== undefined && succeeded + failed + cancelled > 0) await download(context, id, out);
  return exitCodeOf(submission);
}

async function list({ client, options, print }: Context): Promise<ExitCode> {
  const most = number(options, 'limit', 1) ?? 20;
  const state = text(options, 'state');
  let cursor: string | undefined;
  for (let left = most; left > 0;) {
    const query = { limit: Math.min(left, 100), state, cursor };
    const page = bodyOf(await client.GET('/v1/submissions', { querySerializer: () => queryOf(query) }));
    for (const item of page.items) print(options['json'] === true ? JSON.stringify(item) : oneLine(item));
    left -= page.items.length;
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return EXIT.done;
}

async function records({ client, options, print }: Context, [id = '', recordNo]: readonly string[]): Promise<ExitCode> {
  if (recordNo !== undefined) {
    const path = { id, recordNo: wholeNumber('NUMBER', recordNo, 1) };
    print(JSON.stringify(bodyOf(await client.GET('/v1/submissions/{id}/records/{recordNo}', { params: { path } }))));
    return EXIT.done;
  }
  const [state, reason] = [text(options, 'state'), text(options, 'reason')];
  const recordId = text(options, 'record-id');
  let cursor: string | undefined;
  for (let left = number(options, 'limit', 1) ?? Infinity; left > 0;) {
    const query = { limit: Math.min(left, 500), recordId, state, reason, cursor };
    const [params, querySerializer] = [{ path: { id } }, () => queryOf(query)];
    const page = bodyOf(await client.GET('/v1/submissions/{id}/records', { params, querySerializer }));
    for (const item of page.items) print(JSON.stringify(item));
    left -= page.items.length;
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return EXIT.done;
}

async function results(context: Context, [id = '']: readonly string[]): Promise<ExitCode> {
  const out = text(context.options, 'out');
  if (out === undefined) throw usageError('Say where the results are to go: --out DIR.');
  await download(context, id, out);
  return EXIT.done;
}

async function download({ client, print, options }: Context, id: string, out: string): Promise<void> {
  for (const file of await downloadResults(client, id, out)) {
    print(options['json'] === true ? JSON.stringify(file) : `${file.path}  (${file.records} records)`);
  }
}

async function cancel(context: Context, [id = '']: readonly string[]): Promise<ExitCode> {
  tell(context, bodyOf(await context.client.POST('/v1/submissions/{id}/cancel', { params: { path: { id } } })));
  return EXIT.done;
}

/** Progress is for people: a pipe or a log gets the result only. */
const viewOf = ({ terminal, options }: Context): ProgressView | undefined =>
  terminal.isTTY === true && options['json'] !== true ? new ProgressView(terminal) : undefined;

function tell({ print, options }: Context, submission: Submission): void {
  if (options['json'] === true) return print(JSON.stringify(submission));
  print(oneLine(submission));
  if (submission.message !== undefined) print(submission.message);
  for (const [reason, count] of Object.entries(submission.failures)) print(`  ${count} failed: ${reason}`);
  const left = (Date.parse(submission.estimatedCompletionAt ?? '') - Date.now()) / 1000;
  if (left > 0) print(`  about ${duration(left)} left`);
}

function oneLine({ id, state, counts, reference }: Submission): string {
  const { total, succeeded, failed, cancelled } = counts;
  const numbers = `${succeeded} of ${total ?? '?'} records succeeded, ${failed} failed`;
  const stopped = cancelled > 0 ? `, ${cancelled} cancelled` : '';
  return `${id}  ${state}: ${numbers}${stopped}${reference === undefined ? '' : `  "${reference}"`}`;
}

function text(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

function number(options: Options, name: string, minimum: number): number | undefined {
  const value = text(options, name);
  return value === undefined ? undefined : wholeNumber(`--${name}`, value, minimum);
}

function wholeNumber(name: string, value: string, minimum: number): number {
  if (/^\d{1,9}$/.test(value) && Number(value) >= minimum) return Number(value);
  throw usageError(`${name} is "${value}": give a whole number from ${minimum}.`);
}

function oneOf<const T extends string>(name: string, value: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw usageError(`--${name} is "${value}": give one of ${choices.join(', ')}.`);
  return found;
}

/** Filters go as they were given: states and reasons are the API's to know, and a newer one may have more than this command. */
function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.toString();
}
