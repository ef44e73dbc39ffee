import pLimit from 'p-limit';
import type { LedgerChunk, RecordRow, Submission } from '../model.ts';
import { type RecordMessage, encodeBody } from '../queues/messages.ts';
import type { ReconcileDeps, ReconcileSettings, LossThresholds } from './deps.ts';
import { type OpenRecord, giveUp, rowFor } from './open-records.ts';
import { notSent } from '../queues/not-sent.ts';
import { messageAgain, rebuildMessages } from '../source/source.ts';

const PARALLEL_WRITES = 25;

/** True when nothing has moved in a submission for so long that messages of its records may be lost. */
export const isSilent = ({ progressAtMs }: Submission, { lostAfterMs }: LossThresholds, nowMs: number): boolean =>
  nowMs - progressAtMs > lostAfterMs;

/**
 * Sends the records of one chunk again, from the file, whose messages are lost. One that was sent often and begun alone, without
 * being heard of again, is given up. One that no worker has touched since is not to blame: its lane may be paused. It is sent ever more
 * seldom, until its submission's deadline. The row is written first: a crash in between costs the record one interval, never a storm of
 * copies.
 *
 * @returns how many were sent again.
 * @throws DependencyUnavailableError, ShortReadError
 */
export async function resendLost(
  deps: ReconcileDeps,
  submission: Submission,
  chunk: LedgerChunk,
  open: readonly OpenRecord[],
  thresholds: LossThresholds,
): Promise<number> {
  const lost = open.filter(({ row }) => isLost(deps, row, thresholds));
  const crashed = lost.filter(({ row }) => row && wasIsolated(row) && (row.resends ?? 0) >= deps.settings.maxResends);
  await giveUp(deps, submission, crashed);
  const again = lost.filter((record) => !crashed.includes(record));
  if (again.length === 0) return 0;
  const rebuilt = await rebuildMessages(deps, submission, chunk.chunk, numbersOf(again));
  const marked = await pLimit(PARALLEL_WRITES).map(again, async (record) => markResent(deps, submission, record));
  const messages = marked.flatMap((row) => (row ? messageAgain(submission, row, rebuilt.get(row.recordNo)) : []));
  await sendToLane(deps, submission, messages);
  return messages.length;
}

const numbersOf = (records: readonly OpenRecord[]): number[] => records.map(({ recordNo }) => recordNo);

function isLost(
  { clock, settings }: ReconcileDeps,
  row: RecordRow | undefined,
  { lostAfterMs, troubledProviders }: LossThresholds,
): boolean {
  if (row === undefined) return true;
  // Only a record that waits on the provider in trouble has a reason to be silent. The others are sent again meanwhile.
  if (row.waitingOn !== undefined && troubledProviders.has(row.waitingOn)) return false;
  // A message that was sent again waits behind the backlog like any other.
  const interval = row.reason === 'message_lost' ? Math.max(resendIntervalMs(row, settings), lostAfterMs) : lostAfterMs;
  return clock.now() > Math.max(row.updatedAtMs + interval, (row.waitingUntilMs ?? 0) + lostAfterMs);
}

/** True when a worker started it alone since it was last sent, and nothing was heard of it. */
const wasIsolated = ({ isolatedReceives = 0, reason }: RecordRow): boolean =>
  isolatedReceives > 0 && reason === 'worker_crashed';

/** From the last of `maxResends` on each wait is twice as long as the one before: copies must not pile up in a lane that is paused. */
const resendIntervalMs = ({ resends = 0 }: RecordRow, { resendEveryMs, maxResends }: ReconcileSettings): number =>
  resendEveryMs * 2 ** Math.max(0, resends + 1 - maxResends);

/** The row as stored, or undefined when somebody was faster: the record has moved. */
async function markResent(
  { records, clock }: ReconcileDeps,
  submission: Submission,
  { recordNo, row }: OpenRecord,
): Promise<RecordRow | undefined> {
  const resends = (row?.resends ?? 0) + 1;
  const change = { state: 'retrying', reason: 'message_lost', resends, updatedAtMs: clock.now() } as const;
  const { applied, stored } = await records.put(rowFor(submission, recordNo, row, change), row, { ifUnchanged: true });
  return applied ? stored : undefined;
}

async function sendToLane(
  deps: ReconcileDeps,
  submission: Submission,
  messages: readonly RecordMessage[],
): Promise<void> {
  const { submissionId, tenantId, lane = 'bulk' } = submission;
  if (messages.length === 0) return;
  const failures = await deps.lanes[lane].send(
    messages.map((message) => ({ body: encodeBody(message), group: tenantId })),
  );
  deps.telemetry.emit({
    name: 'record_resent',
    level: 'warn',
    submissionId,
    tenantId,
    lane,
    count: messages.length - failures.length,
    ...(failures[0] && {
      error: notSent(`${failures.length} messages were`, failures[0]),
      detail: `${failures.length} could not be sent (${failures[0].code}); they are due again later.`,
    }),
  });
}
