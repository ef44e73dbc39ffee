import { readManifest, type ResultFile } from '../finalize/manifest.ts';
import { isOpen } from '../model.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { SubmissionStore } from '../submissions/ports.ts';
import type { Clock } from '../time.ts';
import { readHead } from './submission-summary.ts';
import { parseQuery } from './input.ts';
import type { Presigner } from './ports.ts';
import { ProblemError } from './problems.ts';
import type { Answer } from './request.ts';
import { noParametersSchema, type ResultsView } from './schemas.ts';

export interface ResultsDeps {
  submissions: SubmissionStore;
  objects: ObjectStore;
  presigner: Presigner;
  clock: Clock;
}

/** How long a download may begin. Links are made anew with every request. */
const RESULT_URL_SECONDS = 600;
const NOT_READY_RETRY_SECONDS = 5;
/** Of the number of a part in a file's name. */
const PART_DIGITS = 5;

/** GET /v1/submissions/{id}/results */
export const getResults =
  (deps: ResultsDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const submission = await readHead(deps.submissions, tenantId, request.path['id'] ?? '');
    const { submissionId, state } = submission;
    if (isOpen(state)) {
      throw new ProblemError('not_ready', `The submission is ${state}: its results are written when it ends.`, {
        retryAfterSeconds: NOT_READY_RETRY_SECONDS,
      });
    }
    const manifest = await readManifest(deps.objects, submission);
    if (manifest === undefined) {
      throw new ProblemError('no_results', `The submission is ${state}: no record of it was processed.`);
    }
    const files = await Promise.all(
      manifest.files.map(async (file) => linkTo(deps, `${submissionId}-v${manifest.version}`, file)),
    );
    const body: ResultsView = { version: manifest.version, state, files };
    return { status: 200, body };
  };

async function linkTo(
  { presigner, clock }: ResultsDeps,
  name: string,
  { key, kind, format, part, records, bytes, sha256 }: ResultFile,
): Promise<ResultsView['files'][number]> {
  const { url, expiresAtMs } = await presigner.download({
    key,
    expiresInSeconds: RESULT_URL_SECONDS,
    // A program that keeps files it has already must not take those of another version for them; names sort as parts do.
    fileName: `${name}-${kind}-${String(part).padStart(PART_DIGITS, '0')}.${format}`,
    nowMs: clock.now(),
  });
  return { kind, format, part, url, expiresAt: new Date(expiresAtMs).toISOString(), records, bytes, sha256 };
}
