import { Ajv2020 } from 'ajv/dist/2020.js';
import { OPERATIONS, type Operation } from '../../../lambdas/domain/api/operations.ts';
import { PROBLEMS } from '../../../lambdas/domain/api/problems.ts';
import { BASE_URL, createTestApi } from '../../support/api/api.ts';
import { documentAt } from '../../support/api/document.ts';

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
  const told = JSON.stringify(document);
  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    const ofStatus = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => responses[status]?.description ?? []);
    // What the gateway alone answers, for paths and methods that no operation has.
    if (code === 'method_not_allowed') expect(told).not.toContain(code);
    else expect(ofStatus.join()).toContain(`\`${code}\``);
  }
});

test('parameters are those that are checked, with their limits', () => {
  const { parameters = [] } = document.paths['/v1/submissions/{id}/records']!['get']!;
  const limit = parameters.find(({ name }: { name: string }) => name === 'limit');
  expect(limit).toMatchObject({ in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 500 } });
  expect(parameters.map(({ name }: { name: string }) => name)).toEqual(['id', 'state', 'reason', 'limit', 'cursor']);
});

test('a path parameter is described for every placeholder', () => {
  for (const [, { path, method }] of operations) {
    const { parameters = [] } = document.paths[path]![method.toLowerCase()]!;
    const described = parameters.filter((parameter: { in: string }) => parameter.in === 'path');
    expect(described.map(({ name }: { name: string }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const parameter of described) expect(parameter.schema).toBeDefined();
  }
});
