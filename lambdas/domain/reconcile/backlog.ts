import { estimateRecords } from '../tenants/admission.ts';
import { CHUNK_RECORDS, isOpen, LANES, textOf, type Lane, type OpenState, type Submission } from '../model.ts';
import type { Backlog, OpenWork } from '../tenants/ports.ts';
import type { ProviderState } from '../providers/ports.ts';
import { intervalMs, type ProviderConfig } from '../providers/config.ts';
import { grantedShare } from '../providers/slots.ts';
import type { ReconcileDeps, LossThresholds } from './deps.ts';

/** The whole system at one moment: the snapshot for admission and estimates, and the figures that alarms watch. */
export interface BacklogSnapshot {
  backlog: Backlog;
  /** How long the longest-waiting open submission of each lane waits for its end; 0 when there is none. Those without a lane yet count as bulk. */
  oldestMs: Record<Lane, number>;
  openByState: Record<OpenState, number>;
  providers: ProviderHealth[];
  stalledFanOuts: number;
  /** Submissions whose results have not got on for `settings.resultsStalledMs`. */
  stalledResults: number;
  /** What is open, by tenant. */
  openWork: Map<string, OpenWork[]>;
  /** Age of the oldest submission whose fan-out message is not known to be sent; 0 when there is none. */
  outboxAgeMs: number;
}

/** Whether a provider takes calls at the moment. */
export interface ProviderHealth {
  name: string;
  /** Its breaker lets nobody through. */
  isOpen: boolean;
  /** It asked for a pause, or refuses our credential. */
  isBlocked: boolean;
  /** Calls per second that the fleet grants itself: `ratePerSecond`, unless calls are refused although paced. */
  grantedPerSecond: number;
  /** Its canary is known to be wrong. */
  isCanaryDistrusted: boolean;
}

/** Generation of a submission that was never replayed. */
const FIRST_GENERATION = 0;
const PAGE = 100;
/** Submissions looked at for one snapshot. Beyond it figures are lower bounds, and admission has long refused new work. */
const MAX_SUBMISSIONS = 5_000;

/** Looks at every open submission and every provider. */
export async function takeSnapshot(deps: ReconcileDeps): Promise<BacklogSnapshot> {
  const nowMs = deps.clock.now();
  const [previous, providers] = await Promise.all([deps.admission.backlog(), healthOfAll(deps)]);
  const isTroubled = providers.some((provider) => provider.isOpen || provider.isBlocked);
  const snapshot: BacklogSnapshot = {
    backlog: {
      asOfMs: nowMs,
      openRecords: { small: 0, bulk: 0 },
      openSubmissions: 0,
      troubledAtMs: isTroubled ? nowMs : (previous?.troubledAtMs ?? 0),
      pacePerSecond: slowestPace(providers),
    },
    oldestMs: { small: 0, bulk: 0 },
    openByState: { accepted: 0, processing: 0, finalizing: 0, cancelling: 0 },
    providers,
    stalledFanOuts: 0,
    stalledResults: 0,
    openWork: new Map(),
    outboxAgeMs: 0,
  };
  let cursor: string | undefined;
  do {
    const page = await deps.submissions.listOpen({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const { submissionId, error } of page.unreadable)
      deps.telemetry.emit({ name: 'unexpected_error', level: 'error', submissionId, error });
    for (const submission of page.items) if (isOpen(submission.state)) add(snapshot, submission, deps);
    cursor = page.nextCursor;
  } while (cursor !== undefined && snapshot.backlog.openSubmissions < MAX_SUBMISSIONS);
  return snapshot;
}

function add(snapshot: BacklogSnapshot, submission: Submission, { settings }: ReconcileDeps): void {
  const {
    submissionId,
    tenantId,
    lane = 'bulk',
    state,
    createdAtMs,
    outboxPending,
    fanOut,
    finalize,
    progressAtMs,
  } = submission;
  const { backlog } = snapshot;
  const ageMs = Math.max(0, backlog.asOfMs - createdAtMs);
  backlog.openSubmissions += 1;
  const records = openEstimate(submission);
  backlog.openRecords[lane] += records;
  const work: OpenWork = { submissionId, records, ...(submission.lane && { lane: submission.lane }) };
  snapshot.openWork.set(tenantId, [...(snapshot.openWork.get(tenantId) ?? []), work]);
  snapshot.oldestMs[lane] = Math.max(snapshot.oldestMs[lane], waitMs(submission, backlog.asOfMs));
  if (isOpen(state)) snapshot.openByState[state] += 1;
  if (outboxPending) snapshot.outboxAgeMs = Math.max(snapshot.outboxAgeMs, ageMs);
  const silentMs = backlog.asOfMs - Math.max(progressAtMs, fanOut.leaseUntilMs ?? 0);
  if (!fanOut.done && silentMs >= settings.stalledMs) snapshot.stalledFanOuts += 1;
  // Neither leases nor their renewals count: a finalizer that fails again and again takes a new one each time.
  const partAgeMs = backlog.asOfMs - (finalize?.partAtMs ?? progressAtMs);
  if (state === 'finalizing' && partAgeMs >= settings.resultsStalledMs) snapshot.stalledResults += 1;
}

/** How long a submission waits for its end: since it was accepted, or, where it is being replayed, since anything of it last moved. */
const waitMs = ({ generation, createdAtMs, progressAtMs }: Submission, nowMs: number): number =>
  Math.max(0, nowMs - (generation > FIRST_GENERATION ? progressAtMs : createdAtMs));

/** Records without an outcome, to the chunk: the head knows closed chunks only. */
function openEstimate(submission: Submission): number {
  const { fanOut, terms, expectedRecords, closedChunks } = submission;
  const estimate = fanOut.done
    ? 0
    : estimateRecords(textOf(submission).source.sizeBytes, expectedRecords, terms.maxRecords);
  return Math.max(0, Math.max(fanOut.records, estimate) - closedChunks.size * CHUNK_RECORDS);
}

const healthOfAll = async ({ apis, providers, clock }: ReconcileDeps): Promise<ProviderHealth[]> =>
  Promise.all(apis.map(async (api) => healthOf(api, await providers.get(api.name), clock.now())));

/**
 * An open breaker explains a silence only until its probe is due: it is a waiting record that probes, and where every message
 * is lost, or nothing waits, the breaker stays open until one is sent again.
 */
function healthOf(
  { name, ratePerSecond }: Pick<ProviderConfig, 'name' | 'ratePerSecond'>,
  state: ProviderState,
  nowMs: number,
): ProviderHealth {
  const { blockedUntilMs, breaker, openUntilMs, probeLeaseUntilMs = 0, canaryDistrustedUntilMs = 0 } = state;
  return {
    name,
    isOpen: breaker === 'open' && Math.max(openUntilMs, probeLeaseUntilMs) > nowMs,
    isBlocked: blockedUntilMs > nowMs,
    grantedPerSecond: ratePerSecond * grantedShare(state, nowMs),
    isCanaryDistrusted: canaryDistrustedUntilMs > nowMs,
  };
}

/** Records per second that are finished when each needs every provider. */
const slowestPace = (providers: readonly ProviderHealth[]): number =>
  Math.min(...providers.map(({ grantedPerSecond }) => 1_000 / intervalMs({ ratePerSecond: grantedPerSecond })));

/** From when on silence means loss: the backlog may take its time, and so may a provider in trouble. */
export function lossThresholds({ settings }: ReconcileDeps, { backlog, providers }: BacklogSnapshot): LossThresholds {
  const records = LANES.reduce((sum, lane) => sum + backlog.openRecords[lane], 0);
  return {
    lostAfterMs: Math.max(settings.lostMs, (2 * records * 1000) / slowestPace(providers)),
    troubledAtMs: backlog.troubledAtMs,
    troubledProviders: new Set(
      providers.filter(({ isOpen, isBlocked }) => isOpen || isBlocked).map(({ name }) => name),
    ),
  };
}
