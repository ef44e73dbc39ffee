import * as v from 'valibot';
import { isSafeBaseUrl } from '../lambdas/domain/providers/config.ts';
import { between, matching, oneOf, whole } from './fields.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Days that CloudWatch Logs can keep a log group, https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html */
const LOG_RETENTION_DAYS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
] as const;

const flag = v.boolean('set true or false');

const limits = v.strictObject({
  /** Bytes of one record as it stands in the file. Escaped, and with the answers it carries, it must fit into one message (1 MiB). */
  maxRecordBytes: v.optional(whole(1 * KIB, 128 * KIB, 'bytes'), 64 * KIB),
  /** Bytes of one file; one PUT to S3 takes up to 5 GiB. */
  maxFileBytes: v.optional(whole(1 * KIB, 5 * GIB, 'bytes'), 1 * GIB),
  /** Records of one file; the set of its closed chunks must fit into one item. */
  maxRecords: v.optional(whole(1, 5_000_000, 'records'), 1_000_000),
  /** Bytes of a file sent in the body of POST /v1/submissions; base64 of it must fit into Lambda's 6 MB event. */
  maxDirectBodyBytes: v.optional(whole(1 * KIB, 4 * MIB, 'bytes'), 4 * MIB),
  /** Files of up to this many records go to the small lane. */
  smallLaneThreshold: v.optional(whole(1, 10_000, 'records'), 500),
});

/** Past these a new submission is refused with 429 (the tenant's) or 503 (the system's). Soft: they count estimates until files are read. */
const admission = v.strictObject({
  maxOpenRecordsPerTenant: v.optional(whole(1, 1e9, 'records'), 2_000_000),
  maxOpenRecords: v.optional(whole(1, 1e9, 'records'), 10_000_000),
  maxOpenSubmissionsPerTenant: v.optional(whole(1, 100_000, 'submissions'), 1_000),
});

/** The age at which open work of a lane breaks the contract with customers. Alarms use it. */
const contractAgeSeconds = v.strictObject({
  small: v.optional(whole(60, 86_400, 'seconds'), 1_800),
  /** Longer than the largest file takes: limits.maxRecords at the rate of the slowest provider. */
  bulk: v.optional(whole(60, 7 * 86_400, 'seconds'), 14_400),
});

const worker = v.strictObject({
  /** Records per invocation. */
  batchSize: v.optional(whole(1, 100, 'records'), 10),
  memoryMb: v.optional(whole(128, 10_240, 'megabytes'), 512),
  /** The longest function timeout that may be derived; a crashed record comes back after six times the timeout. */
  maxTimeoutSeconds: v.optional(whole(30, 900, 'seconds'), 120),
  /** Part of the providers' pace that the small lane gets while both lanes have work. */
  smallLaneShare: v.optional(between(0.1, 0.9), 0.5),
});

const api = v.strictObject({
  ratePerSecond: v.optional(whole(1, 10_000, 'requests per second'), 50),
  burst: v.optional(whole(1, 5_000, 'requests'), 100),
  /** How long a decision about an API key is kept: a revoked key works at most this much longer. */
  authorizerCacheSeconds: v.optional(whole(0, 3_600, 'seconds'), 60),
  /** Origins that browsers may call from. The gateway's own errors carry the header only when there is exactly one. */
  corsOrigins: v.optional(
    v.array(
      matching(/^https?:\/\/[^/*\s]+$/, 'name origins like https://app.example.com, without a path'),
      'set a list',
    ),
    [],
  ),
  /**
   * Whether this stage sets the role by which API Gateway writes access logs: a setting of the whole account and region,
   * without which no access log can be switched on. `false` where something else sets it.
   */
  setsAccountLogRole: v.optional(flag, true),
  /** A regional web ACL to put before the API. */
  webAclArn: v.optional(matching(/^arn:[^:]+:wafv2:/, 'set the ARN of a regional WAFv2 web ACL')),
});

const alarms = v.pipe(
  v.strictObject({
    /** Gets every alarm, once it has confirmed the subscription. */
    email: v.optional(matching(/^[^\s@]+@[^\s@]+$/, 'set an e-mail address')),
    /** Where the runbook can be read; alarms append their section. A URL where alarms are mailed: a path leads nowhere from there. */
    runbookUrl: v.optional(v.string('set a URL or path'), 'docs/runbook.md'),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { email, runbookUrl } = dataset.value;
    if (email === undefined || URL.parse(runbookUrl)?.protocol === 'https:') return;
    const message = 'set the https URL at which whoever gets the mails of alarms.email can read the runbook';
    const path = {
      type: 'object',
      origin: 'value',
      input: dataset.value,
      key: 'runbookUrl',
      value: runbookUrl,
    } as const;
    addIssue({ message, input: runbookUrl, path: [path] });
  }),
);

const logs = v.strictObject({
  retentionDays: v.optional(oneOf(LOG_RETENTION_DAYS), 30),
  level: v.optional(oneOf(['DEBUG', 'INFO', 'WARN', 'ERROR']), 'INFO'),
  /** Share of the log lines about successful records that is written; failures always are. */
  successShare: v.optional(between(0, 1), 0.01),
});

const providerOverride = v.strictObject({
  baseUrl: v.optional(
    v.pipe(v.string('set a URL'), v.check(isSafeBaseUrl, 'set an https URL without credentials, query or fragment')),
  ),
  ratePerSecond: v.optional(between(0.01, 100_000)),
  burst: v.optional(whole(1, 100_000, 'calls')),
  maxConcurrentCalls: v.optional(whole(1, 100_000, 'calls')),
  p99Ms: v.optional(whole(1, 900_000, 'milliseconds')),
});

/** Every field that a stage may have, with the sentence that says what it may be. */
export const stageSchema = v.strictObject({
  name: matching(/^[a-z][a-z0-9]{0,15}$/, 'use up to 16 lower-case letters and digits, a letter first'),
  /** `retain`: buckets, tables and secrets survive the stacks and refuse deletion. `destroy`: they go with the stack, and what is in them. */
  protection: oneOf(['retain', 'destroy']),
  /** `customer`: bucket, tables, secret, queues and logs use a key of this account instead of the services' own. */
  encryption: v.optional(oneOf(['aws', 'customer']), 'aws'),
  /** How long submissions, records, uploads and results are kept. */
  retentionDays: v.optional(whole(1, 3_650, 'days'), 30),
  /** A submission that is still open after this time ends `expired`. */
  submissionDeadlineHours: v.optional(whole(1, 24 * 11, 'hours'), 72),
  /**
   * How long messages stay in the queues. Dead letters are deleted 14 days after they were first sent, so the longer they may have
   * waited before, the less time is left to deal with them: at 11 the alarm about it rings after one day.
   */
  queueRetentionDays: v.optional(whole(1, 11, 'days'), 4),
  contractAgeSeconds: v.optional(contractAgeSeconds, {}),
  /** Silence after which a record's message counts as lost and is sent again from the file; a backlog makes it longer by itself. */
  lostAfterSeconds: v.optional(whole(60, 86_400, 'seconds'), 600),
  /** Whether records that an outage dead-lettered are replayed once their provider works again. */
  automaticRedrive: v.optional(flag, true),
  /**
   * Invocations that fan out files, and that finalize submissions, at the same time; each works up to ten. Below five a tenant with hundreds
   * of small files has too few messages in flight for SQS to let other tenants go first.
   */
  fanOutConcurrency: v.optional(whole(5, 1_000, 'invocations'), 10),
  finalizerConcurrency: v.optional(whole(5, 1_000, 'invocations'), 10),
  /** Files that are unpacked or decoded at the same time: most are ready within seconds. */
  prepareConcurrency: v.optional(whole(2, 1_000, 'invocations'), 5),
  limits: v.optional(limits, {}),
  admission: v.optional(admission, {}),
  worker: v.optional(worker, {}),
  api: v.optional(api, {}),
  alarms: v.optional(alarms, {}),
  logs: v.optional(logs, {}),
  /** Whether a function that makes answers up is deployed and asked in the place of the providers: for a first deployment. */
  standInProviders: v.optional(flag, false),
  /** What is different from config/providers.ts in this stage, by provider. */
  providers: v.optional(v.record(v.string(), providerOverride), {}),
});
