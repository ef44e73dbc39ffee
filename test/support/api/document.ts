import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiDocument } from '../../../lambdas/domain/api/openapi.ts';

interface Described {
  operationId: string;
  description: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean; schema: object; example?: unknown }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<
    string,
    { description: string; headers: Record<string, { $ref: string }>; content?: Record<string, Content> }
  >;
}

interface Content {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

/** As much of an OpenAPI document as tests look at. */
export interface TestDocument {
  servers?: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, object>; headers: Record<string, { schema: object; example: unknown }> };
}

export const documentAt = (baseUrl: string): TestDocument =>
  JSON.parse(JSON.stringify(openApiDocument(baseUrl))) as TestDocument;

/** Every object says all that it has: an answer with a member that is not described does not pass. */
function sealed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(sealed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, sealed(value)]));
  const isClosed = inner['type'] === 'object' && inner['properties'] !== undefined;
  return isClosed && inner['additionalProperties'] === undefined ? { ...inner, additionalProperties: false } : inner;
}

const document = documentAt('');
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: 'api', components: sealed(document.components) });

/** What is wrong with an answer by the OpenAPI document; empty when nothing is. */
export function violations(
  operation: { method: string; resource: string },
  answer: { status: number; headers: Record<string, string>; contentType: string | undefined; body: unknown },
): string[] {
  const described = document.paths[operation.resource]?.[operation.method.toLowerCase()];
  if (described === undefined) return [`${operation.method} ${operation.resource} is not in the document`];
  const response = described.responses[answer.status];
  if (response === undefined) return [`${answer.status} is not among the answers of ${described.operationId}`];
  const names = Object.keys(response.headers).map((name) => name.toLowerCase());
  const undescribed = Object.keys(answer.headers).filter(
    (name) => !UNDESCRIBED.test(name) && !names.includes(name.toLowerCase()),
  );
  if (undescribed.length > 0) return [`${undescribed.join(', ')} is not a header of ${answer.status}`];
  if (response.content === undefined) return answer.body === undefined ? [] : [`${answer.status} has no body`];
  const content = response.content[answer.contentType ?? ''];
  if (content === undefined) return [`${answer.contentType} is not a content type of ${answer.status}`];
  return invalid(content.schema, answer.body);
}

/** Headers that need no description: of HTTP itself, and of CORS. */
const UNDESCRIBED = /^(?:content-type|cache-control|vary|access-control-.*|allow)$/i;

const validators = new Map<object, ValidateFunction>();

/** What is wrong with a value by a schema of the document; empty when nothing is. */
export function invalid(schema: object, value: unknown): string[] {
  const local: unknown = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components'));
  const validate = validators.get(schema) ?? ajv.compile(local as object);
  validators.set(schema, validate);
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}
