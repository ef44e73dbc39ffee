import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import * as v from 'valibot';
import type { Rig } from '../drills/rig.ts';
import { type FunctionSpec, runtimeVariables } from '../cloud/index.ts';
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
/** Imports a bundle in a process that has done nothing else; says when it was done, from the process's start, and what the import took. */
const PROGRAM = `
const beganMs = performance.now();
await import(process.argv[1]);
const endedMs = performance.now();
console.log(JSON.stringify([endedMs, endedMs - beganMs]));
process.exit();
`;
const timesSchema = v.pipe(v.string(), v.parseJson(), v.tuple([v.number(), v.number()]));

interface Start {
  readonly name: string;
  readonly file: string;
  readonly variables: NodeJS.ProcessEnv;
  /** From the start of the process, as Lambda's init duration counts the runtime's own start. */
  readonly initsMs: number[];
  readonly importsMs: number[];
}

/** Size of every function's bundle, and the time from the start of its process to the end of the import. */
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
      importsMs: [],
    };
    // By turns, so that a busy moment of the machine meets all.
    for (let round = 0; round < ROUNDS; round++) {
      for (const start of [empty, ...starts]) await startOnce(start);
    }
    const share = (of: 'initsMs' | 'importsMs'): number =>
      worker === undefined ? Infinity : percentile(worker[of], 0.5) / percentile(empty[of], 0.5);
    const show = decimals(0, ' ms');
    const figures = await Promise.all(
      [empty, ...starts].map(async (start) => {
        const kilobytes = Math.round((await stat(start.file)).size / 1_024);
        const [init, own] = [percentile(start.initsMs, 0.5), percentile(start.importsMs, 0.5)];
        return reported(start.name, `${kilobytes} KB, ${show(init)}, its import ${show(own)}`);
      }),
    );
    return {
      name: 'cold',
      figures: [
        ...figures,
        atMost('worker ÷ empty handler', share('initsMs'), MOST_WORKER_SHARE, decimals(2)),
        reported('of the imports alone', decimals(2)(share('importsMs'))),
      ],
    };
  });
}

/** One per function of `lambdas`; the worker runs once per lane, from the same bundle. */
function startsOf({ sluice: { functions, cloud } }: Rig): Start[] {
  const byName = new Map<string, FunctionSpec>();
  for (const spec of functions.specs) byName.set(spec.environment['POWERTOOLS_SERVICE_NAME'] ?? spec.name, spec);
  return [...byName].map(([name, spec]) => {
    // A fresh environment in an account has no cache of compiled code.
    const { NODE_COMPILE_CACHE: _cache, ...variables } = runtimeVariables(spec, { cloud, cacheDirectory: DIRECTORY });
    return { name, file: join(spec.codeDirectory, 'index.mjs'), variables, initsMs: [], importsMs: [] };
  });
}

async function startOnce({ file, variables, initsMs, importsMs }: Start): Promise<void> {
  const args = ['--input-type=module', '-e', PROGRAM, pathToFileURL(file).href];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: variables });
  const [initMs, importMs] = v.parse(timesSchema, stdout);
  initsMs.push(initMs);
  importsMs.push(importMs);
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
