/*
 * One measurement of the fan-out benchmark, in a process of its own so that its memory is its own: `parse` reads the records of a
 * file and drops them, `fan-out` runs the function's code over it. Bundled before it is started.
 */
import { fanOutSlice } from '../../lambdas/domain/fan-out/fan-out-slice.ts';
import { openSource, readSource } from '../../lambdas/domain/source/source-reader.ts';
import { createFanOutPorts, type FanOutPorts } from './fan-out-ports.ts';

async function parse({ deps, submission }: FanOutPorts): Promise<number> {
  const { start, dialect } = await openSource(deps, submission);
  let records = 0;
  for await (const items of readSource(deps, submission, start, { dialect })) records += items.length;
  return records;
}

async function fanOut({ deps, submission, sent }: FanOutPorts): Promise<number> {
  const { submissionId, tenantId } = submission;
  await fanOutSlice(deps, { v: 1, submissionId, tenantId }, { remainingMs: () => 3_600_000 });
  return sent();
}

const [mode, path] = process.argv.slice(2);
if ((mode !== 'parse' && mode !== 'fan-out') || path === undefined) {
  throw new RangeError('Start it with parse or fan-out, and a file.');
}
const ports = createFanOutPorts(path);
const before = process.cpuUsage();
const startedAt = performance.now();
const records = await (mode === 'parse' ? parse(ports) : fanOut(ports));
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(before);
const peakBytes = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ records, seconds, processorSeconds: (user + system) / 1e6, peakBytes }));
