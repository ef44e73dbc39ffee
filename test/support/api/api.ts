import recordSchema from '../../../config/record.schema.json' with { type: 'json' };
import { createConverter } from '../../../lambdas/adapters/prepare/converter.ts';
import { AcceptedSchemas } from '../../../lambdas/domain/submissions/schemas.ts';
import { deleteProfile, getProfile, listProfiles, putProfile } from '../../../lambdas/domain/api/profiles.ts';
import { createPreview } from '../../../lambdas/domain/api/previews.ts';
import {
  createWebhook,
  deleteWebhook,
  putWebhook,
  resendDelivery,
  rotateWebhookSecret,
  testWebhook,
} from '../../../lambdas/domain/api/webhooks.ts';
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from '../../../lambdas/domain/api/webhook-reads.ts';
import { createUpload } from '../../../lambdas/domain/api/uploads.ts';
import { getDescription } from '../../../lambdas/domain/api/openapi.ts';
import { OPERATIONS, type Operation } from '../../../lambdas/domain/api/operations.ts';
import type { Presigner } from '../../../lambdas/domain/api/ports.ts';
import { getRecord } from '../../../lambdas/domain/api/records.ts';
import { listRecords } from '../../../lambdas/domain/api/records-page.ts';
import { getResults } from '../../../lambdas/domain/api/results.ts';
import { getSubmission, listSubmissions } from '../../../lambdas/domain/api/status.ts';
import { createCountsCache } from '../../../lambdas/domain/api/counts-cache.ts';
import { cancelSubmission, createSubmission, type SubmitDeps } from '../../../lambdas/domain/api/submissions.ts';
import { httpHandler, type HttpHandler } from '../../../lambdas/runtime/http.ts';
import { TENANT_ID } from '../factories.ts';
import {
  createMemoryWorld,
  createTestClock,
  seededRandom,
  type MemoryWorld,
  type PortHook,
  type TestClock,
} from '../memory/index.ts';
import { createTestAnswerMemory, type TestAnswerMemory } from './answer-memory.ts';
import { violations } from './document.ts';

export const API_HOST = 'api.example.com';
export const BASE_URL = `https://${API_HOST}/test`;
export const REQUEST_ID = 'request-1';
export const ORIGIN = 'https://app.example.com';

export interface Call {
  /** Null: the gateway knows of no key. */
  tenant?: string | null;
  scopes?: string;
  headers?: Record<string, string>;
  multiHeaders?: Record<string, string[]>;
  /** An object is sent as JSON. */
  body?: unknown;
  query?: Record<string, string>;
  multiQuery?: Record<string, string[]>;
}

export interface Answered {
  status: number;
  headers: Record<string, string>;
  /** Parsed; the text where it is none. */
  body: ReturnType<typeof JSON.parse>;
  text: string;
}

export interface TestApi {
  world: MemoryWorld;
  clock: TestClock;
  answers: TestAnswerMemory;
  schemas: AcceptedSchemas;
  /** Calls the API as the gateway would, and holds the answer against the OpenAPI document. */
  call: (method: string, path: string, call?: Call) => Promise<Answered>;
  /** Asks for a place, puts the file there, and gives its upload id. */
  upload: (content?: string | Uint8Array, options?: { tenant?: string; fileName?: string }) => Promise<string>;
}

const LIMITS: SubmitDeps['settings'] = {
  maxFileBytes: 1_000_000,
  maxRecords: 10_000,
  maxRecordBytes: 2_000,
  providers: ['company', 'geo'],
  maxDirectBodyBytes: 50_000,
  admission: { maxOpenRecordsPerTenant: 5_000, maxOpenRecords: 20_000, maxOpenSubmissionsPerTenant: 10 },
  retentionDays: 30,
  deadlineHours: 24,
  smallLaneShare: 0.5,
  pacePerSecond: 100,
};

/** The API's functions on ports in memory, behind events as API Gateway makes them. */
export function createTestApi(
  options: {
    hook?: PortHook;
    settings?: Partial<SubmitDeps['settings']>;
    corsOrigins?: string[];
    remainingMs?: number;
    clock?: TestClock;
    credentials?: Readonly<Record<string, string>>;
  } = {},
): TestApi {
  const { clock = createTestClock() } = options;
  const world = createMemoryWorld({
    clock,
    ...(options.credentials && { credentials: options.credentials }),
    ...(options.hook && { hook: options.hook }),
  });
  const answers = createTestAnswerMemory();
  const settings = { ...LIMITS, ...options.settings };
  const schemas = new AcceptedSchemas(world.submissions, {
    record: recordSchema,
    responses: {},
    lookups: ['domain', 'country', 'postal_code'],
  });
  const deps = {
    ...world,
    answers,
    countsCache: createCountsCache(clock),
    presigner: testPresigner,
    fanOutQueue: world.queues.live.fanOut,
    webhookQueue: world.queues.live.webhooks,
    schemas,
    clock,
    random: seededRandom(1),
    settings,
  };
  const telemetry = { ...world.telemetry, begin: () => undefined, flush: () => undefined };
  const shared = { corsOrigins: options.corsOrigins ?? [ORIGIN], telemetry, clock };
  const submit = httpHandler({
    answers: {
      createUpload: createUpload(deps),
      createSubmission: createSubmission(deps),
      cancelSubmission: cancelSubmission(deps),
      putProfile: putProfile(deps),
      deleteProfile: deleteProfile(deps),
      createWebhook: createWebhook(deps),
      putWebhook: putWebhook(deps),
      deleteWebhook: deleteWebhook(deps),
      rotateWebhookSecret: rotateWebhookSecret(deps),
      testWebhook: testWebhook(deps),
      resendDelivery: resendDelivery(deps),
    },
    ...shared,
  });
  const status = httpHandler({
    answers: {
      getDescription: getDescription(),
      getSubmission: getSubmission(deps),
      listSubmissions: listSubmissions(deps),
      getRecord: getRecord(deps),
      listRecords: listRecords(deps),
      getResults: getResults(deps),
      getProfile: getProfile(deps),
      listProfiles: listProfiles(deps),
      listWebhooks: listWebhooks(deps),
      getWebhook: getWebhook(deps),
      listDeliveries: listDeliveries(deps),
      getDelivery: getDelivery(deps),
    },
    ...shared,
  });
  const preview = httpHandler({
    answers: {
      createPreview: createPreview({
        ...deps,
        converter: createConverter(world.objects),
        lookups: { company: ['domain'], geo: ['country', 'postal_code'] },
        pricesPerCall: { company: 0.005 },
      }),
    },
    ...shared,
  });
  const call: TestApi['call'] = async (method, path, request = {}) =>
    callHandlers({ submit, status, preview }, method, path, request, options.remainingMs);
  const upload: TestApi['upload'] = async (content = 'record_id\n1\n', { tenant = TENANT_ID, fileName } = {}) => {
    const { body } = await call('POST', '/v1/uploads', {
      tenant,
      body: { ...(fileName !== undefined && { fileName }) },
    });
    world.objects.seed(keyOfUrl(body.url), content);
    return body.uploadId;
  };
  return { world, clock, answers, schemas, call, upload };
}

const STORE = 'https://files.example.com/';
const testPresigner: Presigner = {
  async upload({ key, expiresInSeconds, sizeBytes, nowMs }) {
    const url = `${STORE}${key}?expires=${expiresInSeconds}${sizeBytes === undefined ? '' : `&size=${sizeBytes}`}`;
    return { method: 'PUT', url, headers: { 'if-none-match': '*' }, expiresAtMs: nowMs + expiresInSeconds * 1000 };
  },
  async download({ key, expiresInSeconds, fileName, nowMs }) {
    const url = `${STORE}${key}?expires=${expiresInSeconds}&as=${fileName}`;
    return { url, expiresAtMs: nowMs + expiresInSeconds * 1000 };
  },
};

/** Key of the object that a link of the test's presigner leads to. */
export const keyOfUrl = (url: string): string => url.slice(STORE.length).replace(/\?.*$/, '');

async function callHandlers(
  handlers: Record<Operation['handledBy'], HttpHandler>,
  method: string,
  path: string,
  request: Call,
  remainingMs = 25_000,
): Promise<Answered> {
  const { resource, pathParameters } = route(path);
  const operations: Operation[] = Object.values(OPERATIONS);
  const operation = operations.find(
    (one) => one.path === resource && one.method === (method === 'HEAD' ? 'GET' : method),
  );
  const context = { awsRequestId: 'invocation-1', getRemainingTimeInMillis: () => remainingMs };
  const event = proxyEvent(method, path, resource, pathParameters, request);
  const result = await handlers[operation?.handledBy ?? 'status'](event, context);
  const answer = { status: result.statusCode, headers: result.headers, text: result.body, body: parse(result.body) };
  const contentType = result.headers['Content-Type'];
  // What the functions are never asked (unknown paths and methods) is not in the document either.
  const found =
    operation === undefined || method === 'HEAD' ? [] : violations({ method, resource }, { ...answer, contentType });
  if (found.length > 0) throw new Error(`${method} ${path}: ${found.join('; ')}\n${answer.text}`);
  return answer;
}

function parse(text: string): unknown {
  return text === '' ? undefined : JSON.parse(text);
}

/** The gateway's resource for a path, and what its placeholders stand for. */
function route(path: string): { resource: string; pathParameters: Record<string, string> | null } {
  for (const { path: resource } of Object.values(OPERATIONS)) {
    const pattern = new RegExp(`^${resource.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(path);
    if (match) return { resource, pathParameters: match.groups ? { ...match.groups } : null };
  }
  return { resource: path, pathParameters: null };
}

export function proxyEvent(
  method: string,
  path: string,
  resource: string,
  pathParameters: Record<string, string> | null,
  { tenant = TENANT_ID, scopes = 'submit read', headers = {}, multiHeaders, body, query, multiQuery }: Call,
) {
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  const bytes = body === undefined ? undefined : isText ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  const sent: Record<string, string> = { ...(bytes && !isText && { 'Content-Type': 'application/json' }), ...headers };
  const lists = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, [value]]));
  return {
    resource,
    path,
    httpMethod: method,
    headers: sent,
    multiValueHeaders: { ...lists, ...multiHeaders },
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters:
      multiQuery ?? (query ? Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])) : null),
    pathParameters,
    stageVariables: null,
    requestContext: {
      requestId: REQUEST_ID,
      path: `/test${path}`,
      stage: 'test',
      domainName: API_HOST,
      ...(tenant !== null && { authorizer: { principalId: 'abcd1234', tenantId: tenant, keyId: 'abcd1234', scopes } }),
    },
    body: bytes === undefined || bytes.length === 0 ? null : bytes.toString('base64'),
    isBase64Encoded: bytes !== undefined && bytes.length > 0,
  };
}
