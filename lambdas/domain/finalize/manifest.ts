import * as v from 'valibot';
import { InvalidDataError } from '../errors.ts';
import { CLOSED_STATES, type Submission } from '../model.ts';
import type { ObjectStore } from '../source/ports.ts';
import { isReasonCode, type ReasonCode } from '../reasons.ts';
import { openPicklist, refuseNewerVersion } from '../versions.ts';

/**
 * Chunks whose records make one part of the results: 50,000 records. Part of the stored format. Only changing it between two
 * deliveries of one submission's results would matter, and then the parts are written anew.
 */
export const PART_CHUNKS = 200;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const reasonCode = v.custom<ReasonCode>(isReasonCode);
const MANIFEST_VERSION = 1;

const fileSchema = v.object({
  kind: openPicklist(['succeeded', 'failed']),
  format: openPicklist(['ndjson', 'csv']),
  /** 1-based. Parts follow each other in record order. */
  part: positive,
  key: v.string(),
  records: count,
  bytes: count,
  /** Hexadecimal, of the object's bytes. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});

const tallySchema = {
  counts: v.object({ total: count, succeeded: count, failed: count, cancelled: count }),
  /** Failed records by reason code. */
  failures: v.record(reasonCode, count),
  files: v.array(fileSchema),
};

const partSchema = v.object({ v: v.literal(MANIFEST_VERSION), part: positive, chunks: count, ...tallySchema });

const objectSchema = v.object({ key: v.string(), etag: v.string(), sizeBytes: count });

const manifestSchema = v.object({
  v: v.literal(MANIFEST_VERSION),
  submissionId: v.string(),
  version: positive,
  state: openPicklist(CLOSED_STATES),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  fileName: v.optional(v.string()),
  reference: v.optional(v.string()),
  /** What the customer sent, and what it was unpacked or decoded to; absent in results of 0.1.0. */
  source: v.optional(objectSchema),
  prepared: v.optional(v.object({ ...objectSchema.entries, from: v.looseObject({ kind: v.string() }) })),
  expectedRecords: v.optional(count),
  /** Whether the file had as many records as the customer had announced; absent where nothing was announced. */
  matchesExpected: v.optional(v.boolean()),
  ...tallySchema,
});

/** One object of the results. */
export type ResultFile = v.InferOutput<typeof fileSchema>;
/** What one part holds: written when it is complete, so that a later slice need not write it again. */
export type PartManifest = v.InferOutput<typeof partSchema>;
/** What the results of a submission hold, in one version. The last object that is written. */
export type Manifest = v.InferOutput<typeof manifestSchema>;

type Named = Pick<Submission, 'tenantId' | 'submissionId'>;

const prefix = ({ tenantId, submissionId }: Named, version: number): string =>
  `results/${tenantId}/${submissionId}/v${version}`;
const padded = (part: number): string => String(part).padStart(5, '0');

/** Key of a results object, e.g. `results/TENANT/SUBMISSION/v1/failed-00001.ndjson`. */
export const resultKey = (
  submission: Named,
  version: number,
  { kind, part, format }: Pick<ResultFile, 'kind' | 'part' | 'format'>,
): string => `${prefix(submission, version)}/${kind}-${padded(part)}.${format}`;

const partManifestKey = (submission: Named, version: number, part: number): string =>
  `${prefix(submission, version)}/part-${padded(part)}.json`;

export const manifestKey = (submission: Named, version: number): string =>
  `${prefix(submission, version)}/manifest.json`;

/** More than the manifest of a hundred million records takes. */
const MAX_MANIFEST_BYTES = 8 * 1024 * 1024;

const encode = (value: PartManifest | Manifest): Uint8Array => Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`);

async function read<S extends v.GenericSchema>(
  objects: ObjectStore,
  key: string,
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  const bytes = await objects.getSmall(key, MAX_MANIFEST_BYTES);
  if (!bytes) return undefined;
  const text = v.safeParse(v.pipe(v.string(), v.parseJson()), Buffer.from(bytes).toString('utf8'));
  if (text.success) refuseNewerVersion(`The object ${key}`, text.output, MANIFEST_VERSION);
  const parsed = text.success ? v.safeParse(schema, text.output) : text;
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const place = v.getDotPath(issue) ?? 'its root';
  throw new InvalidDataError(`The object ${key} is not a manifest at ${place}: ${issue.message}`);
}

/** The manifest of the newest finished results; undefined before there are any. Throws {@link InvalidDataError}. */
export async function readManifest(
  objects: ObjectStore,
  submission: Named & Pick<Submission, 'resultsVersion'>,
): Promise<Manifest | undefined> {
  const { resultsVersion } = submission;
  return resultsVersion === 0 ? undefined : read(objects, manifestKey(submission, resultsVersion), manifestSchema);
}

export async function writeManifest(objects: ObjectStore, submission: Named, manifest: Manifest): Promise<void> {
  await objects.put(manifestKey(submission, manifest.version), encode(manifest), 'application/json');
}

/** The manifest of one part, if that part was completed. */
export const readPartManifest = async (
  objects: ObjectStore,
  submission: Named,
  version: number,
  part: number,
): Promise<PartManifest | undefined> => read(objects, partManifestKey(submission, version, part), partSchema);

export async function writePartManifest(
  objects: ObjectStore,
  submission: Named,
  version: number,
  manifest: PartManifest,
): Promise<void> {
  await objects.put(partManifestKey(submission, version, manifest.part), encode(manifest), 'application/json');
}
