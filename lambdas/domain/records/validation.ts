import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { InvalidDataError } from '../errors.ts';
import { MAX_DETAIL_LENGTH } from '../model.ts';
import { SCHEMA_KEYWORDS } from './schema-keywords.ts';

/** Tells what is wrong with a value in one sentence without quoting it, or `undefined` when it is valid. */
export type SchemaCheck = (value: unknown) => string | undefined;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What is wrong with one field of a record. */
export interface FieldProblem {
  /** Undefined for what is wrong with the record as a whole, or with a field that the schema does not declare. */
  field: string | undefined;
  /** The rule, without the value: problems with the same rule have the same sentence. */
  detail: string;
}

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

/** Compiles the record schema to find every field that is wrong, each with its first rule. Throws as {@link compileSchema} does. */
export function compileFieldChecks(schema: JsonSchema): (value: unknown) => FieldProblem[] {
  try {
    everyError ??= compiler({ validateSchema: false, meta: false, allErrors: true });
    const validate = everyError.compile(schema);
    const declared = declaredFields(schema);
    return (value) => (validate(value) ? [] : problemsOf(validate.errors ?? [], declared, value));
  } catch (cause) {
    throw unusable('config/record.schema.json', cause);
  }
}

function problemsOf(
  errors: readonly ErrorObject[],
  declared: ReadonlyMap<string, string | undefined>,
  value: unknown,
): FieldProblem[] {
  const byField = new Map<string, FieldProblem>();
  for (const error of errors) {
    const { keyword, instancePath, params } = error;
    // What a condition leads to is an error of its own.
    if (keyword === 'if') continue;
    const missing = keyword === 'required' && instancePath === '' ? String(params['missingProperty']) : '';
    const name = decodePointerToken(instancePath.split('/')[1] ?? missing);
    if (byField.has(name)) continue;
    const field = declared.has(name) ? name : undefined;
    byField.set(name, { field, detail: withCharacter(describe(error, declared, 'The record'), valueAt(value, name)) });
  }
  return [...byField.values()];
}

const valueAt = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

/** Characters that nobody sees, by what they are called. */
const INVISIBLE: Readonly<Record<string, string>> = {
  '\u00A0': 'no-break space',
  '\u00AD': 'soft hyphen',
  '\u200B': 'zero-width space',
  '\u200C': 'zero-width non-joiner',
  '\u200D': 'zero-width joiner',
  '\u200E': 'left-to-right mark',
  '\u200F': 'right-to-left mark',
  '\u202F': 'narrow no-break space',
  '\u2060': 'word joiner',
  '\uFEFF': 'byte order mark',
  '\t': 'tab',
  '\n': 'line feed',
  '\r': 'carriage return',
};

/** The sentence, with the first character of the value that nobody sees: the rule alone would not show what is wrong. */
function withCharacter(sentence: string, value: unknown): string {
  if (typeof value !== 'string') return sentence;
  const characters = Array.from(value);
  const at = characters.findIndex((character) => Object.hasOwn(INVISIBLE, character));
  const character = characters[at];
  if (character === undefined) return sentence;
  const code = `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  return `${sentence} Its character ${at + 1} is ${code} (${INVISIBLE[character]}).`.slice(0, MAX_DETAIL_LENGTH);
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
let everyError: Ajv | undefined;

/** Schemas are an adopter's: misspelt keywords are refused, while `type` may be left to an outer schema. */
function compiler(options: { validateSchema: boolean; meta: boolean; allErrors?: boolean }): Ajv {
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
