import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Rig } from '../drills/rig.ts';
import type { FunctionSpec } from '../lambda/spec.ts';
import { runtimeVariables } from '../lambda/variables.ts';
import { limitOf, type BenchContext } from './context.ts';
import { atMost, decimals, percentile, reported, type BenchResult } from './result.ts';

const ROUNDS = 9;
const MOST_WORKER_SHARE = 1.5;
const DIRECTORY = join(resolve(import.meta.dirname, '..', '..'), '.local', 'bench');

/** An empty handler with the worker's two main clients, constructed at start as the worker's are. */
const EMPTY_HANDLER = `
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
const clients = [DynamoDBDocumentClient.from(new DynamoDBClient({})), new SQSClient({})];
export const handler = async () => clients.length;
`;
/** Imports a bundle in a process that has done nothing else, and says how long that took. */
const PROGRAM = `
const startedAt = performance.now();
await import(process.argv[1]);
console.log(performance.now() - startedAt);
process.exit();
`;

interface Start {
  readonly name: string;
  readonly file: string;
  readonly variables: NodeJS.ProcessEnv;
  readonly initsMs: number[];
}

/** Size of every function's bundle, and the time from the process's first line to the end of the import. */
export async function cold({ withRig, say }: BenchContext): Promise<BenchResult> {
  say(`cold: every function started ${ROUNDS} times …`);
  return withRig({ limit: limitOf(100) }, async (rig) => {
    const starts = startsOf(rig);
    const worker = starts.find(({ name }) => name === 'worker');
    const empty: Start = {
      name: 'empty handler',
      file: await bundleEmpty(),
      variables: worker?.variables ?? {},
      initsMs: [],
    };
    // By turns, so that a busy moment of the machine meets all.
    for (let round = 0; round < ROUNDS; round++) {
      for (const start of [empty, ...starts]) start.initsMs.push(await initMs(start));
    }
    const median = ({ initsMs }: Start): number => percentile(initsMs, 0.5);
    const share = worker === undefined ? Infinity : median(worker) / median(empty);
    const figures = await Promise.all(
      [empty, ...starts].map(async (start) => {
        const kilobytes = Math.round((await stat(start.file)).size / 1_024);
        return reported(start.name, `${kilobytes} KB, ${decimals(0)(median(start))} ms`);
      }),
    );
    return { name: 'cold', figures: [...figures, atMost('worker ÷ empty handler', share, MOST_WORKER_SHARE)] };
  });
}

/** One per function of `lambdas`; the worker runs once per lane, from the same bundle. */
function startsOf({ sluice: { functions, cloud } }: Rig): Start[] {
  const byName = new Map<string, FunctionSpec>();
  for (const spec of functions.specs) byName.set(spec.environment['POWERTOOLS_SERVICE_NAME'] ?? spec.name, spec);
  return [...byName].map(([name, spec]) => {
    // A fresh environment in an account has no cache of compiled code.
    const { NODE_COMPILE_CACHE: _cache, ...variables } = runtimeVariables(spec, { cloud, cacheDirectory: DIRECTORY });
    return { name, file: join(spec.codeDirectory, 'index.mjs'), variables, initsMs: [] };
  });
}

async function initMs({ file, variables }: Start): Promise<number> {
  const args = ['--input-type=module', '-e', PROGRAM, pathToFileURL(file).href];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: variables });
  return Number(stdout);
}

/** With the options of the functions' own bundles, see lib/constructs/pipeline-function.ts. */
async function bundleEmpty(): Promise<string> {
  const outfile = join(DIRECTORY, 'empty', 'index.mjs');
  await build({
    stdin: { contents: EMPTY_HANDLER, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    banner: {
      js: "import{createRequire as _createRequire}from'node:module';const require=_createRequire(import.meta.url);",
    },
  });
  return outfile;
}
