/**
 * Shows the whole pipeline on this machine: `npm run demo`. It uploads a file, submits it, shows the progress, and ends by
 * saying what became of every record and where the results are.
 */
import { join, relative, resolve } from 'node:path';
import { CLOSED_STATES } from '../lambdas/domain/model.ts';
import type { SubmissionView } from '../lambdas/domain/api/schemas.ts';
import { ApiClient } from './demo/client.ts';
import { writeGeneratedFile } from './demo/generate.ts';
import { duration, ProgressView } from '../cli/sluice/progress.ts';
import { downloadResults, failedRecords, firstSucceeded, type ResultFile } from './demo/results.ts';
import { runCommand } from './command.ts';
import { LocalError } from './errors.ts';
import { parseOptions, textOption, wholeNumber } from './options.ts';
import { runUntilStopped } from './shutdown.ts';
import { watchStarts, type StartFailures } from './start-failures.ts';
import { startLocal, type LocalSluice } from './start.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SAMPLE = join(ROOT, 'samples', 'customers.csv');
const USAGE = `Usage: npm run demo -- [options]
  --file F      submit this file (CSV, NDJSON or a JSON array; default: samples/customers.csv)
  --records N   submit N generated records instead
  --json        last line of standard output: one JSON object with state, records, succeeded, failed, seconds, apiUrl
  --stage NAME  stage under config/stages (default: dev)`;

const POLL_INTERVAL_MS = 250;
/** Without any movement for so long, something is wrong, and waiting longer shows nothing. */
const STALL_MS = 300_000;
const FAILURES_SHOWN = 20;

interface Outcome {
  readonly submission: SubmissionView;
  readonly seconds: number;
  readonly isOver: boolean;
}

async function main(args: readonly string[]): Promise<number> {
  const values = parseOptions(
    args,
    {
      file: { type: 'string' },
      records: { type: 'string' },
      json: { type: 'boolean' },
      stage: { type: 'string' },
      help: { type: 'boolean' },
    },
    USAGE,
  );
  if (values['help'] === true) return say(USAGE);
  const records = wholeNumber(values, 'records', 1, 1_000_000);
  const file = await fileOf(textOption(values, 'file'), records);

  const startup = startLocal({
    stage: textOption(values, 'stage'),
    onProgress: (message) => console.log(`${message} …`),
  });
  void runUntilStopped(async () => {
    await (await startup).stop();
    process.exit(130);
  });
  const sluice = await startup;
  try {
    return await show(sluice, file, values['json'] === true);
  } finally {
    await sluice.stop();
  }
}

async function fileOf(file: string | undefined, records: number | undefined): Promise<string> {
  if (records === undefined) return resolve(file ?? SAMPLE);
  if (file !== undefined) throw new LocalError(`Give --file or --records, not both.\n${USAGE}`);
  const path = join(ROOT, '.local', 'demo', `records-${records}.csv`);
  await writeGeneratedFile(path, records);
  return path;
}

async function show(sluice: LocalSluice, file: string, json: boolean): Promise<number> {
  const [tenant] = sluice.tenants;
  const client = new ApiClient(sluice.apiUrl, tenant?.apiKey ?? '');
  say(`\nSubmitting ${relative(process.cwd(), file)} to ${sluice.apiUrl}`);
  const starts = watchStarts(sluice.functions);
  const outcome = await submitAndWatch(client, file, starts).catch((error: unknown) => {
    // A function that cannot start is the reason for whatever the API answered.
    starts.check();
    throw error;
  });
  const { submission, seconds, isOver } = outcome;
  if (isOver) await tell(client, outcome);
  else say(`Nothing moved for ${duration(STALL_MS / 1000)}; the submission is still ${submission.state}.`);
  const denials = sluice.cloud.denials();
  for (const { message } of denials) say(`Access denied: ${message}`);
  if (json) {
    const { total, succeeded, failed } = submission.counts;
    const { state } = submission;
    say(JSON.stringify({ state, records: total, succeeded, failed, seconds, apiUrl: sluice.apiUrl }));
  }
  return isOver && denials.length === 0 ? 0 : 1;
}

async function submitAndWatch(client: ApiClient, file: string, starts: StartFailures): Promise<Outcome> {
  const startedAt = performance.now();
  let submission = await client.submitFile(file, 'demo');
  say(`Accepted as ${submission.id} after ${Math.round(performance.now() - startedAt)} ms\n`);
  const view = new ProgressView(process.stdout);
  let movedAt = performance.now();
  for (;;) {
    const now = performance.now();
    view.show(submission, now);
    const isOver = CLOSED_STATES.some((state) => state === submission.state);
    if (isOver || now - movedAt > STALL_MS) {
      view.end();
      return { submission, seconds: Math.round((now - startedAt) / 10) / 100, isOver };
    }
    starts.check();
    await new Promise((done) => setTimeout(done, POLL_INTERVAL_MS));
    const next = await client.submission(submission.id);
    if (JSON.stringify(next.counts) !== JSON.stringify(submission.counts) || next.state !== submission.state) {
      movedAt = performance.now();
    }
    submission = next;
  }
}

async function tell(client: ApiClient, { submission, seconds }: Outcome): Promise<void> {
  const { id, state, counts, message } = submission;
  const { total, succeeded, failed, cancelled } = counts;
  say(`\n${state} after ${seconds} s: ${succeeded} of ${total ?? 0} records succeeded, ${failed} failed.`);
  if (message !== undefined) say(message);
  if (succeeded + failed + cancelled === 0) return;
  const files = await downloadResults(await client.results(id), join(ROOT, '.local', 'results', id));
  await tellFailures(files, failed);
  say('\nResults');
  for (const { path, records } of files) say(`  ${relative(process.cwd(), path)}  (${records} records)`);
  const enriched = await firstSucceeded(files);
  if (enriched !== undefined) say(`\nOne enriched record\n${JSON.stringify(enriched, undefined, 2)}`);
}

async function tellFailures(files: readonly ResultFile[], failed: number): Promise<void> {
  if (failed === 0) return;
  say('\nRecords that failed');
  for (const { recordNo, line, reason, message, detail } of await failedRecords(files, FAILURES_SHOWN)) {
    say(
      `  record ${recordNo} (line ${line})  ${reason}\n    ${message}${detail === undefined ? '' : `\n    ${detail}`}`,
    );
  }
  if (failed > FAILURES_SHOWN) say(`  … and ${failed - FAILURES_SHOWN} more in the results.`);
}

function say(text: string): number {
  console.log(text);
  return 0;
}

await runCommand(main);
