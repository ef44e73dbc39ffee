import * as v from 'valibot';
import { isSafeBaseUrl } from '../domain/providers/config.ts';

/* The kinds of values that environment variables hold, and the variables that several functions share. */

/** Any text that is not empty. */
export const text = v.pipe(v.string(), v.minLength(1, 'a value is required'));

/** A whole number from `minimum` up to the largest that is exact. */
export const wholeNumber = (minimum: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,16}$/, 'a whole number is required'),
    v.transform(Number),
    v.safeInteger('a smaller number is required'),
    v.minValue(minimum, `at least ${minimum} is required`),
  );

/** A share from 0 to 1. */
export const share = v.pipe(
  v.string(),
  v.regex(/^(?:0(?:\.\d{1,6})?|1(?:\.0{1,6})?)$/, 'a number from 0 to 1 is required'),
  v.transform(Number),
);

/** `on` or `off`. */
export const toggle = v.pipe(
  v.picklist(['on', 'off'], 'on or off is required'),
  v.transform((value) => value === 'on'),
);

/** JSON text that matches `schema` once parsed. */
const json = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(v.string(), v.parseJson(undefined, 'JSON is required'), schema);

const providerName = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/, 'lower-case provider names are required'));

/** Base URL of every provider by name, as JSON. The local cloud overrides this one variable and nothing else. */
const baseUrls = json(
  v.record(
    providerName,
    v.pipe(
      v.string(),
      v.check(isSafeBaseUrl, 'https URLs without credentials or query are required (http only on loopback)'),
    ),
  ),
);

/** Calls per second that every provider allows, by name, as JSON. */
const rates = json(v.record(providerName, v.pipe(v.number(), v.gtValue(0, 'rates above zero are required'))));

/** Calls that one worker may have open at the same time at the providers that limit them, by name, as JSON. */
const callLimits = json(
  v.record(
    providerName,
    v.pipe(v.number(), v.integer('whole numbers are required'), v.minValue(1, 'at least 1 is required')),
  ),
);

/** Calls that each provider tolerates at one moment, as a JSON object by provider name. */
const bursts = json(
  v.record(
    providerName,
    v.pipe(v.number(), v.integer('whole numbers are required'), v.minValue(0, 'at least 0 is required')),
  ),
);

/** Origins (`https://app.example.com`) that browsers may call from, as a JSON array; `["*"]` for any. */
const origins = json(v.array(v.pipe(v.string(), v.minLength(1))));

/** What every function has: where it runs and under which name it logs and counts. */
export const common = {
  STAGE: text,
  POWERTOOLS_SERVICE_NAME: text,
  POWERTOOLS_METRICS_NAMESPACE: text,
  POWERTOOLS_LOG_LEVEL: v.picklist(['DEBUG', 'INFO', 'WARN', 'ERROR'], 'DEBUG, INFO, WARN or ERROR is required'),
} as const;

/** Variables that more than one function has. Each function picks those that it uses. */
export const shared = {
  SUBMISSIONS_TABLE: text,
  RECORDS_TABLE: text,
  PROVIDERS_TABLE: text,
  TENANTS_TABLE: text,
  BUCKET: text,
  FANOUT_QUEUE_URL: text,
  PREPARE_QUEUE_URL: text,
  SMALL_QUEUE_URL: text,
  BULK_QUEUE_URL: text,
  PREPARE_DLQ_URL: text,
  FANOUT_DLQ_URL: text,
  FINALIZE_DLQ_URL: text,
  SMALL_DLQ_URL: text,
  BULK_DLQ_URL: text,
  FINALIZE_QUEUE_URL: text,
  WEBHOOKS_TABLE: text,
  WEBHOOKS_QUEUE_URL: text,
  WEBHOOKS_DLQ_URL: text,
  PROVIDER_RATES: rates,
  PROVIDER_BURSTS: bursts,
  PROVIDER_BASE_URLS: baseUrls,
  PROVIDER_CALLS_PER_WORKER: callLimits,
  /** Part of the providers' pace that the small lane gets while both lanes have work. */
  SMALL_LANE_SHARE: share,
  CORS_ORIGINS: origins,
  /** Bytes of one record as it stands in the file. */
  MAX_RECORD_BYTES: wholeNumber(1),
  /** Bytes of one file. */
  MAX_FILE_BYTES: wholeNumber(1),
  /** Records of one file. */
  MAX_RECORDS: wholeNumber(1),
} as const;
