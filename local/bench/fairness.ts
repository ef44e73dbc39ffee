import { ApiClient } from '../demo/client.ts';
import { isClosed, queueUrl, submitGenerated, untilClosed, type Rig } from '../drills/rig.ts';
import { waitFor } from '../drills/wait.ts';
import type { BenchContext } from './context.ts';
import { atMost, decimals, reported, type BenchResult } from './result.ts';

const LARGE = 40_000;
const SMALL = 50;
/** More than the small lane takes. */
const WARMING = 600;
const BEHIND_MS = 5_000;
const PATIENCE_MS = 120_000;
const MOST_SECONDS = 5;
const POLL_MS = 100;

/** A small file behind a large one: of another tenant, and of the same. */
export async function fairness({ limit, withRig, records = LARGE, say }: BenchContext): Promise<BenchResult> {
  const providers = await limit();
  say(`fairness: ${SMALL} records ${BEHIND_MS / 1_000} s behind ${records} …`);
  return withRig({ limit: providers }, async (rig) => {
    const [same, other] = rig.sluice.tenants.map(({ apiKey }) => new ApiClient(rig.sluice.apiUrl, apiKey));
    await warmUp(rig, other);
    await submitGenerated(rig, records);
    await new Promise((done) => setTimeout(done, BEHIND_MS));
    const ofOther = await secondsOf(other);
    const ofSame = await secondsOf(same);
    const show = decimals(2, ' s');
    return {
      name: 'fairness',
      figures: [
        atMost('other tenant, from acceptance to results', ofOther, MOST_SECONDS, show),
        atMost('same tenant', ofSame, MOST_SECONDS, show),
        reported('of the large file still open', String(await stillOpen(rig))),
      ],
    };
  });
}

/**
 * Runs a file through each lane first. On two cores some twenty processes that start at the same time take seconds each, which
 * says nothing about whose turn it is.
 */
async function warmUp(rig: Rig, client: ApiClient | undefined): Promise<void> {
  const { id } = await submitGenerated(rig, WARMING);
  await untilClosed(rig, id, PATIENCE_MS);
  await secondsOf(client);
}

async function secondsOf(client: ApiClient | undefined): Promise<number> {
  if (client === undefined) throw new RangeError('The local cloud has two tenants.');
  const { id } = await submitGenerated({ client }, SMALL);
  const acceptedAt = performance.now();
  await waitFor(
    async () => {
      const view = await client.submission(id);
      return isClosed(view) ? view : undefined;
    },
    { what: `the end of ${id}`, timeoutMs: PATIENCE_MS, everyMs: POLL_MS },
  );
  return (performance.now() - acceptedAt) / 1_000;
}

async function stillOpen(rig: Rig): Promise<number> {
  const url = queueUrl(rig, 'BulkLane/Records/Queue');
  const { visible, inFlight, delayed } = await rig.sluice.cloud.inspect.queueDepth(url);
  return visible + inFlight + delayed;
}
