import { formatOfName } from '../files/format.ts';
import { previewFile, type Preview, type PreviewDeps } from '../preview/preview.ts';
import type { ProfileStore } from '../profiles/ports.ts';
import type { ObjectStore } from '../source/ports.ts';
import type { AdmissionStore } from '../tenants/ports.ts';
import type { Clock, TimeBudget } from '../time.ts';
import { estimateCompletion, type PaceSettings } from './estimate.ts';
import { findSource } from './file-source.ts';
import { readUploadId, uploadKey } from './ids.ts';
import { parseBody, parseQuery } from './input.ts';
import { previewRequestSchema, type PreviewView } from './preview-view.ts';
import { ProblemError } from './problems.ts';
import { findGivenProfile, resolveFor } from './profiles.ts';
import type { Answer } from './request.ts';
import { noParametersSchema } from './schemas.ts';
import { formatOf, uploadMissing } from './submission-request.ts';

export interface PreviewsDeps extends Omit<PreviewDeps, 'checkTime' | 'objects' | 'maxRecordBytes'> {
  objects: ObjectStore;
  profiles: ProfileStore;
  admission: Pick<AdmissionStore, 'backlog'>;
  clock: Clock;
  settings: PaceSettings & { maxFileBytes: number; maxRecordBytes: number };
}

/** Time for the answer behind the last block that is unpacked. */
const ANSWER_RESERVE_MS = 4_000;
const MOST_COLUMNS = 500;

/** POST /v1/previews: what would become of a file, and with which profile more of it. */
export const createPreview =
  (deps: PreviewsDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const { uploadId, format, profile: asked } = parseBody(previewRequestSchema, request.body);
    const upload = readUploadId(uploadId);
    if (upload === undefined) throw uploadMissing();
    const key = uploadKey(tenantId, upload);
    const [{ etag = '', sizeBytes }, profile, backlog] = await Promise.all([
      findSource(deps, tenantId, '', { file: { kind: 'upload', upload, key } }),
      findGivenProfile(deps, tenantId, asked),
      deps.admission.backlog(),
    ]);
    resolveFor(deps.schemas, profile, ['profile']);
    const source = { key, sizeBytes, etag };
    const namedFormat = formatOfName(upload.fileName);
    const said = format ?? profile.reading?.format;
    const { settings, clock } = deps;
    const preview = await previewFile(
      { ...deps, maxRecordBytes: settings.maxRecordBytes, checkTime: timer(request.budget) },
      {
        source,
        profile,
        formatOf: (head) => formatOf({ ...(said && { format: said }), ...(namedFormat && { namedFormat }) }, head),
      },
    );
    const completionAtMs = estimateCompletion({
      ...settings,
      submission: {
        state: 'accepted',
        source,
        format: preview.format,
        fanOut: { done: false, byteOffset: 0, records: 0, line: 1 },
        closedChunks: new Set(),
        createdAtMs: clock.now(),
        ...(preview.records && { expectedRecords: preview.records.count }),
      },
      counts: { total: 0, pending: 0, succeeded: 0, failed: 0, cancelled: 0 },
      backlog,
      nowMs: clock.now(),
    });
    return { status: 200, body: viewOf(uploadId, preview, completionAtMs ?? clock.now()) };
  };

function timer(budget: TimeBudget): () => void {
  return () => {
    if (budget.remainingMs() >= ANSWER_RESERVE_MS) return;
    throw new ProblemError(
      'too_large_to_preview',
      'The beginning of the file takes longer to unpack than a preview may. Submit the file, or preview its text.',
    );
  };
}

function viewOf(uploadId: string, preview: Preview, completionAtMs: number): PreviewView {
  const { from, records, calls = {}, cost, columns, ...rest } = preview;
  return {
    uploadId,
    ...rest,
    columns: columns.slice(0, MOST_COLUMNS),
    ...(from && { preparedFrom: { ...from, kind: String(from.kind) } }),
    ...(records && {
      estimate: {
        records: records.count,
        isCounted: records.isCounted,
        calls,
        ...(cost !== undefined && { cost }),
        completionAt: new Date(completionAtMs).toISOString(),
      },
    }),
  };
}
