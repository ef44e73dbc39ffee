/*
 * One measurement of the files benchmark, in a process of its own so that its memory is its own: the fan-out's code over one file, with
 * stores that count what is written and a log that counts its bytes. Bundled before it is started.
 */
import { fanOutSlice } from '../../lambdas/domain/fan-out/fan-out-slice.ts';
import { createFanOutPorts } from './fan-out-ports.ts';

const [path] = process.argv.slice(2);
if (path === undefined) throw new RangeError('Start it with a file.');

const counts = { writes: 0, logBytes: 0 };
const READS: ReadonlySet<string> = new Set(['get', 'openWork']);

/** The same store, whose writes are counted. */
const counting = <T extends object>(store: T): T =>
  new Proxy(store, {
    get(target, method, receiver) {
      if (!READS.has(String(method))) counts.writes += 1;
      return Reflect.get(target, method, receiver) as unknown;
    },
  });

const { deps, submission, sent } = createFanOutPorts(path);
const before = process.cpuUsage();
await fanOutSlice(
  {
    ...deps,
    submissions: counting(deps.submissions),
    admission: counting(deps.admission),
    ledger: counting(deps.ledger),
    telemetry: { emit: (event) => void (counts.logBytes += JSON.stringify(event).length) },
  },
  { v: 1, submissionId: submission.submissionId, tenantId: submission.tenantId },
  { remainingMs: () => 3_600_000 },
);
const { user, system } = process.cpuUsage(before);
const peakBytes = process.resourceUsage().maxRSS * 1024;
const outcome = submission.rejection?.code ?? 'fanned out';
console.log(JSON.stringify({ ...counts, outcome, sent: sent(), processorSeconds: (user + system) / 1e6, peakBytes }));
