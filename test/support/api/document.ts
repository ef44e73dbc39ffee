import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiDocument } from '../../../lambdas/domain/api/openapi.ts';

interface Described {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean; schema: object }[];
  responses: Record<string, { description: string; content?: Record<string, { schema: { $ref?: string } }> }>;
}

/** As much of an OpenAPI document as tests look at. */
export interface TestDocument {
  servers?: { url: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, object> };
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
  answer: { status: number; contentType: string | undefined; body: unknown },
): string[] {
  const described = document.paths[operation.resource]?.[operation.method.toLowerCase()];
  if (described === undefined) return [`${operation.method} ${operation.resource} is not in the document`];
  const response = described.responses[answer.status];
  if (response === undefined) return [`${answer.status} is not among the answers of ${described.operationId}`];
  const content = response.content?.[answer.contentType ?? ''];
  if (content === undefined) return [`${answer.contentType} is not a content type of ${answer.status}`];
  const { $ref } = content.schema;
  if ($ref === undefined) return [];
  const validate = ajv.getSchema(`api${$ref}`) ?? ajv.compile({ $ref: `api${$ref}` });
  return validate(answer.body) ? [] : [ajv.errorsText(validate.errors)];
}
