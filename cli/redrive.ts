/**
 * Replays failed and dead-lettered records through the redrive function of one stage:
 * `npm run redrive -- --reason attempts_exhausted` counts them, with `--execute` it does it.
 */
import { InvokeCommand, LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { SluiceError } from '../lambdas/domain/errors.ts';
import { LANES } from '../lambdas/domain/model.ts';
import { REASON_CODES } from '../lambdas/domain/reasons.ts';
import { readCliEnvironment } from './environment.ts';
import { addReports, describeReport, reportSchema, type Report } from './redrive-report.ts';
import { reportFailure, UsageError } from './usage.ts';

const USAGE = `Usage: npm run redrive -- <what to replay> [--execute] [--function NAME]

  --submission ID      the failed records of one submission
  --tenant ID          of one tenant
  --reason CODE[,…]    that failed for these reasons
  --provider NAME      that this provider has not answered
  --lane small|bulk    of one lane
  --after TIME         that failed after this time, like 2026-01-31T12:00:00Z
  --before TIME        and before this one
  --mode dead_letter_queue   drains the dead-letter queues: also what crashed and what cannot be read
  --mode give_up       with --submission: ends it without results where they cannot be verified, as the runbook says
  --rate N             records per second at most (default: what the slowest provider takes)
  --force              also records that a replay cannot help
  --execute            do it; without it, it is only counted

Reasons: ${REASON_CODES.join(', ')}.
The function is RedriveFunctionName among the outputs of the stage's pipeline stack: give it as --function or in REDRIVE_FUNCTION.
Credentials, AWS_REGION and AWS_ENDPOINT_URL are read from the environment; npm run local prints those to export.`;

/** The function did not do it, and says why. */
export class RedriveRefusedError extends SluiceError {}

/** What a function answers: its payload, and whether that is an error. */
export interface Invocation {
  payload: string;
  failed: boolean;
}

export interface RedriveCliDeps {
  invoke: (functionName: string, event: object) => Promise<Invocation>;
  print: (line: string) => void;
  redriveFunction: string | undefined;
}

const OPTIONS = {
  submission: { type: 'string' },
  tenant: { type: 'string' },
  reason: { type: 'string', multiple: true },
  provider: { type: 'string' },
  lane: { type: 'string' },
  after: { type: 'string' },
  before: { type: 'string' },
  mode: { type: 'string' },
  rate: { type: 'string' },
  force: { type: 'boolean' },
  execute: { type: 'boolean' },
  function: { type: 'string' },
} as const;

/**
 * Asks the function, again and again while it says that there is more, and prints the sum.
 *
 * @throws UsageError when no function is named; RedriveRefusedError with the sentence of the function
 */
export async function runRedrive(deps: RedriveCliDeps, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const functionName = values.function ?? deps.redriveFunction;
  if (functionName === undefined) {
    throw new UsageError('Name the redrive function: --function NAME, or REDRIVE_FUNCTION in the environment.');
  }
  const event = eventOf(values);
  let sum = await ask(deps, functionName, event);
  while (sum.nextCursor !== undefined) {
    deps.print(`${sum.replayed} so far …`);
    sum = addReports(sum, await ask(deps, functionName, { ...event, cursor: sum.nextCursor }));
  }
  for (const line of describeReport(sum)) deps.print(line);
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** The function checks every value itself and names what is allowed. */
function eventOf({ submission, tenant, reason, provider, lane, after, before, mode, rate, force, execute }: Values) {
  if (lane !== undefined && !LANES.some((known) => known === lane)) {
    throw new UsageError(`--lane is ${lane}: set ${LANES.join(' or ')}.`);
  }
  const ratePerSecond = rate === undefined ? undefined : Number(rate);
  if (Number.isNaN(ratePerSecond)) throw new UsageError(`--rate is ${rate}: set a number of records per second.`);
  const given = {
    mode,
    submissionId: submission,
    tenantId: tenant,
    reason: reason?.flatMap((codes) => codes.split(',').map((code) => code.trim())),
    provider,
    lane,
    finishedAfter: after,
    finishedBefore: before,
    ratePerSecond,
    force,
  };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...set, dryRun: execute !== true };
}

const errorSchema = v.pipe(v.string(), v.parseJson(), v.object({ errorMessage: v.string() }));

const refusalSchema = v.pipe(v.string(), v.parseJson(), v.object({ refused: v.string() }));

async function ask({ invoke }: RedriveCliDeps, functionName: string, event: object): Promise<Report> {
  const { payload, failed } = await invoke(functionName, event);
  if (failed) {
    const error = v.safeParse(errorSchema, payload);
    throw new RedriveRefusedError(error.success ? error.output.errorMessage : payload);
  }
  const refusal = v.safeParse(refusalSchema, payload);
  if (refusal.success) throw new RedriveRefusedError(refusal.output.refused);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), reportSchema), payload);
  if (parsed.success) return parsed.output;
  throw new RedriveRefusedError(`${functionName} answered ${payload.slice(0, 200)}: is it the redrive function?`);
}

/** A redrive runs for up to a quarter of an hour; whoever hangs up sooner and asks again does it twice. */
const REQUEST_TIMEOUT_MS = 930_000;

/** Invokes functions, once: a repetition of what got no answer would do it twice. */
export function lambdaInvoker(overrides: LambdaClientConfig = {}): RedriveCliDeps['invoke'] & { close(): void } {
  const client = new LambdaClient({
    maxAttempts: 1,
    requestHandler: { requestTimeout: REQUEST_TIMEOUT_MS },
    ...overrides,
  });
  const invoke: RedriveCliDeps['invoke'] = async (functionName, event) => {
    const Payload = Buffer.from(JSON.stringify(event));
    try {
      const answer = await client.send(new InvokeCommand({ FunctionName: functionName, Payload }));
      const failed = answer.FunctionError !== undefined;
      return { payload: Buffer.from(answer.Payload ?? []).toString('utf8'), failed };
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new RedriveRefusedError(`The function ${functionName} could not be invoked: ${why}`, { cause });
    }
  };
  return Object.assign(invoke, { close: () => client.destroy() });
}

async function main(args: readonly string[]): Promise<void> {
  if (args.length === 0 || args.includes('--help')) return console.log(USAGE);
  const invoke = lambdaInvoker();
  try {
    const { redriveFunction } = readCliEnvironment();
    await runRedrive({ invoke, print: console.log, redriveFunction }, args);
  } finally {
    invoke.close();
  }
}

if (import.meta.main) await main(process.argv.slice(2)).catch((error: unknown) => reportFailure(error, USAGE));
