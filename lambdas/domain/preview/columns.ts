import { alpha2OfCountry } from '../profiles/countries.ts';
import { columnNamed } from '../profiles/mapping.ts';
import { normalise } from '../profiles/normalise.ts';
import type { ColumnSource } from '../profiles/mapping.ts';
import type { DeclaredField } from '../profiles/record-fields.ts';
import type { RecordInspector } from '../records/inspection.ts';

/** A column of a file with the values of its first records, as they were sent. */
export interface Column {
  name: string;
  /** As a profile speaks of it. */
  source: ColumnSource;
  values: readonly unknown[];
}

/** What a preview cannot know. */
export interface Question {
  /** Field of the record that it is about. */
  field?: string;
  detail: string;
  /** Columns that may be meant. */
  candidates?: string[];
}

export interface Field extends DeclaredField {
  name: string;
}

export interface ColumnsInput {
  columns: readonly Column[];
  fields: readonly Field[];
  idField: string;
  /** Fields that providers look up by. */
  lookups: readonly string[];
  inspect: RecordInspector;
  /** What the customer's profile says. */
  given: Readonly<Record<string, ColumnSource>>;
}

export interface ColumnsProposal {
  columns: Record<string, ColumnSource>;
  questions: Question[];
}

/** Columns whose values are looked at. */
const MOST_COLUMNS = 100;
const MOST_VALUES = 100;
/** Share of the values that must be valid for a column that no name speaks for. */
const CERTAIN_SHARE = 0.9;
/** The same for one with the right name. */
const LIKELY_SHARE = 0.5;

/** Texts that no field with a form of its own takes. */
const PROBES = ['Lorem ipsum dolor sit', 'x y, z', 'Straße 12'];

/**
 * Which column holds which field: by its name, and by whether its values are such values. What two columns may hold is asked.
 */
export function proposeColumns(input: ColumnsInput): ColumnsProposal {
  const { fields, idField, lookups, given, columns } = input;
  const names = columns.map(({ name }) => name);
  const proposal: ColumnsProposal = { columns: {}, questions: [] };
  for (const field of fields) {
    if (Object.hasOwn(given, field.name) || columnNamed(names, field.name) !== undefined) continue;
    if (field.name === idField) proposeId(input, field, proposal);
    else if (lookups.includes(field.name)) proposeField(input, field, proposal);
  }
  return proposal;
}

/** Records without an identifier of their own are known by their number. */
function proposeId({ columns }: ColumnsInput, field: Field, proposal: ColumnsProposal): void {
  const unique = columns.filter(isUnique);
  const [best, ...others] = bestNamed(unique, field);
  if (best !== undefined && others.length === 0) {
    proposal.columns[field.name] = best.source;
    return;
  }
  proposal.columns[field.name] = { rowNumber: true };
  const candidates = (best === undefined ? unique : [best, ...others]).map(({ name }) => name).slice(0, 10);
  if (candidates.length === 0) return;
  const detail = `Which column is the identifier of a record? Until one is named, its number in the file is its ${field.name}.`;
  proposal.questions.push({ field: field.name, detail, candidates });
}

function proposeField(input: ColumnsInput, field: Field, proposal: ColumnsProposal): void {
  const { inspect, columns } = input;
  const looked = columns.slice(0, MOST_COLUMNS);
  const isStrict = PROBES.every((probe) => !isValid(field, probe, inspect));
  const named = bestNamed(looked, field).filter(
    (column) => !isStrict || shareOf(column, field, inspect) >= LIKELY_SHARE,
  );
  const found = named.length > 0 || !isStrict ? named : byContent(input, looked, field);
  const [best, ...others] = found;
  if (best !== undefined && others.length === 0) {
    proposal.columns[field.name] = best.source;
    return;
  }
  const detail =
    best === undefined
      ? `No column is known to hold ${field.name}. Name one in columns, or {"constant": …} where it is the same for all records; without it nothing is looked up by ${field.name}.`
      : `Which of these columns holds ${field.name}?`;
  proposal.questions.push({
    field: field.name,
    detail,
    ...(found.length > 0 && { candidates: found.map(({ name }) => name) }),
  });
}

/** Columns whose values are of this kind; those that need to be taken from an e-mail address only where there are no others. */
function byContent({ inspect }: ColumnsInput, columns: readonly Column[], field: Field): Column[] {
  const fits = (steps: Field['steps']): Column[] =>
    columns.filter((column) => shareOf(column, { ...field, steps }, inspect) >= CERTAIN_SHARE);
  const direct = fits(field.steps.filter((step) => step !== 'host_of_email'));
  return direct.length > 0 ? direct : fits(field.steps);
}

/** The columns whose names speak most for a field; several when they speak for it alike. */
function bestNamed(columns: readonly Column[], field: Field): Column[] {
  const scored = columns
    .map((column) => ({ column, score: nameScore(column.name, field) }))
    .filter(({ score }) => score > 0);
  const most = Math.max(...scored.map(({ score }) => score));
  return scored.filter(({ score }) => score === most).map(({ column }) => column);
}

/** Words of a name, also of one in camel case. */
const wordsOf = (name: string): string =>
  ` ${name
    .normalize('NFC')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu}{2})ID\b/gu, '$1 ID')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(' ')} `;

/** 3 for a name that is one of the field's, 2 for one that ends so, 1 for one that has it among its words. */
function nameScore(column: string, { name, names = [] }: Field): number {
  const words = wordsOf(column);
  const scores = [name, ...names].map((other) => {
    const wanted = wordsOf(other);
    if (words === wanted) return 3;
    if (words.endsWith(wanted)) return 2;
    return words.includes(wanted) ? 1 : 0;
  });
  return Math.max(...scores);
}

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

function isUnique({ values }: Column): boolean {
  return values.length > 0 && values.every(isFilled) && new Set(values.map(String)).size === values.length;
}

/** Share of a column's values that a field takes, each perhaps after one of its steps. */
function shareOf({ values }: Column, field: Field, inspect: RecordInspector): number {
  const filled = values.filter(isFilled).slice(0, MOST_VALUES);
  const valid = filled.filter((value) => isValid(field, value, inspect));
  return filled.length === 0 ? 0 : valid.length / filled.length;
}

/** Whether a value is one of the field, perhaps after one of its steps. */
export function isValid({ name, steps, numbers, type }: Field, value: unknown, inspect: RecordInspector): boolean {
  const text = numbers && typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return type !== undefined && takes(inspect, name, text);
  if (type !== undefined) return text.trim() !== '' && !Number.isNaN(Number(text));
  // Two letters are a code only where a country has it.
  if (steps.includes('country_alpha2')) return alpha2OfCountry(text.trim()) !== undefined;
  return [[], ...steps.map((step) => [step])].some((tried) => {
    return takes(inspect, name, normalise(text, ['trim', 'unwrap_formula', ...tried]));
  });
}

function takes(inspect: RecordInspector, name: string, value: unknown): boolean {
  const { problems, warnings } = inspect({ [name]: value });
  return [...problems, ...warnings].every(({ field }) => field !== name);
}
