import { encodeBody, MESSAGE_VERSION, type RecordMessage } from '../../lambdas/domain/queues/messages.ts';
import type { LedgerChunk, RecordRow, Submission } from '../../lambdas/domain/model.ts';
import type { Delivery } from '../../lambdas/domain/queues/ports.ts';
import type { ProviderConfig } from '../../lambdas/domain/providers/config.ts';
import { READER_VERSION, type Terms } from '../../lambdas/domain/submissions/terms.ts';
import { START_MS } from './memory/clock.ts';

/** Everything that factories make happens at {@link START_MS} and expires thirty days later, unless a test says otherwise. */
export const EXPIRES_AT_SECONDS = START_MS / 1000 + 30 * 86_400;

export const SUBMISSION_ID = 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD';
export const TENANT_ID = 'acme';

export const TERMS: Terms = { maxRecordBytes: 10_000, maxRecords: 100_000, readerVersion: READER_VERSION };

/** A submission as it is accepted: nothing read, nothing sent. */
export function makeSubmission(overrides: Partial<Submission> = {}): Submission {
  return {
    submissionId: SUBMISSION_ID,
    tenantId: TENANT_ID,
    state: 'accepted',
    source: { key: 'uploads/acme/up_1', etag: '"5d41402abc4b2a76b9719d911017c592"', sizeBytes: 1000 },
    terms: TERMS,
    format: 'csv',
    requestHash: 'a'.repeat(64),
    fanOut: { done: false, byteOffset: 0, records: 0, line: 1 },
    closedChunks: new Set(),
    outboxPending: true,
    generation: 0,
    resultsVersion: 0,
    createdAtMs: START_MS,
    updatedAtMs: START_MS,
    progressAtMs: START_MS,
    deadlineAtMs: START_MS + 86_400_000,
    nextCheckAtMs: START_MS + 60_000,
    expiresAtSeconds: EXPIRES_AT_SECONDS,
    ...overrides,
  };
}

/** A submission whose fan-out has ended: `records` of them are on the small lane. */
export function makeProcessing(records: number, overrides: Partial<Submission> = {}): Submission {
  return makeSubmission({
    state: 'processing',
    lane: 'small',
    outboxPending: false,
    fanOut: { done: true, byteOffset: 1000, records, line: records + 2 },
    ...overrides,
  });
}

/** A row of a record that succeeded with an answer of each default provider. */
export function makeRow(overrides: Partial<RecordRow> = {}): RecordRow {
  return {
    submissionId: SUBMISSION_ID,
    recordNo: 1,
    state: 'succeeded',
    attempts: 1,
    generation: 0,
    redrives: 0,
    answers: { company: { kind: 'found', data: { name: 'Acme Ltd' } }, geo: { kind: 'not_found' } },
    recordId: 'cust-0001',
    firstEnqueuedAtMs: START_MS,
    updatedAtMs: START_MS + 1000,
    expiresAtSeconds: EXPIRES_AT_SECONDS,
    ...overrides,
  };
}

export function makeLedgerChunk(overrides: Partial<LedgerChunk> = {}): LedgerChunk {
  return { chunk: 0, succeeded: new Set(), cancelled: new Set(), failed: new Map(), ...overrides };
}

/** The first message of a good record. */
export function makeRecordMessage(overrides: Partial<RecordMessage> = {}): RecordMessage {
  const recordNo = overrides.recordNo ?? 1;
  return {
    v: MESSAGE_VERSION,
    submissionId: SUBMISSION_ID,
    tenantId: TENANT_ID,
    lane: 'small',
    recordNo,
    line: recordNo + 1,
    attempt: 1,
    generation: 0,
    redrives: 0,
    firstEnqueuedAtMs: START_MS,
    expiresAtSeconds: EXPIRES_AT_SECONDS,
    content: { kind: 'record', fields: makeFields(recordNo) },
    ...overrides,
  };
}

/** The columns of a customer record that passes the default schema. */
export function makeFields(recordNo = 1): Record<string, string> {
  const id = String(recordNo).padStart(4, '0');
  return {
    record_id: `cust-${id}`,
    name: `Customer ${id}`,
    email: `customer${id}@example.com`,
    domain: `customer${id}.example.com`,
    country: 'DE',
    postal_code: String(10_114 + recordNo),
  };
}

/** A delivery of `message` (an object is encoded, a string is taken as it is). */
export function makeDelivery(message: unknown, overrides: Partial<Delivery> = {}): Delivery {
  const messageId = overrides.messageId ?? 'message-1';
  return {
    messageId,
    receipt: `receipt-of-${messageId}`,
    body: typeof message === 'string' ? message : encodeBody(message),
    receiveCount: 1,
    attributes: {},
    sentAtMs: START_MS,
    ...overrides,
  };
}

export function makeProvider(overrides: Partial<ProviderConfig> = {}): ProviderConfig {
  return {
    name: 'company',
    baseUrl: 'https://company.example.com',
    path: '/v1/companies/{domain}',
    lookup: ['domain'],
    canary: Object.fromEntries((overrides.lookup ?? ['domain']).map((field) => [field, 'canary.example.com'])),
    auth: { header: 'authorization', prefix: 'Bearer ' },
    timeoutMs: 3000,
    maxBodyBytes: 65_536,
    ratePerSecond: 50,
    burst: 50,
    p99Ms: 200,
    answers: {
      statuses: {
        '2xx': 'found',
        '202': 'not_ready',
        '404': 'not_found',
        '401': 'auth',
        '403': 'auth',
        '429': 'throttled',
        '4xx': 'permanent',
        '5xx': 'transient',
      },
    },
    responseSchema: { type: 'object' },
    ...overrides,
  };
}
