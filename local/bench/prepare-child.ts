/*
 * One measurement of the prepare benchmark, in a process of its own so that its memory is its own: the function's code over one file, with
 * an object store that drops what is written. Bundled before it is started.
 */
import { createReadStream, statSync } from 'node:fs';
import { createConverter } from '../../lambdas/adapters/prepare/converter.ts';
import { PART_BYTES } from '../../lambdas/adapters/s3/object-writer.ts';
import type { Submission } from '../../lambdas/domain/model.ts';
import { PREPARE_DEFAULTS, prepareSlice, type PrepareDeps } from '../../lambdas/domain/prepare/prepare-slice.ts';
import { systemClock } from '../../lambdas/runtime/clock.ts';
import { port } from './fan-out-ports.ts';

const [path] = process.argv.slice(2);
if (path === undefined) throw new RangeError('Start it with a file.');

const counts = { bytes: 0, lines: 0, reads: 0, headWrites: 0, outcome: '' };
const submission = {
  submissionId: 'sub_1',
  tenantId: 'acme',
  source: { key: 'uploads/acme/1', etag: '"1"', sizeBytes: statSync(path).size },
  format: 'csv',
  terms: { maxRecordBytes: 65_536, maxRecords: 1_000_000, readerVersion: 1, maxFileBytes: 1024 ** 3 },
} as Submission;

const write = async (): Promise<Submission> => {
  counts.headWrites += 1;
  return submission;
};
const objects = port<PrepareDeps['objects']>('objects', {
  read: async (_source, fromByte) => {
    counts.reads += 1;
    return createReadStream(path, { start: fromByte });
  },
  writer: () => ({
    async write(chunk) {
      counts.bytes += chunk.byteLength;
      for (const byte of chunk) if (byte === 10) counts.lines += 1;
    },
    close: async () => ({ etag: '"2"', sizeBytes: counts.bytes }),
    abort: async () => undefined,
  }),
});
const queue = { send: async () => [] };
const deps: PrepareDeps = {
  submissions: port<PrepareDeps['submissions']>('submissions', {
    get: async () => submission,
    claimFanOut: async () => ({ outcome: 'claimed', submission: await write() }),
    checkpointFanOut: write,
    setPrepared: async () => {
      counts.outcome = 'prepared';
      return write();
    },
    reject: async (_id, _owner, { code }) => {
      counts.outcome = code;
      return write();
    },
  }),
  objects,
  converter: createConverter(objects),
  prepareQueue: queue,
  fanOutQueue: queue,
  telemetry: { emit: () => undefined },
  clock: systemClock,
  random: Math.random,
  settings: PREPARE_DEFAULTS,
};

const before = process.cpuUsage();
const startedAt = performance.now();
await prepareSlice(deps, { v: 1, submissionId: 'sub_1', tenantId: 'acme' }, { remainingMs: () => 3_600_000 });
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(before);
const peakBytes = process.resourceUsage().maxRSS * 1024;
const parts = Math.ceil(counts.bytes / PART_BYTES);
console.log(JSON.stringify({ ...counts, parts, seconds, processorSeconds: (user + system) / 1e6, peakBytes }));
