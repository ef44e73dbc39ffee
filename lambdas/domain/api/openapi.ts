import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { OPERATIONS, type Operation } from './operations.ts';
import { PROBLEMS, type ProblemCode } from './problems.ts';
import { parseQuery } from './input.ts';
import type { OpenAnswer } from './request.ts';
import { noParametersSchema, problemSchema } from './schemas.ts';

type Json = Record<string, unknown>;

/** What any operation that needs a key may answer with, besides its own problems. */
const COMMON_PROBLEMS: readonly ProblemCode[] = [
  'invalid_request',
  'unauthorized',
  'missing_scope',
  'too_many_requests',
  'internal_error',
  'unavailable',
  'timed_out',
];
const OPEN_PROBLEMS: readonly ProblemCode[] = ['invalid_request', 'too_many_requests', 'internal_error'];

const FILE_TYPES = ['text/csv', 'application/x-ndjson'];

const PATH_PARAMETERS: Readonly<Record<string, { description: string; schema: Json }>> = {
  id: { description: 'Submission id', schema: { type: 'string' } },
  recordNo: {
    description: 'Number of the record in its file, from 1 on',
    schema: { type: 'integer', minimum: 1 },
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
      description: 'Submit files of records, and learn what happened to every one of them.',
    },
    ...(baseUrl !== '' && { servers: [{ url: baseUrl }] }),
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the tenant' } },
      schemas: componentSchemas(),
    },
  };
}

const schemaOf = (schema: v.GenericSchema, typeMode: 'input' | 'output'): Json => {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
  });
  return rest;
};

function componentSchemas(): Record<string, Json> {
  const schemas: Record<string, Json> = { Problem: schemaOf(problemSchema, 'output') };
  for (const { success } of Object.values<Operation>(OPERATIONS)) {
    if (success.schema && success.name !== undefined) schemas[success.name] = schemaOf(success.schema, 'output');
  }
  return schemas;
}

function describeOperation(operationId: string, operation: Operation): Json {
  const { summary, scope, success, body } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation), ...headerParameters(operation)];
  return {
    operationId,
    summary,
    ...(scope === undefined ? { security: [] } : { description: `Needs a key with the scope \`${scope}\`.` }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: describeBody(body) }),
    responses: { [success.status]: describeSuccess(success), ...describeProblems(operation) },
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
    schema: schemaOf(schema, 'output'),
  }));

const headerParameters = ({ idempotent }: Operation): Json[] =>
  idempotent
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'Repetitions with the same key and request are one submission and get the same answer.',
          schema: { type: 'string', minLength: 1, maxLength: 255 },
        },
      ]
    : [];

function describeBody({ json, file }: NonNullable<Operation['body']>): Json {
  const request = schemaOf(json, 'input');
  const fileSchema = { description: 'The file, untouched' };
  const array = { type: 'array', items: { type: 'object' }, description: 'The file: an array of records' };
  return {
    required: file === true,
    content: {
      'application/json': { schema: file ? { oneOf: [request, array] } : request },
      ...(file && Object.fromEntries(FILE_TYPES.map((type) => [type, { schema: fileSchema }]))),
    },
  };
}

function describeSuccess({ status, name }: Operation['success']): Json {
  const schema = name === undefined ? { type: 'object' } : { $ref: `#/components/schemas/${name}` };
  const location = { Location: { description: 'URL of the submission', schema: { type: 'string' } } };
  return {
    description: status === 200 ? 'Found' : status === 201 ? 'Created' : 'Accepted',
    ...(name === 'Submission' && status === 202 && { headers: location }),
    content: { 'application/json': { schema } },
  };
}

function describeProblems({ scope, problems }: Operation): Record<string, Json> {
  const codes = [...(scope === undefined ? OPEN_PROBLEMS : COMMON_PROBLEMS), ...problems];
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  const answers = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    answers.map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

/** GET /v1/openapi.json */
export const getDescription = (): OpenAnswer => async (request) => {
  parseQuery(noParametersSchema, request.query);
  return { status: 200, headers: { 'Cache-Control': 'public, max-age=300' }, body: openApiDocument(request.baseUrl) };
};
