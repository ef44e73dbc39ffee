import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, Submission } from '../client/client.ts';
import { bodyOf } from './api.ts';
import { EXIT, type ExitCode } from './errors.ts';
import type { ProgressView } from './progress.ts';

const WAIT_SECONDS = 10;
const INTERVAL_MS = 500;
const CLOSED: readonly string[] = ['complete', 'partially_failed', 'failed', 'cancelled', 'rejected', 'expired'];

const isClosed = ({ state }: Pick<Submission, 'state'>): boolean => CLOSED.includes(state);

/** Asks until the submission has ended, and shows how far it is. The API holds an answer back while nothing changes. */
export async function watch(client: ApiClient, id: string, view: ProgressView | undefined): Promise<Submission> {
  let etag = '';
  let submission: Submission | undefined;
  const known = new Map<string, number>();
  for (;;) {
    const answer = await client.GET('/v1/submissions/{id}', {
      params: { path: { id }, query: { wait: WAIT_SECONDS }, header: etag === '' ? {} : { 'If-None-Match': etag } },
    });
    if (answer.response.status !== 304 || submission === undefined) {
      submission = bodyOf(answer);
      etag = answer.response.headers.get('etag') ?? '';
    }
    if (view !== undefined) {
      tellNewFailures(submission, known, view);
      view.show(submission, performance.now());
    }
    if (isClosed(submission)) return submission;
    await sleep(INTERVAL_MS);
  }
}

/** Says a reason when the first record fails for it, and whenever ten times as many have. */
function tellNewFailures({ failures }: Submission, known: Map<string, number>, view: ProgressView): void {
  for (const [reason, count] of Object.entries(failures)) {
    if (count < (known.get(reason) ?? 0.1) * 10) continue;
    known.set(reason, count);
    view.say(`${count} failed: ${reason}`);
  }
}

/** What a script decides by once the submission has ended. */
export function exitCodeOf({ state }: Pick<Submission, 'state'>): ExitCode {
  if (state === 'complete') return EXIT.done;
  return state === 'partially_failed' || state === 'failed' ? EXIT.recordsFailed : EXIT.notProcessed;
}
