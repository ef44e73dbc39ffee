import type { PreviewView } from './preview-view.ts';
import type { ProfileView, RecordView, ResultsView, SubmissionView, UploadView } from './schemas.ts';

import { WEBHOOK_ANSWER_EXAMPLES, WEBHOOK_REQUEST_EXAMPLES } from './webhook-examples.ts';

/* Examples of the OpenAPI document. A test holds them against the schemas. */

const SUBMISSION_ID = 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD';
const UPLOAD_ID = 'up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.Y3VzdG9tZXJzLmNzdg';
const SELF = `https://api.sluice.example/v1/submissions/${SUBMISSION_ID}`;

const upload: UploadView = {
  uploadId: UPLOAD_ID,
  method: 'PUT',
  url: 'https://bucket.s3.eu-central-1.amazonaws.com/uploads/acme/up_01KE9Q5XW0V4T3Z8M2N6P7R1SD?X-Amz-Signature=…',
  headers: { 'if-none-match': '*' },
  expiresAt: '2026-01-05T09:15:00.000Z',
};

const submission: SubmissionView = {
  id: SUBMISSION_ID,
  state: 'processing',
  lane: 'small',
  reference: 'customers of January',
  createdAt: '2026-01-05T09:00:00.000Z',
  updatedAt: '2026-01-05T09:00:04.000Z',
  counts: { total: 200, pending: 110, succeeded: 87, failed: 3, cancelled: 0 },
  failures: { invalid_record: 3 },
  estimatedCompletionAt: '2026-01-05T09:00:08.000Z',
  expiresAt: '2026-02-04T09:00:00.000Z',
  links: { self: SELF, records: `${SELF}/records`, results: `${SELF}/results` },
};

const record: RecordView = {
  submissionId: SUBMISSION_ID,
  recordNo: 1,
  state: 'succeeded',
  attempts: 1,
  updatedAt: '2026-01-05T09:00:02.000Z',
  line: 2,
  record: { 'Customer No.': 'C-1001', Website: 'https://www.indigo-works.example/' },
  used: { record_id: 'C-1001', domain: 'indigo-works.example' },
  output: { record_id: 'C-1001', company: { domain: 'indigo-works.example' }, geo: null },
};

const results: ResultsView = {
  version: 1,
  state: 'partially_failed',
  files: [
    {
      kind: 'succeeded',
      format: 'ndjson',
      part: 1,
      url: 'https://bucket.s3.eu-central-1.amazonaws.com/results/…',
      expiresAt: '2026-01-05T09:20:00.000Z',
      records: 197,
      bytes: 48_211,
      sha256: 'c0ffee254729296a45a3885639ac7e10f9d54979b1a2c3d4e5f60718293a4b5c',
    },
  ],
};

const profile: ProfileView = {
  name: 'crm-export',
  version: 2,
  createdAt: '2026-01-05T09:00:00.000Z',
  profile: {
    reading: { nullTexts: ['NULL'] },
    columns: { record_id: 'Customer No.', domain: 'Website', country: { constant: 'DE' } },
    normalise: { domain: ['trim', 'host_of_url'] },
  },
};

const preview: PreviewView = {
  uploadId: UPLOAD_ID,
  format: 'csv',
  delimiter: ';',
  headerLine: 1,
  columns: ['Customer No.', 'Website', 'Country'],
  asGiven: {
    refused: {
      code: 'MISSING_REQUIRED_COLUMN',
      detail: 'The header on line 1 has no column "record_id"; it has "Customer No.", "Website", "Country". …',
      line: 1,
    },
  },
  asProposed: {
    examined: 200,
    valid: 200,
    invalid: 0,
    faults: [],
    warnings: [],
    records: [
      {
        recordNo: 1,
        line: 2,
        record: { 'Customer No.': 'C-1001', Website: 'https://www.indigo-works.example/', Country: 'Germany' },
        used: { record_id: 'C-1001', domain: 'indigo-works.example', country: 'DE' },
      },
    ],
    profile: {
      columns: { record_id: 'Customer No.', domain: 'Website' },
      normalise: { domain: ['trim', 'host_of_url'], country: ['trim', 'country_alpha2'] },
    },
  },
  suggestions: [
    { detail: 'Column "Customer No." holds record_id.', profile: { columns: { record_id: 'Customer No.' } } },
  ],
  questions: [{ field: 'postal_code', detail: 'No column is known to hold postal_code. Name one in columns, …' }],
  estimate: {
    records: 200,
    isCounted: true,
    calls: { company: 200, geo: 0 },
    completionAt: '2026-01-05T09:00:08.000Z',
  },
};

/** By name of the schema. */
export const ANSWER_EXAMPLES: Readonly<Record<string, unknown>> = {
  Upload: upload,
  Preview: preview,
  Submission: submission,
  SubmissionPage: { items: [submission], nextCursor: null },
  Record: record,
  RecordPage: { items: [record], nextCursor: null },
  Results: results,
  StoredProfile: profile,
  ProfileList: { items: [{ name: profile.name, version: profile.version, updatedAt: profile.createdAt }] },
  ...WEBHOOK_ANSWER_EXAMPLES,
};

/** By operation and content type. */
export const REQUEST_EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  createUpload: { 'application/json': { fileName: 'customers.csv', sizeBytes: 18_233 } },
  createPreview: { 'application/json': { uploadId: UPLOAD_ID } },
  createSubmission: {
    'application/json': { uploadId: UPLOAD_ID, reference: 'customers of January', expectedRecords: 200 },
    'text/csv': 'record_id,domain\nC-1001,indigo-works.example\n',
    'application/x-ndjson': '{"record_id":"C-1001","domain":"indigo-works.example"}\n',
  },
  cancelSubmission: { 'application/json': {} },
  putProfile: { 'application/json': { ...profile.profile } },
  ...WEBHOOK_REQUEST_EXAMPLES,
};
