import * as v from 'valibot';
import { checkSchema } from '../lambdas/domain/records/validation.ts';
import { SluiceError } from '../lambdas/domain/errors.ts';
import {
  DEFAULT_STATUSES,
  isSafeBaseUrl,
  type AnswerClass,
  type Auth,
  type JsonTemplate,
  type ProviderConfig,
} from '../lambdas/domain/providers/config.ts';
import { placeholdersOf } from '../lambdas/domain/providers/request.ts';
import { declarationSchema, fieldsOfSchema } from '../lambdas/domain/profiles/record-fields.ts';
import { prepareProviders } from '../lambdas/domain/providers/provider.ts';
import { schemaSetOf } from '../lambdas/domain/submissions/schemas.ts';
import { between, ConfigError, describeIssue, matching, whole } from './fields.ts';

const ANSWER_CLASSES = {
  found: 'found',
  not_found: 'not_found',
  permanent: 'permanent',
  transient: 'transient',
  not_ready: 'not_ready',
  throttled: 'throttled',
  auth: 'auth',
} as const satisfies { [Class in AnswerClass]: Class };
const answerClass = v.enum(ANSWER_CLASSES, `set one of ${Object.keys(ANSWER_CLASSES).join(', ')}`);
const fieldName = v.pipe(v.string('name a field'), v.nonEmpty('name a field'));
/** RFC 9110, 5.6.2. */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers that the HTTP client sets itself, or that change how the request is framed. */
const RESERVED_HEADERS = /^(host|content-length|transfer-encoding|connection|upgrade|te|trailer|expect)$/i;
const PATH_FORM = /^\/(?:[^{}?#\s]|\{[^{}\s]+\})*$/;

const PARAMETER_NAME = /^[^\s?&=#{}]+$/;
const pointer = matching(/^(?:\/(?:[^~]|~[01])*)+$/, 'set a JSON pointer like /error/code');
const templates = (name: RegExp, remedy: string) =>
  v.record(matching(name, remedy), matching(/^[\x20-\x7e]*$/, 'set printable ASCII without line breaks'));

function isJson(value: unknown): boolean {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return true;
  return typeof value === 'object' && Object.values(value).every(isJson);
}

const headerAuth = v.strictObject({
  header: v.pipe(
    matching(HEADER_NAME, 'set the name of a header, like Authorization'),
    v.check((name) => !RESERVED_HEADERS.test(name), 'name another header: the HTTP client sets this one itself'),
  ),
  prefix: matching(/^[\t\x20-\x7e]*$/, 'set printable ASCII without line breaks, or "" for none'),
});
/** The ways of authorization, by the member that tells them apart. */
const AUTH_SCHEMAS = {
  query: v.strictObject({ query: matching(PARAMETER_NAME, 'set the name of a parameter of the query') }),
  basic: v.strictObject({ basic: v.literal(true, 'set true') }),
  none: v.strictObject({ none: v.literal(true, 'set true') }),
  oauth2: v.strictObject({
    oauth2: v.strictObject({
      tokenUrl: v.pipe(
        v.string('set a URL'),
        v.check(
          (url) => PATH_FORM.test(url) || isSafeBaseUrl(url),
          'set an https URL without credentials, query or fragment, or a path below baseUrl',
        ),
      ),
      scope: v.exactOptional(
        matching(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, 'set scopes with single blanks between them'),
      ),
      clientInBody: v.exactOptional(v.literal(true, 'set true, or leave it out')),
    }),
  }),
};

function authSchemaOf(given: unknown): v.GenericSchema<unknown, Auth> {
  const isKind = (kind: string): kind is keyof typeof AUTH_SCHEMAS => Object.hasOwn(AUTH_SCHEMAS, kind);
  const kind = typeof given === 'object' && given !== null ? Object.keys(given).find(isKind) : undefined;
  return kind === undefined ? headerAuth : AUTH_SCHEMAS[kind];
}

const providerSchema = v.strictObject({
  name: matching(/^[a-z][a-z0-9_]{0,31}$/, 'use up to 32 lower-case letters, digits and _, a letter first'),
  baseUrl: v.pipe(
    v.string('set a URL'),
    v.check(isSafeBaseUrl, 'set an https URL without credentials, query or fragment'),
  ),
  method: v.exactOptional(v.picklist(['GET', 'POST'], 'set GET or POST')),
  path: matching(PATH_FORM, 'begin with /, close every {field}, and leave out blanks, ? and #'),
  query: v.exactOptional(templates(PARAMETER_NAME, 'use the name of a parameter, without blanks, ?, & and =')),
  headers: v.exactOptional(
    v.pipe(
      templates(HEADER_NAME, 'use the name of a header'),
      v.check(
        (headers) => !Object.keys(headers).some((name) => RESERVED_HEADERS.test(name)),
        'leave out headers that the HTTP client sets itself',
      ),
    ),
  ),
  body: v.exactOptional(v.custom<JsonTemplate>(isJson, 'set a JSON value')),
  lookup: v.pipe(
    v.array(fieldName, 'set a list of record fields'),
    v.minLength(1, 'list at least one field of the record'),
    v.check((fields) => new Set(fields).size === fields.length, 'list every field once'),
  ),
  auth: v.lazy((given) => authSchemaOf(given)),
  timeoutMs: whole(100, 120_000, 'milliseconds'),
  maxBodyBytes: whole(1, 256 * 1024, 'bytes'),
  ratePerSecond: between(0.01, 100_000),
  burst: whole(1, 100_000, 'calls'),
  maxConcurrentCalls: v.exactOptional(whole(1, 100_000, 'calls')),
  pricePerCall: v.exactOptional(between(0, 1_000)),
  p99Ms: whole(1, 120_000, 'milliseconds'),
  answers: v.exactOptional(
    v.strictObject({
      statuses: v.exactOptional(
        v.record(matching(/^[2-5](?:\d\d|xx)$/, 'use a status like 404 or a family like 4xx'), answerClass),
      ),
      foundAt: v.exactOptional(pointer),
      bodyCodes: v.exactOptional(v.strictObject({ pointer, classes: v.record(v.string(), answerClass) })),
    }),
  ),
  output: v.exactOptional(
    v.pipe(
      v.record(matching(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'use a name of letters, digits and _'), pointer),
      v.check((parts) => Object.keys(parts).length > 0, 'name at least one part of the answer'),
    ),
  ),
  keep: v.exactOptional(
    v.strictObject({
      for: v.picklist(['tenant', 'all'], 'set tenant or all'),
      foundForSeconds: v.exactOptional(whole(1, 366 * 86_400, 'seconds')),
      notFoundForSeconds: v.exactOptional(whole(1, 366 * 86_400, 'seconds')),
    }),
  ),
  notReadySeconds: v.exactOptional(whole(1, 7 * 86_400, 'seconds')),
  canary: v.record(
    v.string(),
    v.pipe(v.string('set a text'), v.nonEmpty('set a text')),
    'set the lookup of a record that the provider always answers',
  ),
  responseSchema: v.record(v.string(), v.unknown(), 'set a JSON Schema'),
} satisfies Record<keyof ProviderConfig, v.GenericSchema>);

const recordSchemaForm = v.looseObject({
  type: v.literal('object', 'set "object"'),
  properties: v.record(v.string(), v.unknown(), 'declare the fields of a record'),
});

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Checks the configured providers and the record schema, so that what no function could start with fails the synthesis.
 *
 * @throws ConfigError
 */
export function checkConfiguration(providers: readonly unknown[], recordSchema: unknown): void {
  const form = v.safeParse(recordSchemaForm, recordSchema);
  const recordProblems = form.success
    ? jsonSchemaProblems('the schema', form.output)
    : form.issues.map((issue) => describeIssue(issue, 'the schema'));
  if (form.success) recordProblems.push(...declarationProblems(form.output));
  if (recordProblems.length > 0 || !form.success) throw new ConfigError('config/record.schema.json', recordProblems);
  const problems = providerProblems(providers, Object.keys(form.output.properties));
  if (problems.length > 0) throw new ConfigError('config/providers.ts', problems);
  const bytes = schemasBytes(form.output, v.parse(v.array(providerSchema), providers));
  if (bytes > MAX_SCHEMAS_BYTES) {
    const sizes = `The record schema and the response schemas have ${bytes} bytes together, and at most ${MAX_SCHEMAS_BYTES} can be stored`;
    throw new ConfigError('config/record.schema.json and config/providers.ts', [
      `${sizes}: leave out what is not checked, like descriptions and properties that no result needs`,
    ]);
  }
}

/** Every set of schemas is stored in one item, of which DynamoDB takes 400 KB; the rest is for its key. */
const MAX_SCHEMAS_BYTES = 400_000;

const schemasBytes = (record: JsonSchema, providers: readonly ProviderConfig[]): number =>
  Buffer.byteLength(JSON.stringify(schemaSetOf(record, providers)));

/** What is wrong with the keywords by which the record schema says what a profile may do. */
function declarationProblems(schema: v.InferOutput<typeof recordSchemaForm>): string[] {
  const declared = v.safeParse(declarationSchema, schema);
  if (!declared.success) return declared.issues.map((issue) => describeIssue(issue, 'the schema'));
  const { idField } = fieldsOfSchema(schema);
  if (Object.hasOwn(schema.properties, idField)) return [];
  return [`properties.${idField} is missing: declare it, results and searches name records by it`];
}

function providerProblems(providers: readonly unknown[], fields: readonly string[]): string[] {
  if (providers.length === 0) return ['PROVIDERS is empty: list at least one provider'];
  const problems: string[] = [];
  const usable: ProviderConfig[] = [];
  for (const [index, input] of providers.entries()) {
    const parsed = v.safeParse(providerSchema, input);
    const name = v.is(v.looseObject({ name: v.string() }), input) ? input.name : `PROVIDERS[${index}]`;
    const found = parsed.success
      ? contradictions(parsed.output, fields)
      : parsed.issues.map((issue) => describeIssue(issue, 'a provider'));
    problems.push(...found.map((problem) => `${name}: ${problem}`));
    if (usable.some((other) => other.name === name)) problems.push(`${name}: name is used twice: rename one of them`);
    if (parsed.success) usable.push(parsed.output);
  }
  return problems.length > 0 ? problems : preparationProblems(usable);
}

/** What a schema cannot see, since it is about two fields. */
function contradictions(provider: ProviderConfig, fields: readonly string[]): string[] {
  const {
    method = 'GET',
    path,
    query,
    headers,
    body,
    lookup,
    timeoutMs,
    p99Ms,
    canary,
    answers,
    responseSchema,
  } = provider;
  const inTemplates: [place: string, template: JsonTemplate | undefined][] = [
    [`path is "${path}"`, path],
    ...Object.entries(query ?? {}).map(([key, text]): [string, string] => [`query.${key} is "${text}"`, text]),
    ...Object.entries(headers ?? {}).map(([key, text]): [string, string] => [`headers.${key} is "${text}"`, text]),
    ['body has its placeholders', body],
  ];
  const problems = [
    ...inTemplates.flatMap(([place, template]) =>
      placeholdersOf(template)
        .filter((field) => !lookup.includes(field))
        .map((field) => `${place}, but lookup does not list "${field}": add it, or correct the placeholder`),
    ),
    ...lookup
      .filter((field) => !fields.includes(field))
      .map(
        (field) =>
          `lookup lists "${field}", which config/record.schema.json does not declare: declare it, or correct the name`,
      ),
    ...Object.keys(canary)
      .filter((field) => !lookup.includes(field))
      .map((field) => `canary.${field} is not a lookup field: remove it or correct its name`),
  ];
  if (p99Ms > timeoutMs) {
    problems.push(`p99Ms is ${p99Ms}, above timeoutMs (${timeoutMs}): lower it, or wait longer for answers`);
  }
  if (method === 'GET' && body !== undefined) problems.push('body is set, and method is GET: set method to POST');
  if (!Object.values({ ...DEFAULT_STATUSES, ...answers?.statuses }).includes('found')) {
    problems.push('answers.statuses has no "found": give the status of a success, like 200, that class');
  }
  return [...problems, ...jsonSchemaProblems('responseSchema', responseSchema)];
}

/** A misspelt keyword, format or type, a broken pattern, and a required property that is not declared. */
function jsonSchemaProblems(place: string, schema: JsonSchema): string[] {
  try {
    checkSchema(place, schema);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return [error.message];
  }
  const { properties, required } = v.parse(
    v.looseObject({ properties: v.optional(v.looseObject({}), {}), required: v.optional(v.array(v.string()), []) }),
    schema,
  );
  return required
    .filter((name) => !Object.hasOwn(properties, name))
    .map(
      (name) =>
        `${place}: required names "${name}", which properties does not declare: declare it, or correct the name`,
    );
}

/** What only the worker's own preparation finds: answers that do not fit into a row, a canary without a request. */
function preparationProblems(providers: readonly ProviderConfig[]): string[] {
  try {
    prepareProviders(providers);
    return [];
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    return [error.message];
  }
}
