import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { ANSWER_EXAMPLES, REQUEST_EXAMPLES } from './examples.ts';
import { REQUEST_HEADERS, RESPONSE_HEADERS, type ResponseHeader } from './headers.ts';
import { parseQuery } from './input.ts';
import { EVENT_EXAMPLE } from './webhook-examples.ts';
import { eventSchema } from './webhook-schemas.ts';
import { OPERATIONS, TAGS, type Operation } from './operations.ts';
import { ProblemError, PROBLEMS, type ProblemCode } from './problems.ts';
import type { OpenAnswer } from './request.ts';
import {
  noParametersSchema,
  PLAIN_TEXT,
  PROFILE_REFERENCE,
  problemSchema,
  recordSchema,
  submissionSchema,
} from './schemas.ts';

type Json = Record<string, unknown>;

/** Problems that any operation with a key may answer with, besides its own. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  'invalid_request',
  'unauthorized',
  'missing_scope',
  'too_many_requests',
  'internal_error',
  'unavailable',
  'timed_out',
];
const OPEN_PROBLEMS = COMMON_PROBLEMS.filter((code) => code !== 'unauthorized' && code !== 'missing_scope');

/** Headers that belong to a problem, besides those of every answer. */
const HEADERS_OF_STATUS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
  504: ['Retry-After'],
};

const FILE_TYPES = ['text/csv', 'application/x-ndjson'];

const PATH_PARAMETERS: Readonly<Record<string, { description: string; schema: Json; example: unknown }>> = {
  id: {
    description: 'Submission id',
    schema: { type: 'string' },
    example: 'sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  },
  name: {
    description: 'Name of a profile.',
    schema: { type: 'string', pattern: PROFILE_REFERENCE.source },
    example: 'crm-export',
  },
  webhookId: {
    description: 'Webhook id; for its secret also `callback`, the URLs that submissions name.',
    schema: { type: 'string' },
    example: 'we_01KE9Q5XW0V4T3Z8M2N6P7R1SD',
  },
  deliveryId: {
    description: 'Delivery id',
    schema: { type: 'string' },
    example: 'dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE',
  },
  recordNo: {
    description: 'Number of the record in its file, from 1 on',
    schema: { type: 'integer', minimum: 1 },
    example: 18,
  },
};

/** The OpenAPI 3.1 document of the API, from the schemas that requests and answers are made by. */
export function openApiDocument(baseUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, operation] of Object.entries<Operation>(OPERATIONS)) {
    const { method, path } = operation;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operationId, operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: '1',
      description:
        'Submit files of records, and learn what happened to every one of them. Every path with GET has HEAD as well. ' +
        'A method that a path does not have is answered with 405, the problem `method_not_allowed` and `Allow`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operator of this API' },
    },
    servers: [{ url: baseUrl === '' ? '/' : baseUrl }],
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: { submissionEnded: describeEvent() },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the tenant' } },
      headers: COMPONENT_HEADERS,
      schemas: componentSchemas(),
    },
  };
}

/** What an endpoint is sent, which it need not have a key for. */
const describeEvent = (): Json => ({
  post: {
    operationId: 'submissionEnded',
    summary: 'A submission has ended',
    description: 'Signed by the Standard Webhooks specification. Answer with any 2xx within ten seconds.',
    tags: ['webhooks'],
    security: [],
    parameters: Object.entries(EVENT_HEADERS).map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(eventSchema, 'output'), example: EVENT_EXAMPLE } },
    },
    responses: {
      '2XX': { description: 'Taken' },
      410: { description: 'Gone: the webhook is disabled' },
      default: { description: 'Sent again later' },
    },
  },
});

const EVENT_HEADERS = {
  'webhook-id': 'Id of the event, the same for all attempts.',
  'webhook-timestamp': 'When this attempt was made, in seconds since 1970.',
  'webhook-signature': 'One or more signatures: `v1,` and the base64 of an HMAC-SHA256.',
};

/** No operation answers with `Allow`: that is of methods that a path does not have. */
const { Allow: _ofOtherMethods, ...COMPONENT_HEADERS } = RESPONSE_HEADERS;

/** The same as `PLAIN_TEXT`. */
const PORTABLE_PLAIN_TEXT = String.raw`^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]*$`;

/** Schemas that others refer to. */
const DEFINITIONS = { Submission: submissionSchema, Record: recordSchema };

function schemaOf(schema: v.GenericSchema, typeMode: 'input' | 'output'): Json {
  const {
    $schema: _dialect,
    $defs: _definitions,
    ...rest
  } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    definitions: DEFINITIONS,
    // Many validators know no property escapes.
    overrideAction: ({ valibotAction, jsonSchema }) =>
      'requirement' in valibotAction && String(valibotAction.requirement) === String(PLAIN_TEXT)
        ? { ...jsonSchema, pattern: PORTABLE_PLAIN_TEXT }
        : undefined,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  });
  return rest;
}

function componentSchemas(): Record<string, Json> {
  const schemas: Record<string, Json> = { Problem: schemaOf(problemSchema, 'output') };
  for (const { success } of Object.values<Operation>(OPERATIONS)) {
    if (!success.schema || success.name === undefined) continue;
    // A copy, since a definition would only refer to itself.
    schemas[success.name] = schemaOf({ ...success.schema }, 'output');
  }
  return schemas;
}

function describeOperation(operationId: string, operation: Operation): Json {
  const { summary, scope, success, body, tag, description, unchanged } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation), ...headerParameters(operation)];
  const needs = scope === undefined ? 'Needs no key.' : `Needs a key with the scope \`${scope}\`.`;
  return {
    operationId,
    summary,
    description: description === undefined ? needs : `${description} ${needs}`,
    tags: [tag],
    ...(scope === undefined && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: describeBody(operationId, body) }),
    responses: {
      [success.status]: describeSuccess(success),
      ...(unchanged && { 304: { description: 'Unchanged since `If-None-Match`', headers: headersOf(['ETag']) } }),
      ...describeProblems(operation),
    },
  };
}

const pathParameters = ({ path }: Operation): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...PATH_PARAMETERS[name],
  }));

const queryParameters = ({ query, body }: Operation): Json[] =>
  Object.entries(query.entries).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    ...(body?.file && { description: 'Only where the body is the file itself' }),
    schema: withDefault(schemaOf(schema, 'output')),
  }));

/** A default of a number is text in the query's schema. */
const withDefault = ({ default: value, ...schema }: Json): Json =>
  value === undefined ? schema : { ...schema, default: schema['type'] === 'integer' ? Number(value) : value };

const headerParameters = ({ headers = [] }: Operation): Json[] =>
  headers.map((name) => ({ name, in: 'header', required: false, ...REQUEST_HEADERS[name] }));

const headersOf = (names: readonly ResponseHeader[]): Json =>
  Object.fromEntries(
    (['X-Request-Id', ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

function describeBody(operationId: string, { json, file }: NonNullable<Operation['body']>): Json {
  const request = schemaOf(json, 'input');
  const array = {
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'The file: an array of records',
  };
  const schemas: [string, Json][] = [
    ['application/json', file ? { oneOf: [request, array] } : request],
    ...(file ? FILE_TYPES : []).map((type): [string, Json] => [
      type,
      { type: 'string', description: 'The file, untouched' },
    ]),
  ];
  return {
    required: file === true,
    content: Object.fromEntries(
      schemas.map(([type, schema]) => [type, { schema, example: REQUEST_EXAMPLES[operationId]?.[type] }]),
    ),
  };
}

function describeSuccess({ status, name, headers = [] }: Operation['success']): Json {
  return {
    description: status === 200 ? 'Found' : status === 201 ? 'Created' : 'Accepted',
    headers: headersOf(headers),
    content: {
      'application/json':
        name === undefined
          ? { schema: { type: 'object', additionalProperties: true } }
          : { schema: { $ref: `#/components/schemas/${name}` }, example: ANSWER_EXAMPLES[name] },
    },
  };
}

/** Every problem that an operation may answer with. */
export const problemsOf = ({ scope, problems }: Operation): ProblemCode[] => [
  ...(scope === undefined ? OPEN_PROBLEMS : COMMON_PROBLEMS),
  ...problems,
];

function describeProblems(operation: Operation): Record<string, Json> {
  const byStatus = Map.groupBy(problemsOf(operation), (code) => PROBLEMS[code].status);
  const answers = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(answers.map(([status, codes]) => [status, describeProblem(status, codes)]));
}

function describeProblem(status: number, codes: readonly ProblemCode[]): Json {
  const ofStatus = { type: 'object', properties: { code: { type: 'string', enum: codes } } };
  const examples: Json = Object.fromEntries(
    codes.map((code) => [code, { value: new ProblemError(code, `${PROBLEMS[code].title}.`).toProblem() }]),
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
    headers: headersOf(HEADERS_OF_STATUS[status] ?? []),
    content: {
      'application/problem+json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, ofStatus] },
        examples,
      },
    },
  };
}

/** GET /v1/openapi.json */
export const getDescription = (): OpenAnswer => async (request) => {
  parseQuery(noParametersSchema, request.query);
  return { status: 200, headers: { 'Cache-Control': 'public, max-age=300' }, body: openApiDocument(request.baseUrl) };
};
