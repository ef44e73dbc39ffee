import { Ajv2020 } from 'ajv/dist/2020.js';
import { OPERATIONS, type Operation } from '../../../lambdas/domain/api/operations.ts';
import { PLAIN_TEXT } from '../../../lambdas/domain/api/schemas.ts';
import { PROBLEMS } from '../../../lambdas/domain/api/problems.ts';
import { BASE_URL, createTestApi } from '../../support/api/api.ts';
import { documentAt, invalid } from '../../support/api/document.ts';

const operations = Object.entries<Operation>(OPERATIONS);
const document = documentAt(BASE_URL);

const refsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === '$ref' ? [String(inner)] : refsIn(inner)));
};

test('the document is served to anybody, with the base that the caller uses', async () => {
  const { status, headers, body } = await createTestApi().call('GET', '/v1/openapi.json', { tenant: null });
  expect(status).toBe(200);
  expect(headers['Content-Type']).toBe('application/json');
  expect(body).toEqual(document);
  expect(body.servers).toEqual([{ url: BASE_URL }]);
});

test('it has exactly the operations that there are', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [operationId, method.toUpperCase(), path]),
  );
  expect(described).toEqual(operations.map(([id, { method, path }]) => [id, method, path]));
});

test('everything that it refers to is in it', () => {
  const refs = refsIn(document);
  expect(refs.length).toBeGreaterThan(0);
  for (const ref of refs) {
    const [, ...path] = ref.split('/');
    expect(
      path.reduce<unknown>((at, name) => (at === undefined ? at : Reflect.get(at as object, name)), document),
    ).toBeDefined();
  }
});

test('its schemas are schemas', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const schema of Object.values(document.components.schemas)) expect(ajv.validateSchema(schema)).toBe(true);
});

test('every problem of the catalogue is the answer of some operation, under its status', () => {
  const paths = JSON.stringify(document.paths);
  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    const ofStatus = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => responses[status]?.description ?? []);
    // What the gateway alone answers, for paths and methods that no operation has.
    if (code === 'method_not_allowed') expect(paths).not.toContain(code);
    else expect(ofStatus.join()).toContain(`\`${code}\``);
  }
});

test('parameters are those that are checked, with their limits', () => {
  const { parameters = [] } = document.paths['/v1/submissions/{id}/records']!['get']!;
  const limit = parameters.find(({ name }: { name: string }) => name === 'limit');
  expect(limit).toMatchObject({ in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 500 } });
  expect(parameters.map(({ name }: { name: string }) => name)).toEqual([
    'id',
    'recordId',
    'state',
    'reason',
    'limit',
    'cursor',
  ]);
});

test('a path parameter is described for every placeholder', () => {
  for (const [, { path, method }] of operations) {
    const { parameters = [] } = document.paths[path]![method.toLowerCase()]!;
    const described = parameters.filter((parameter: { in: string }) => parameter.in === 'path');
    expect(described.map(({ name }: { name: string }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const parameter of described) expect(parameter.schema).toBeDefined();
  }
});

test('every operation is described, in a group that exists, with the request id of every answer', () => {
  const ids = new Set<string>();
  for (const methods of Object.values(document.paths)) {
    for (const { operationId, tags, description, responses } of Object.values(methods)) {
      ids.add(operationId);
      expect(description).toMatch(/key/);
      expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(tags));
      for (const { headers } of Object.values(responses)) expect(headers).toHaveProperty('X-Request-Id');
    }
  }
  expect(ids.size).toBe(operations.length);
});

test('every problem answer names its codes, and only those', () => {
  for (const methods of Object.values(document.paths)) {
    for (const { responses } of Object.values(methods)) {
      for (const [status, { content }] of Object.entries(responses)) {
        const problem = content?.['application/problem+json'];
        if (problem === undefined) continue;
        const codes = Object.keys(problem.examples ?? {});
        expect(codes.length).toBeGreaterThan(0);
        for (const [code, { value }] of Object.entries(problem.examples ?? {})) {
          expect([code, invalid(problem.schema, value)]).toEqual([code, []]);
          expect(value).toMatchObject({ code, status: Number(status) });
        }
        expect(
          invalid(problem.schema, Object.assign({}, problem.examples?.[codes[0] ?? '']?.value, { code: 'other' })),
        ).not.toEqual([]);
      }
    }
  }
});

test('every example is valid, and everything that has a schema of its own has one', () => {
  const examples: [string, object, unknown][] = [];
  for (const methods of Object.values(document.paths)) {
    for (const { operationId, parameters = [], requestBody, responses } of Object.values(methods)) {
      for (const { name, schema, example } of parameters) {
        if (example !== undefined) examples.push([`${operationId} ${name}`, schema, example]);
      }
      for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
        examples.push([`${operationId} ${type}`, schema, example]);
      }
      for (const [status, { content }] of Object.entries(responses)) {
        const answer = content?.['application/json'];
        if (answer && '$ref' in answer.schema)
          examples.push([`${operationId} ${status}`, answer.schema, answer.example]);
      }
    }
  }
  for (const [name, { schema, example }] of Object.entries(document.components.headers)) {
    examples.push([name, schema, example]);
  }
  expect(examples.length).toBeGreaterThan(25);
  for (const [what, schema, example] of examples) {
    expect([what, example === undefined]).toEqual([what, false]);
    expect([what, invalid(schema, example)]).toEqual([what, []]);
  }
});

test('the pattern of texts is the one that is checked', () => {
  const { schema } = document.paths['/v1/submissions']!['post']!.parameters!.find(({ name }) => name === 'reference')!;
  const pattern = new RegExp((schema as { pattern: string }).pattern, 'u');
  for (const text of ['a', 'ä€😀', '', '\u0000', 'a\u001fb', '\u007f', '\u009f', '\u00a0', '\ud800', 'x\udfff']) {
    expect([text, pattern.test(text)]).toEqual([text, PLAIN_TEXT.test(text)]);
  }
});
