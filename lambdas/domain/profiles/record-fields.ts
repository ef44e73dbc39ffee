import * as v from 'valibot';
import { SCHEMA_KEYWORDS } from '../records/schema-keywords.ts';
import type { FieldRule } from './mapping.ts';
import { NORMALISERS, type Normaliser } from './steps.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** The keywords of a record schema that mapping goes by. */
export const declarationSchema = v.looseObject({
  [SCHEMA_KEYWORDS.id]: v.optional(v.string('name a field'), 'record_id'),
  properties: v.optional(
    v.record(
      v.string(),
      v.looseObject({
        type: v.optional(v.union([v.string(), v.array(v.string())])),
        [SCHEMA_KEYWORDS.normalise]: v.optional(
          v.array(v.picklist(NORMALISERS, `name steps of ${NORMALISERS.join(', ')}`), 'set a list of steps'),
        ),
        [SCHEMA_KEYWORDS.numbers]: v.optional(v.boolean('set true or false')),
        [SCHEMA_KEYWORDS.names]: v.optional(v.array(v.string('set a list of names'), 'set a list of names')),
      }),
    ),
    {},
  ),
});

/** What the record schema says about a field. */
export interface DeclaredField {
  type?: FieldRule['type'];
  numbers?: true;
  steps: readonly Normaliser[];
  /** Other names of its column. */
  names?: readonly string[];
}

/** What a record schema declares for mapping. Throws ValiError for keywords that are not valid. */
export function fieldsOfSchema(schema: JsonSchema): { idField: string; fields: ReadonlyMap<string, DeclaredField> } {
  const declared = v.parse(declarationSchema, schema);
  const fields = Object.entries(declared.properties).map(([name, field]): [string, DeclaredField] => {
    const { [SCHEMA_KEYWORDS.names]: names } = field;
    const types = [field.type ?? 'string'].flat();
    const type = types.includes('string')
      ? undefined
      : (['number', 'integer', 'boolean'] as const).find((t) => types.includes(t));
    return [
      name,
      {
        ...(type && { type }),
        ...(field[SCHEMA_KEYWORDS.numbers] === true && { numbers: true as const }),
        steps: field[SCHEMA_KEYWORDS.normalise] ?? [],
        ...(names && { names }),
      },
    ];
  });
  return { idField: declared[SCHEMA_KEYWORDS.id], fields: new Map(fields) };
}
