import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { InvalidDataError } from '../errors.ts';
import { MAX_DETAIL_LENGTH } from '../model.ts';
import { SCHEMA_KEYWORDS } from './schema-keywords.ts';

/** Tells what is wrong with a value in one sentence without quoting it, or `undefined` when it is valid. */
export type SchemaCheck = (value: unknown) => string | undefined;

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Compiles a JSON Schema (draft 07). Compiling costs milliseconds: do it once per process.
 *
 * Misspelt keywords and types are refused here; whether the schema as a whole is one is for {@link checkSchema} to say, which
 * would double what a function's start costs.
 *
 * @param whole - What a sentence calls the value itself, for example `The record`.
 * @throws InvalidDataError when the schema itself is not usable.
 */
export function compileSchema(name: string, schema: JsonSchema, whole: string): SchemaCheck {
  try {
    shared ??= compiler({ validateSchema: false, meta: false });
    const validate = shared.compile(schema);
    const declared = declaredFields(schema);
    return (value) => {
      if (validate(value)) return undefined;
      return describe(validate.errors?.[0], declared, whole);
    };
  } catch (cause) {
    throw unusable(name, cause);
  }
}

/** Checks a schema against the standard itself. For tests and tools. Throws InvalidDataError. */
export function checkSchema(name: string, schema: JsonSchema): void {
  try {
    thorough ??= compiler({ validateSchema: true, meta: true });
    thorough.compile(schema);
  } catch (cause) {
    throw unusable(name, cause);
  }
}

/** One for all schemas: making it takes longer than compiling one. */
let shared: Ajv | undefined;
let thorough: Ajv | undefined;

/** Schemas are an adopter's: misspelt keywords are refused, while `type` may be left to an outer schema. */
function compiler(options: { validateSchema: boolean; meta: boolean }): Ajv {
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    // Two schemas may have the same $id: none is known to the others.
    addUsedSchema: false,
    ...options,
  });
  ajv.addVocabulary(Object.values(SCHEMA_KEYWORDS));
  addFormats.default(ajv);
  return ajv;
}

function unusable(name: string, cause: unknown): InvalidDataError {
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new InvalidDataError(`${name} is not a usable JSON Schema: ${problem}. Correct it.`, { cause });
}

/** Compiles config/record.schema.json. The check's sentence names the field and the rule, never a value. */
export const createRecordValidator = (schema: JsonSchema): SchemaCheck =>
  compileSchema('config/record.schema.json', schema, 'The record');

/** Fields that a schema declares, with the first sentence of their descriptions. */
function declaredFields({ properties }: JsonSchema): ReadonlyMap<string, string | undefined> {
  const fields = typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
  return new Map(fields.map(([name, field]: [string, unknown]) => [name, firstSentence(field)]));
}

function firstSentence(field: unknown): string | undefined {
  if (typeof field !== 'object' || field === null || !('description' in field)) return undefined;
  return typeof field.description === 'string' ? /^.*?(?=\.(\s|$)|$)/s.exec(field.description)?.[0] : undefined;
}

/** Ajv's words, but for a pattern: whoever fills in a file does not read regular expressions. */
function ruleOf({ keyword, message }: ErrorObject, meaning: string | undefined): string {
  if (keyword !== 'pattern') return message ?? 'is not valid';
  return meaning === undefined ? 'does not have the form that is asked for' : `must have another form: ${meaning}`;
}

function describe(
  error: ErrorObject | undefined,
  declared: ReadonlyMap<string, string | undefined>,
  whole: string,
): string {
  const name = decodePointerToken(error?.instancePath.split('/')[1] ?? '');
  // Only names that the schema declares are repeated: a column name may be data (a file without its header line).
  const field = declared.has(name) ? `Field "${name}"` : 'A field';
  const place = name === '' ? whole : field;
  const rule = error === undefined ? 'is not valid' : ruleOf(error, declared.get(name));
  return `${place} ${rule}.`.slice(0, MAX_DETAIL_LENGTH);
}

const decodePointerToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');
