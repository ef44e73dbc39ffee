import { beginCount } from '../drills/account.ts';
import { submitGenerated, submitText, untilClosed, untilFinished, type Rig } from '../drills/rig.ts';
import { waitFor } from '../drills/wait.ts';
import type { BenchContext, ProviderLimit } from './context.ts';
import { meter } from './meter.ts';
import { atMost, decimals, exactly, reported, type BenchResult, type Figure } from './result.ts';

const PATIENCE_MS = 600_000;
/** Low enough that this machine feeds it: what is compared is waiting, not processor time. */
const LIMIT: ProviderLimit = { ratePerSecond: 60, burst: 10 };
const RECORDS = 1_000;
const NOT_READY_SHARE = 0.02;
const CANCELLED_RECORDS = 5_000;

/** What records cost that a provider is not ready for, and what is left to do for records that a customer cancels. */
export async function waits({ withRig, say, records = RECORDS }: BenchContext): Promise<BenchResult> {
  say(`waits: a provider answers 202 for ${NOT_READY_SHARE * 100} % of ${records} records …`);
  const notReady = await withRig({ limit: LIMIT }, (rig) => withUnreadyRecords(rig, records));
  say(`waits: a file of ${CANCELLED_RECORDS} records is cancelled …`);
  const cancel = await withRig({ limit: LIMIT, metersCapacity: true }, cancelled);
  return { name: 'waits', figures: [...notReady, ...cancel] };
}

/** The stand-in of the first provider answers 202 about these domains for ever. */
function fileWithUnready(records: number): string {
  const every = Math.round(1 / NOT_READY_SHARE);
  const rows = Array.from({ length: records }, (_, index) => {
    const domain = index % every === 0 ? `status-202.r${index}.example.com` : `ready-${index}.example.com`;
    return `r${index},N,n@acme.example,${domain},DE,10115`;
  });
  return `record_id,name,email,domain,country,postal_code\n${rows.join('\n')}\n`;
}

async function withUnreadyRecords(rig: Rig, records: number): Promise<Figure[]> {
  const unready = Math.ceil(records * NOT_READY_SHARE);
  await timed(async () => submitGenerated(rig, records), rig, records);
  const without = await timed(async () => submitGenerated(rig, records - unready), rig, records - unready);
  await beginCount(rig);
  let id = '';
  const withThem = await timed(
    async () => {
      const view = await submitText(rig, fileWithUnready(records));
      id = view.id;
      return view;
    },
    rig,
    records - unready,
  );
  const { counts } = await rig.client.submission(id);
  const [name = ''] = Object.keys(rig.sluice.providers.baseUrls);
  const { calls } = await rig.sluice.providers.counters(name);
  await cancel(rig, id);
  await untilClosed(rig, id, PATIENCE_MS);
  return [
    atMost('time of the other records ÷ a file without them', withThem / without, 1.1),
    exactly('records that wait for the provider', counts.pending, unready),
    exactly('records that failed', counts.failed, 0),
    reported('calls for each of them until then', decimals(2)((calls - (records - unready)) / unready)),
  ];
}

/** Seconds until so many records of a submission have their outcome. */
async function timed(submit: () => Promise<{ id: string }>, rig: Rig, records: number): Promise<number> {
  const startedAt = performance.now();
  const { id } = await submit();
  await untilFinished(rig, id, records, PATIENCE_MS);
  return (performance.now() - startedAt) / 1_000;
}

async function cancelled(rig: Rig): Promise<Figure[]> {
  const { providers } = rig.sluice;
  await beginCount(rig);
  const { id } = await submitGenerated(rig, CANCELLED_RECORDS);
  await waitFor(async () => ((await rig.client.submission(id)).counts.total === CANCELLED_RECORDS ? true : undefined), {
    what: 'fan-out',
    timeoutMs: PATIENCE_MS,
  });
  await untilFinished(rig, id, CANCELLED_RECORDS / 10, PATIENCE_MS);
  const callsNow = async (): Promise<number> => {
    const counters = await Promise.all(Object.keys(providers.baseUrls).map(async (name) => providers.counters(name)));
    return counters.reduce((sum, { calls }) => sum + calls, 0);
  };
  const end = meter(rig.sluice);
  await cancel(rig, id);
  const before = await callsNow();
  const view = await untilClosed(rig, id, PATIENCE_MS);
  const after = await callsNow();
  const { writeUnits } = end();
  const { succeeded, failed, cancelled: stopped } = view.counts;
  const worker = rig.sluice.functionOf('worker', 'bulk').name;
  const { mapping } = rig.sluice.events.sourceOf(worker);
  const workers = rig.sluice.functions.environments()[worker] ?? 0;
  const atWork = workers * mapping.batchSize * Object.keys(providers.baseUrls).length;
  return [
    reported('cancelled', `${stopped} of ${CANCELLED_RECORDS} records, ${workers} workers`),
    atMost('calls after the answer to the cancellation', after - before, atWork, decimals(0)),
    atMost('write units for each cancelled record', writeUnits / stopped, 0.1, decimals(4)),
    exactly('records without an outcome', CANCELLED_RECORDS - succeeded - failed - stopped, 0),
  ];
}

async function cancel({ sluice }: Rig, id: string): Promise<void> {
  const response = await fetch(`${sluice.apiUrl}/v1/submissions/${id}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sluice.tenants[0]?.apiKey ?? ''}` },
  });
  if (response.status !== 202) throw new RangeError(`The cancellation was answered with ${response.status}.`);
}
