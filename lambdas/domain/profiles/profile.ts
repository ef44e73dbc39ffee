import * as v from 'valibot';
import { SluiceError } from '../errors.ts';
import { CHARSETS, charsetOf } from '../prepare/charsets.ts';
import type { ColumnSource, FieldRule, Mapping } from './mapping.ts';
import { fieldsOfSchema, type DeclaredField } from './record-fields.ts';
import { NORMALISERS, type Normaliser } from './steps.ts';

const MAX_TEXT = 200;
const MAX_FIELDS = 100;
const MAX_NULL_TEXTS = 20;
const MAX_SKIPPED_ROWS = 100;
const MAX_HEADER_ROW = 100;
/** Positions beyond this are no column of a file. */
const MAX_POSITION = 10_000;

const described = <S extends v.GenericSchema>(schema: S, text: string) => v.pipe(schema, v.description(text));

/** Neither control characters nor halves of characters. */
const PLAIN_TEXT = /^[^\p{Cc}\p{Cs}]*$/u;

const text = (what: string, minLength = 1) =>
  v.pipe(v.string(what), v.minLength(minLength, what), v.maxLength(MAX_TEXT, what), v.regex(PLAIN_TEXT, what));

/** Whether a profile can call a column by this name; one of another name it can only count. */
export const isNameable = (column: string): boolean =>
  column !== '' && column.length <= MAX_TEXT && PLAIN_TEXT.test(column);

const whole = (minimum: number, maximum: number) => {
  const remedy = `a whole number from ${minimum} to ${maximum} is required`;
  return v.pipe(v.number(remedy), v.integer(remedy), v.minValue(minimum, remedy), v.maxValue(maximum, remedy));
};

const oneOf = <const T extends readonly string[]>(known: T) =>
  v.picklist(known, `one of ${known.map((name) => JSON.stringify(name)).join(', ')} is required`);

const readingSchema = v.strictObject({
  format: v.exactOptional(
    described(oneOf(['csv', 'ndjson', 'json']), 'As `format` of the submission, which goes before it.'),
  ),
  encoding: v.exactOptional(
    described(
      v.pipe(
        v.string('a character set is required'),
        v.check((label) => charsetOf(label) !== undefined, `one of ${CHARSETS.join(', ')} is required`),
      ),
      'Character set of a text that is not UTF-8 and has no mark.',
    ),
  ),
  sheet: v.exactOptional(
    described(text('the name of a sheet is required'), 'Sheet of a workbook; the first one without it.'),
  ),
  delimiter: v.exactOptional(
    described(
      v.pipe(v.string(), v.regex(/^[\t!#$%&*+,./:;=?@^_|~-]$/, 'one punctuation character or a tab is required')),
      'Found by the header where it is absent.',
    ),
  ),
  quote: v.exactOptional(
    described(
      v.picklist(['"', "'", ''], `one of "\\"", "'" and "" (none) is required`),
      'What stands around a cell. `"` where it is absent.',
    ),
  ),
  escape: v.exactOptional(
    described(
      v.picklist(
        ['"', '\\'],
        'one of "\\"" (a quote is doubled) and "\\\\" (a backslash stands before it) is required',
      ),
      'How a quote is written in a quoted cell. Found by the first rows where it is absent.',
    ),
  ),
  headerRow: v.exactOptional(
    described(
      v.union(
        [v.literal('found'), whole(0, MAX_HEADER_ROW)],
        `"found" or a whole number from 0 to ${MAX_HEADER_ROW} is required`,
      ),
      'Line of the header; 0 for a file without one, whose columns are `column_1`, `column_2`…',
    ),
  ),
  skipRowsAtEnd: v.exactOptional(
    described(whole(0, MAX_SKIPPED_ROWS), 'Rows at the end that are no records: notes, totals.'),
  ),
  shortRows: v.exactOptional(
    described(
      oneOf(['refuse', 'fill']),
      'Whether the cells that a row lacks at its end are empty. `refuse` where it is absent.',
    ),
  ),
  nullTexts: v.exactOptional(
    described(
      v.pipe(
        v.array(text('a text is required', 0)),
        v.maxLength(MAX_NULL_TEXTS, `at most ${MAX_NULL_TEXTS} texts are allowed`),
      ),
      'Cells that mean: no value. For example `NULL`, `\\N`, `n/a`.',
    ),
  ),
});

const sourceSchema = v.union(
  [
    text('a name is required'),
    v.strictObject({ position: whole(1, MAX_POSITION) }),
    v.strictObject({ constant: text('a text is required', 0) }),
    v.strictObject({ rowNumber: v.literal(true) }),
  ],
  'the name of a column, {"position": 1}, {"constant": "DE"} or {"rowNumber": true} is required',
);

const few = <T extends v.GenericSchema>(value: T) =>
  v.pipe(
    v.record(v.pipe(v.string(), v.maxLength(MAX_TEXT)), value, 'an object is required'),
    v.check((all) => Object.keys(all).length <= MAX_FIELDS, `at most ${MAX_FIELDS} fields are allowed`),
  );

const resultsSchema = v.strictObject({
  bom: v.exactOptional(
    described(
      v.boolean('true or false is required'),
      'CSV results begin with a byte order mark. `false` where it is absent.',
    ),
  ),
  guard: v.exactOptional(
    described(
      v.boolean('true or false is required'),
      'CSV results have an apostrophe before what a spreadsheet would calculate. `true` where it is absent.',
    ),
  ),
});

/** What a customer says of a file. */
export const profileSchema = v.strictObject({
  reading: v.exactOptional(described(readingSchema, 'How the file is cut into records.')),
  columns: v.exactOptional(
    described(
      few(sourceSchema),
      'By field of the record: the column it comes from. Fields that are not named come from the column of their name.',
    ),
  ),
  normalise: v.exactOptional(
    described(
      few(
        v.pipe(
          v.array(oneOf(NORMALISERS), 'a list of steps is required'),
          v.maxLength(NORMALISERS.length, 'each step once is enough'),
        ),
      ),
      'By field of the record: steps that are applied in order to the value before it is checked and looked up by. `["trim"]` where it is absent.',
    ),
  ),
  duplicates: v.exactOptional(
    described(
      oneOf(['allow', 'reject_later']),
      'Of two records with the same identifier, whether the later one is refused. `allow` where it is absent.',
    ),
  ),
  results: v.exactOptional(described(resultsSchema, 'How CSV results are written.')),
});

export type Profile = v.InferOutput<typeof profileSchema>;
export type ResultOptions = v.InferOutput<typeof resultsSchema>;
export type ProfileReading = NonNullable<Profile['reading']>;

/** How a file is to be read where it does not say so itself: part of the terms of a submission. */
export interface Reading extends Omit<ProfileReading, 'format' | 'encoding' | 'nullTexts'> {
  /** As `charsetOf` answers it. */
  charset?: string;
}

/** A profile together with the record schema, as the terms of a submission hold it. */
export interface ResolvedProfile {
  format?: ProfileReading['format'];
  reading: Reading;
  mapping: Mapping;
  results?: ResultOptions;
}

/** Places of a profile that are wrong, each with a sentence that names the remedy. */
export class ProfileError extends SluiceError {
  readonly issues: readonly { path: readonly string[]; detail: string }[];

  constructor(issues: ProfileError['issues']) {
    super(issues.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join(' '));
    this.issues = issues;
  }
}

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Holds a profile against the record schema.
 *
 * @throws ProfileError that names every field that the schema does not have, and every step that it does not allow.
 */
export function resolveProfile(profile: Profile, schema: JsonSchema): ResolvedProfile {
  const { idField, fields } = fieldsOfSchema(schema);
  const { columns = {}, normalise = {}, duplicates, results } = profile;
  const { format, encoding, nullTexts, ...reading } = profile.reading ?? {};
  const issues = [
    ...unknownFields('columns', Object.keys(columns), fields),
    ...unknownFields('normalise', Object.keys(normalise), fields),
    ...Object.entries(normalise).flatMap(([name, steps]) => refusedSteps(name, steps, fields.get(name))),
  ];
  if (issues.length > 0) throw new ProfileError(issues);
  const charset = encoding === undefined ? undefined : charsetOf(encoding);
  const rules = [...fields].map(([name, field]): [string, FieldRule] => [
    name,
    ruleOf(field, columns[name], normalise[name]),
  ]);
  return {
    ...(format && { format }),
    ...(results && { results }),
    reading: { ...reading, ...(charset !== undefined && charset !== 'utf-8' && { charset }) },
    mapping: {
      idField,
      fields: Object.fromEntries(rules),
      ...(nullTexts && { nullTexts }),
      ...(duplicates === 'reject_later' && { duplicates }),
    },
  };
}

function ruleOf(
  { type, numbers, steps: allowed }: DeclaredField,
  from: ColumnSource | undefined,
  steps: readonly Normaliser[] | undefined,
): FieldRule {
  const named = steps ?? (allowed.includes('trim') ? undefined : []);
  return {
    ...(type && { type }),
    ...(numbers && { numbers }),
    ...(from !== undefined && { from }),
    ...(named && { steps: named }),
  };
}

const listed = (names: Iterable<string>): string => [...names].join(', ') || 'none';

function unknownFields(
  part: string,
  names: readonly string[],
  fields: ReadonlyMap<string, DeclaredField>,
): ProfileError['issues'] {
  return names
    .filter((name) => !fields.has(name))
    .map((name) => ({
      path: [part, name],
      detail: `${JSON.stringify(name.slice(0, 60))} is no field of the record: name one of ${listed(fields.keys())}.`,
    }));
}

function refusedSteps(
  name: string,
  steps: readonly Normaliser[],
  field: DeclaredField | undefined,
): ProfileError['issues'] {
  if (field === undefined) return [];
  return steps.flatMap((step, index) =>
    field.steps.includes(step)
      ? []
      : [
          {
            path: ['normalise', name, String(index)],
            detail: `${step} is not allowed for ${name}: ${listed(field.steps)} are.`,
          },
        ],
  );
}
