import { isDeepStrictEqual } from 'node:util';
import { columnNamed } from '../profiles/mapping.ts';
import { isNameable, resolveProfile, type Profile, type ProfileReading } from '../profiles/profile.ts';
import { fieldsOfSchema } from '../profiles/record-fields.ts';
import { NORMALISERS, type Normaliser } from '../profiles/steps.ts';
import type { RecordInspector } from '../records/inspection.ts';
import { proposeColumns, type Column, type Field, type Question } from './columns.ts';
import { examine } from './examine.ts';
import { hasShortRows, isHeaderless, notesBelow, nullTextsOf, withReading } from './reading.ts';
import type { Sample } from './sample.ts';
import { columnsOf, readTable, type ReadTableOptions, type Table } from './table.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** A part of a profile, and what it is good for. */
export interface Suggestion {
  detail: string;
  profile: Profile;
}

export interface Proposal {
  /** The customer's profile with every suggestion applied. */
  profile: Profile;
  suggestions: Suggestion[];
  questions: Question[];
  table: Table;
}

export interface ProposeInput {
  sample: Sample;
  given: Profile;
  schema: JsonSchema;
  lookups: readonly string[];
  inspect: RecordInspector;
  maxRecordBytes: number;
}

/** Collects suggestions; each is applied before the next is looked for. */
class Draft {
  readonly suggestions: Suggestion[] = [];
  readonly questions: Question[] = [];
  profile: Profile;

  constructor(given: Profile) {
    this.profile = given;
  }

  suggest(detail: string, part: Profile): void {
    this.suggestions.push({ detail, profile: part });
    this.profile = merge(this.profile, part);
  }
}

const merge = (profile: Profile, { reading, columns, normalise, ...rest }: Profile): Profile => ({
  ...profile,
  ...rest,
  ...((profile.reading ?? reading) && { reading: { ...profile.reading, ...reading } }),
  ...((profile.columns ?? columns) && { columns: { ...profile.columns, ...columns } }),
  ...((profile.normalise ?? normalise) && { normalise: { ...profile.normalise, ...normalise } }),
});

/**
 * Completes a customer's profile for a file whose table was found.
 *
 * @param found - The table, and what of the reading it took to find it
 */
export async function propose(
  input: ProposeInput,
  found: { table: Table; reading: ProfileReading },
): Promise<Proposal> {
  const { given, schema, inspect, lookups } = input;
  const { idField, fields: declared } = fieldsOfSchema(schema);
  const fields = [...declared].map(([name, field]): Field => ({ name, ...field }));
  const draft = new Draft(given);
  let { table } = found;
  if (Object.keys(found.reading).length > 0) draft.suggest(describeReading(found.reading), { reading: found.reading });
  if (given.reading?.headerRow === undefined && table.dialect && isHeaderless(columnsIn(table), fields, inspect)) {
    draft.suggest('The first row is a record: the file has no header.', { reading: { headerRow: 0 } });
    table = await readTable(input.sample, withReading(optionsOf(input, draft.profile, []), {}));
  }
  const { columns, questions } = proposeColumns({
    columns: columnsIn(table),
    fields,
    idField,
    lookups,
    inspect,
    given: given.columns ?? {},
  });
  draft.questions.push(...questions);
  for (const [name, source] of Object.entries(columns)) {
    draft.suggest(describeColumn(name, source), { columns: { [name]: source } });
  }
  suggestRows(draft, table);
  const looked = fields.filter(({ name }) => name === idField || lookups.includes(name));
  suggestNullTexts(draft, table, looked, inspect);
  table = await readTable(input.sample, optionsOf(input, draft.profile, undefined));
  for (const field of looked) suggestSteps(draft, { table, field, schema, inspect });
  const { profile, suggestions, questions: asked } = draft;
  return { profile, suggestions, questions: asked, table };
}

const optionsOf = (
  { schema, maxRecordBytes }: ProposeInput,
  profile: Profile,
  columns: readonly string[] | undefined,
): ReadTableOptions => ({ profile: resolveProfile(profile, schema), maxRecordBytes, ...(columns && { columns }) });

/** Columns among which the fields of a record are looked for. */
const MOST_COLUMNS = 500;

/** Keys of JSON have no place: those that a profile cannot name are left out. */
const columnsIn = (table: Table): Column[] =>
  columnsOf(table)
    .slice(0, MOST_COLUMNS)
    .flatMap((name, index): Column[] => {
      if (!isNameable(name) && !table.dialect) return [];
      const values = table.items.flatMap((item) => (item.kind === 'record' ? [item.fields[name]] : []));
      return [{ name, source: isNameable(name) ? name : { position: index + 1 }, values }];
    });

function describeReading(reading: ProfileReading): string {
  const parts = Object.entries(reading).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `The table is found with ${parts.join(' and ')}.`;
}

function describeColumn(field: string, source: NonNullable<Profile['columns']>[string]): string {
  if (typeof source === 'string') return `Column ${JSON.stringify(source)} holds ${field}.`;
  if ('position' in source) return `Column ${source.position} holds ${field}.`;
  return `No column is known to identify a record: its number in the file is its ${field}.`;
}

function suggestRows(draft: Draft, table: Table): void {
  const { reading = {} } = draft.profile;
  const notes = reading.skipRowsAtEnd === undefined ? notesBelow(table) : 0;
  if (notes > 0) {
    const detail = `The last ${notes === 1 ? 'row is no record' : `${notes} rows are no records`}: notes or totals below the table.`;
    draft.suggest(detail, { reading: { skipRowsAtEnd: notes } });
  }
  if (reading.shortRows === undefined && hasShortRows(table)) {
    draft.suggest('Rows lack cells at their end, as programs write them that drop empty ones.', {
      reading: { shortRows: 'fill' },
    });
  }
}

function suggestNullTexts(draft: Draft, table: Table, fields: readonly Field[], inspect: RecordInspector): void {
  if (draft.profile.reading?.nullTexts !== undefined) return;
  const columns = columnsIn(table);
  const names = columns.map(({ name }) => name);
  const texts = fields.flatMap((field) => {
    const from = draft.profile.columns?.[field.name] ?? field.name;
    const column = columns.find(({ name, source }) =>
      typeof from === 'string' ? name === columnNamed(names, from) : isDeepStrictEqual(source, from),
    );
    return column === undefined ? [] : nullTextsOf(column, field, inspect);
  });
  const found = [...new Set(texts)];
  if (found.length === 0) return;
  draft.suggest(`${found.map((text) => JSON.stringify(text)).join(', ')} means that there is no value.`, {
    reading: { nullTexts: found },
  });
}

/** Steps that never hurt, in their order; case is changed only where it makes values right. */
const CASES: readonly Normaliser[] = ['lower', 'upper'];

/** Adds the steps that change values of a field and leave none of them worse. */
function suggestSteps(
  draft: Draft,
  { table, field, schema, inspect }: { table: Table; field: Field; schema: JsonSchema; inspect: RecordInspector },
): void {
  if (draft.profile.normalise?.[field.name] !== undefined) return;
  const outcome = (steps: readonly Normaliser[]): { values: string; wrong: number } => {
    const profile = merge(draft.profile, { normalise: { [field.name]: [...steps] } });
    const { looked, faults, warnings } = examine(table, resolveProfile(profile, schema), inspect, { all: true });
    const wrong = [...faults, ...warnings].reduce((sum, each) => sum + (each.field === field.name ? each.count : 0), 0);
    return { values: JSON.stringify(looked.map((fields) => fields[field.name])), wrong };
  };
  let steps: Normaliser[] = field.steps.includes('trim') ? ['trim'] : [];
  let now = outcome(steps);
  for (const step of NORMALISERS) {
    if (step === 'trim' || !field.steps.includes(step)) continue;
    const then = outcome([...steps, step]);
    const helps =
      then.wrong < now.wrong || (then.values !== now.values && then.wrong === now.wrong && !CASES.includes(step));
    if (!helps) continue;
    steps = [...steps, step];
    now = then;
  }
  if (steps.every((step) => step === 'trim')) return;
  draft.suggest(`Values of ${field.name} are made right by ${steps.filter((step) => step !== 'trim').join(', ')}.`, {
    normalise: { [field.name]: steps },
  });
}
