import type * as v from 'valibot';
import { profileSchema } from '../profiles/profile.ts';
import type { RequestHeader, ResponseHeader } from './headers.ts';
import type { ProblemCode } from './problems.ts';
import type { Scope } from './request.ts';
import { previewRequestSchema, previewSchema } from './preview-view.ts';
import { WEBHOOK_OPERATIONS } from './webhook-operations.ts';
import {
  directParametersSchema,
  noParametersSchema,
  profileListSchema,
  recordListParametersSchema,
  recordPageSchema,
  recordSchema,
  resultsSchema,
  statusParametersSchema,
  storedProfileSchema,
  submissionListParametersSchema,
  submissionPageSchema,
  submissionRequestSchema,
  submissionSchema,
  uploadRequestSchema,
  uploadSchema,
} from './schemas.ts';

type Parameters = v.StrictObjectSchema<v.ObjectEntries, undefined>;

/** Groups of operations in the OpenAPI document. */
export const TAGS = {
  description: 'What this API is.',
  uploads: 'Places to upload files to.',
  submissions: 'Files that are processed, and how far they are.',
  records: 'What happened to single records.',
  results: 'Result files.',
  profiles: 'What is said of files once for all: how they are read, and which columns are which fields.',
  webhooks: 'Where events are sent, and what became of it.',
};

/** One call of the API: what it takes, what it answers, who may make it. */
export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With placeholders, as the gateway names the resource. */
  path: string;
  handledBy: 'submit' | 'status' | 'preview';
  /** Scope that the key must have; absent where no key is needed. */
  scope?: Scope;
  summary: string;
  description?: string;
  tag: keyof typeof TAGS;
  /** Headers that the operation reads, beside those of every request. */
  headers?: readonly RequestHeader[];
  query: Parameters;
  body?: {
    json: Parameters;
    /** Whether the file itself may be sent instead. */
    file?: true;
  };
  success: { status: number; schema?: v.GenericSchema; name?: string; headers?: readonly ResponseHeader[] };
  /** May be answered with 304. */
  unchanged?: true;
  /** Besides those that every operation may answer with. */
  problems: readonly ProblemCode[];
}

const one = ['not_found'] as const;

/** Every operation by its id. The gateway's routes, the functions' routing, CORS and the OpenAPI document are made from this. */
export const OPERATIONS = {
  getDescription: {
    method: 'GET',
    path: '/v1/openapi.json',
    handledBy: 'status',
    summary: 'This document',
    tag: 'description',
    query: noParametersSchema,
    success: { status: 200 },
    problems: [],
  },
  createUpload: {
    method: 'POST',
    path: '/v1/uploads',
    handledBy: 'submit',
    scope: 'submit',
    summary: 'Ask for a place to upload one file to',
    tag: 'uploads',
    headers: ['Idempotency-Key'],
    query: noParametersSchema,
    body: { json: uploadRequestSchema },
    success: { status: 201, schema: uploadSchema, name: 'Upload', headers: ['Idempotency-Replayed'] },
    problems: [
      'invalid_json',
      'request_in_progress',
      'body_too_large',
      'file_too_large',
      'upload_expired',
      'idempotency_key_reused',
    ],
  },
  createPreview: {
    method: 'POST',
    path: '/v1/previews',
    handledBy: 'preview',
    scope: 'submit',
    summary: 'Look at an uploaded file before it is submitted',
    description:
      'What the file is, what would become of its first records, and which profile makes more of them right. No provider is called and nothing is stored.',
    tag: 'uploads',
    query: noParametersSchema,
    body: { json: previewRequestSchema },
    success: { status: 200, schema: previewSchema, name: 'Preview' },
    problems: [
      'invalid_json',
      'body_too_large',
      'file_too_large',
      'upload_missing',
      'upload_expired',
      'profile_missing',
      'too_large_to_preview',
    ],
  },
  createSubmission: {
    method: 'POST',
    path: '/v1/submissions',
    handledBy: 'submit',
    scope: 'submit',
    summary: 'Submit an uploaded file, or a file in the body',
    tag: 'submissions',
    headers: ['Idempotency-Key'],
    query: directParametersSchema,
    body: { json: submissionRequestSchema, file: true },
    success: {
      status: 202,
      schema: submissionSchema,
      name: 'Submission',
      headers: ['Location', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy'],
    },
    problems: [
      'invalid_json',
      'request_in_progress',
      'body_too_large',
      'file_too_large',
      'unsupported_media_type',
      'upload_missing',
      'upload_expired',
      'profile_missing',
      'too_many_records',
      'idempotency_key_reused',
      'too_many_open_records',
      'too_many_open_submissions',
      'system_busy',
    ],
  },
  listSubmissions: {
    method: 'GET',
    path: '/v1/submissions',
    handledBy: 'status',
    scope: 'read',
    summary: 'Submissions, newest first',
    tag: 'submissions',
    query: submissionListParametersSchema,
    success: { status: 200, schema: submissionPageSchema, name: 'SubmissionPage' },
    problems: ['invalid_cursor'],
  },
  getSubmission: {
    method: 'GET',
    path: '/v1/submissions/{id}',
    handledBy: 'status',
    scope: 'read',
    summary: 'State, counts and failures of a submission',
    description:
      'With `wait`, the answer is held back until the submission has ended or, with `If-None-Match`, has changed; at most for so many seconds.',
    tag: 'submissions',
    headers: ['If-None-Match'],
    query: statusParametersSchema,
    success: { status: 200, schema: submissionSchema, name: 'Submission', headers: ['ETag'] },
    unchanged: true,
    problems: one,
  },
  cancelSubmission: {
    method: 'POST',
    path: '/v1/submissions/{id}/cancel',
    handledBy: 'submit',
    scope: 'submit',
    summary: 'Stop a submission; finished records keep their outcome',
    tag: 'submissions',
    query: noParametersSchema,
    body: { json: noParametersSchema },
    success: { status: 202, schema: submissionSchema, name: 'Submission' },
    problems: [...one, 'already_closed', 'invalid_json', 'body_too_large'],
  },
  listRecords: {
    method: 'GET',
    path: '/v1/submissions/{id}/records',
    handledBy: 'status',
    scope: 'read',
    summary: 'Records of a submission, by record number',
    tag: 'records',
    query: recordListParametersSchema,
    success: { status: 200, schema: recordPageSchema, name: 'RecordPage' },
    problems: [...one, 'invalid_cursor', 'not_ready'],
  },
  getRecord: {
    method: 'GET',
    path: '/v1/submissions/{id}/records/{recordNo}',
    handledBy: 'status',
    scope: 'read',
    summary: 'What happened to one record',
    tag: 'records',
    query: noParametersSchema,
    success: { status: 200, schema: recordSchema, name: 'Record' },
    problems: one,
  },
  getResults: {
    method: 'GET',
    path: '/v1/submissions/{id}/results',
    handledBy: 'status',
    scope: 'read',
    summary: 'Links to the result files of a submission that has ended',
    tag: 'results',
    query: noParametersSchema,
    success: { status: 200, schema: resultsSchema, name: 'Results' },
    problems: [...one, 'not_ready', 'no_results'],
  },
  listProfiles: {
    method: 'GET',
    path: '/v1/profiles',
    handledBy: 'status',
    scope: 'read',
    summary: 'The newest version of each profile, by name',
    tag: 'profiles',
    query: noParametersSchema,
    success: { status: 200, schema: profileListSchema, name: 'ProfileList' },
    problems: [],
  },
  getProfile: {
    method: 'GET',
    path: '/v1/profiles/{name}',
    handledBy: 'status',
    scope: 'read',
    summary: 'A profile: its newest version, or the one that the name ends with (`name@2`)',
    tag: 'profiles',
    query: noParametersSchema,
    success: { status: 200, schema: storedProfileSchema, name: 'StoredProfile' },
    problems: one,
  },
  putProfile: {
    method: 'PUT',
    path: '/v1/profiles/{name}',
    handledBy: 'submit',
    scope: 'submit',
    summary: 'Make a profile, or a new version of it',
    description:
      'Submissions that were accepted with an earlier version keep what it said. Where nothing is new, the version stays.',
    tag: 'profiles',
    query: noParametersSchema,
    body: { json: profileSchema },
    success: { status: 200, schema: storedProfileSchema, name: 'StoredProfile' },
    problems: ['invalid_json', 'body_too_large', 'too_many_profiles'],
  },
  deleteProfile: {
    method: 'DELETE',
    path: '/v1/profiles/{name}',
    handledBy: 'submit',
    scope: 'submit',
    summary: 'Delete a profile; answers with its last version',
    tag: 'profiles',
    query: noParametersSchema,
    success: { status: 200, schema: storedProfileSchema, name: 'StoredProfile' },
    problems: one,
  },
  ...WEBHOOK_OPERATIONS,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;
const isOperationId = (id: string): id is OperationId => Object.hasOwn(OPERATIONS, id);
export const OPERATION_IDS: readonly OperationId[] = Object.keys(OPERATIONS).filter(isOperationId);
