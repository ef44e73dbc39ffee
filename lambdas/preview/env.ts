import * as v from 'valibot';
import { readEnvironment, type EnvironmentSource } from '../runtime/environment.ts';
import { common, shared } from '../runtime/variables.ts';

/** Variables of the function that looks at files before they are submitted. */
export const previewEnvironment = v.object({
  ...common,
  SUBMISSIONS_TABLE: shared.SUBMISSIONS_TABLE,
  TENANTS_TABLE: shared.TENANTS_TABLE,
  BUCKET: shared.BUCKET,
  CORS_ORIGINS: shared.CORS_ORIGINS,
  MAX_FILE_BYTES: shared.MAX_FILE_BYTES,
  MAX_RECORD_BYTES: shared.MAX_RECORD_BYTES,
  /** For the estimate of when a submission would be complete. */
  PROVIDER_RATES: shared.PROVIDER_RATES,
  SMALL_LANE_SHARE: shared.SMALL_LANE_SHARE,
});

export type PreviewEnvironment = v.InferOutput<typeof previewEnvironment>;

/** Reads and checks the variables. Throws InvalidDataError naming each wrong one. */
export const readPreviewEnvironment = (source: EnvironmentSource = process.env): PreviewEnvironment =>
  readEnvironment('preview', previewEnvironment, source);
