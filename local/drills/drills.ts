import { account, beginCount, type DrillReport } from './account.ts';
import { deploySettings } from './settings.ts';
import { queueUrl, shortenVisibility, submitGenerated, untilClosed, untilFinished, type Rig } from './rig.ts';

/** One way of disturbing a run. */
export interface Drill {
  readonly name: string;
  /** What it does, for the usage text. */
  readonly summary: string;
  readonly records: number;
  run(rig: Rig, size?: DrillSize): Promise<DrillReport>;
}

export interface DrillSize {
  readonly records?: number;
  /** How long the disturbance lasts, for drills that have one which lasts. */
  readonly forMs?: number;
}

/** Beyond the disturbance itself, and far beyond what a slow machine needs. */
const PATIENCE_MS = 600_000;

const KILLS = 8;

interface Disturbance {
  /** Returns what it did, in words. */
  (rig: Rig, id: string, records: number): Promise<string>;
}

async function run(rig: Rig, drill: string, records: number, disturb: Disturbance): Promise<DrillReport> {
  const startedAt = performance.now();
  await beginCount(rig);
  const { id } = await submitGenerated(rig, records);
  const disturbance = await disturb(rig, id, records);
  const view = await untilClosed(rig, id, PATIENCE_MS);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return { drill, ...(await account(rig, view)), seconds, disturbance };
}

const outage =
  (forMs: number): Disturbance =>
  async (rig, id, records) => {
    await untilFinished(rig, id, records / 4, PATIENCE_MS);
    await rig.sluice.providers.control('company', { mode: 'outage', forMs });
    return `company answered 503 for ${forMs / 1000} s`;
  };

const throttle =
  (forMs: number): Disturbance =>
  async ({ sluice: { cloud } }) => {
    const before = cloud.faults.injected();
    const rules = ['dynamodb', 'sqs'].map((service) =>
      cloud.faults.add({ match: { service }, rate: 0.4, error: 'throttle', forMs }),
    );
    await new Promise((done) => setTimeout(done, forMs));
    for (const remove of rules) remove();
    return `${cloud.faults.injected() - before} calls to DynamoDB and SQS throttled in ${forMs / 1000} s`;
  };

/** Kills all workers again and again, at moments that nobody chose, until nine tenths of the records are finished. */
const kills: Disturbance = async (rig, id, records) => {
  const restore = await shortenVisibility(rig);
  let busy = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    await untilFinished(rig, id, (records * 0.9 * (kill - Math.random() / 2)) / KILLS, PATIENCE_MS);
    busy += rig.sluice.killWorkers().busy;
  }
  await restore();
  return `${busy} workers killed in the middle of a batch`;
};

const purge: Disturbance = async (rig, id, records) => {
  await untilFinished(rig, id, records / 2, PATIENCE_MS);
  const { visible, delayed } = await rig.sluice.cloud.inspect.queueDepth(queueUrl(rig, 'BulkLane/Records/Queue'));
  await rig.sluice.purge('BulkLane/Records/Queue');
  return `${visible + delayed} messages of the bulk lane purged`;
};

const drill = (
  name: string,
  summary: string,
  records: number,
  disturbance: (forMs: number) => Disturbance,
  forMs = 0,
): Drill => ({
  name,
  summary,
  records,
  run: async (rig, size = {}) => run(rig, name, size.records ?? records, disturbance(size.forMs ?? forMs)),
});

export const DRILLS: readonly Drill[] = [
  drill('outage', 'a provider is out for 30 s', 4_000, outage, 30_000),
  drill('long-outage', 'a provider is out for longer than five attempts could span', 4_000, outage, 100_000),
  drill('kills', 'workers are killed in the middle of their work', 5_000, () => kills),
  drill('purge', 'the bulk queue is purged half way', 5_000, () => purge),
  drill('settings', 'lowered limits and other providers are deployed and taken back', 2_000, () => deploySettings),
  drill('throttle', '40 % of the calls to DynamoDB and SQS are refused for a minute', 5_000, throttle, 60_000),
];

/** @throws RangeError naming the drills there are */
export function drillOf(name: string): Drill {
  const found = DRILLS.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new RangeError(`There is no drill ${name}: there are ${DRILLS.map((each) => each.name).join(', ')}.`);
}
