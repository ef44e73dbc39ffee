import { fieldsOfSchema } from '../profiles/record-fields.ts';
import { MAX_DETAIL_LENGTH } from '../model.ts';
import { compileFieldChecks, type FieldProblem, type JsonSchema } from './validation.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with a record. Sentences name the field and the rule, never a value. */
export interface Inspection {
  /** The record cannot be worked. */
  problems: readonly FieldProblem[];
  /** Fields that nothing looks up by: the record is worked all the same. */
  warnings: readonly FieldProblem[];
}

/** Checks the fields of a record by the schema. */
export type RecordInspector = (fields: Fields) => Inspection;

/**
 * @param lookups - Fields that providers look up by; undefined where that is not known: then every field counts.
 * @throws InvalidDataError for a schema that is not usable.
 */
export function createRecordInspector(schema: JsonSchema, lookups: readonly string[] | undefined): RecordInspector {
  const check = compileFieldChecks(schema);
  const { idField, fields: declared } = fieldsOfSchema(schema);
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const isUnused = ({ field }: FieldProblem): boolean =>
    field !== undefined &&
    lookups?.includes(field) === false &&
    field !== idField &&
    declared.has(field) &&
    !required.includes(field);
  return (fields) => {
    const found = check(fields);
    if (found.length === 0) return NOTHING;
    return { problems: found.filter((problem) => !isUnused(problem)), warnings: found.filter(isUnused) };
  };
}

const NOTHING: Inspection = { problems: [], warnings: [] };

/** Sentences one behind the other, as many as fit into a detail. */
export function sentencesOf(problems: readonly FieldProblem[]): string {
  let text = '';
  for (const { detail } of problems) {
    const longer = text === '' ? detail : `${text} ${detail}`;
    if (longer.length > MAX_DETAIL_LENGTH) break;
    text = longer;
  }
  return text;
}
