import { normalise } from './normalise.ts';
import type { Normaliser } from './steps.ts';

/** Where the value of a target field comes from. A text is the name of a source column. */
export type ColumnSource =
  | string
  /** 1-based. */
  | { position: number }
  | { constant: string }
  /** The number of the record in its file. */
  | { rowNumber: true };

/** How one field of the record schema gets its value. */
export interface FieldRule {
  /** What the schema wants instead of text. */
  type?: 'number' | 'integer' | 'boolean';
  /** A JSON number is accepted, as text. */
  numbers?: true;
  /** Its own name where it is absent. */
  from?: ColumnSource;
  /** {@link DEFAULT_STEPS} where it is absent. */
  steps?: readonly Normaliser[];
}

/** How records of a file become records of the schema: part of the terms of a submission. */
export interface Mapping {
  /** The field that identifies a record. */
  idField: string;
  /** By target field. Other columns pass through to the results and nothing looks up by them. */
  fields: Readonly<Record<string, FieldRule>>;
  /** Cells that mean: no value. */
  nullTexts?: readonly string[];
  duplicates?: 'reject_later';
}

/** Of a field for which the profile names none. */
const DEFAULT_STEPS: readonly Normaliser[] = ['trim'];

/** The field by which postal codes are normalised. */
const COUNTRY_FIELD = 'country';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The target fields of a record, or undefined where they are what was sent.
 *
 * @param header - Names of the columns of a CSV file, in order; for JSON the keys of the record are its columns.
 */
export type Mapper = (
  fields: Fields,
  recordNo: number,
  header?: readonly string[],
) => Record<string, unknown> | undefined;

/** Names are the same when they differ only in case, and in blanks, underscores and hyphens between their words. */
export const foldName = (name: string): string =>
  normalise(name, ['trim', 'nfc', 'lower']).replaceAll(/[\s\u0085\u200B-\u200D\u2060\uFEFF_-]+/gu, '_');

/**
 * The column that a name means: the one that is called exactly so, or else the only one that is called so when names are folded. Two
 * that could be meant are none.
 */
export function columnNamed(columns: readonly string[], name: string): string | undefined {
  if (columns.includes(name)) return name;
  const folded = foldName(name);
  const found = columns.filter((column) => foldName(column) === folded);
  return found.length === 1 ? found[0] : undefined;
}

/** Source columns that the mapping needs by name: without them it cannot be applied to a CSV file. */
export function requiredColumns({ idField, fields }: Mapping): string[] {
  const named = Object.values({ ...fields, [idField]: { from: idField, ...fields[idField] } });
  return named.flatMap(({ from }) => (typeof from === 'string' ? [from] : []));
}

interface Rule extends Omit<FieldRule, 'from' | 'steps'> {
  name: string;
  /** Source column; undefined for one that the record does not have. */
  column?: string | undefined;
  constant?: string;
  rowNumber?: true;
  /** Undefined for {@link DEFAULT_STEPS}. */
  steps: readonly Normaliser[] | undefined;
  usesCountry: boolean;
}

const isDefault = (steps: readonly Normaliser[]): boolean => steps.length === 1 && steps[0] === 'trim';

function ruleFor(name: string, { from = name, steps, ...rest }: FieldRule, columns: readonly string[]): Rule {
  const rule = {
    ...rest,
    name,
    steps: steps === undefined || isDefault(steps) ? undefined : steps,
    usesCountry: steps?.includes('postal_code') === true,
  };
  if (typeof from === 'string') return { ...rule, column: columnNamed(columns, from) };
  if ('position' in from) return { ...rule, column: columns[from.position - 1] };
  return { ...rule, ...from };
}

/** True where the first or last character may be one that `trim` takes away. */
function mayBeTrimmed(text: string): boolean {
  if (text === '') return false;
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  return first <= 0x20 || last <= 0x20 || first >= 0x85 || last >= 0x85;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** A cell as the schema wants it. What is no such value stays text, which the schema then refuses. */
function typed(text: string, type: FieldRule['type']): unknown {
  if (type === undefined) return text;
  if (text === '') return undefined;
  if (type === 'boolean') return BOOLEANS.get(text.toLowerCase()) ?? text;
  return NUMBER.test(text) ? Number(text) : text;
}

/**
 * Prepares a mapping: the answer is pure and applied to every record of the file, by whoever reads it.
 *
 * The default mapping of a record that needs no change costs a look at each of its known fields.
 */
export function createMapper({ fields: rules, nullTexts = [] }: Mapping): Mapper {
  const nulls = new Set(nullTexts);
  const plan = (columns: readonly string[]): Rule[] =>
    Object.entries(rules).map(([name, rule]) => ruleFor(name, rule, columns));
  const planOf = remembered(plan);

  const valueOf = (rule: Rule, fields: Fields, recordNo: number, all: readonly Rule[]): unknown => {
    if (rule.rowNumber) return String(recordNo);
    const sent = rule.constant ?? (rule.column === undefined ? undefined : fields[rule.column]);
    const text = rule.numbers && typeof sent === 'number' ? String(sent) : sent;
    if (typeof text !== 'string') return text;
    if (nulls.size > 0 && nulls.has(text.trim())) return undefined;
    if (rule.steps === undefined) return typed(mayBeTrimmed(text) ? normalise(text, DEFAULT_STEPS) : text, rule.type);
    return typed(normalise(text, rule.steps, rule.usesCountry ? contextOf(fields, recordNo, all) : {}), rule.type);
  };
  const contextOf = (fields: Fields, recordNo: number, all: readonly Rule[]): { country?: string } => {
    const rule = all.find(({ name }) => name === COUNTRY_FIELD);
    const country = rule && valueOf(rule, fields, recordNo, all);
    return typeof country === 'string' ? { country } : {};
  };

  /** The common case, decided at little cost: text under its own name, to which nothing is to be done. */
  const isPlainText = (rule: Rule, fields: Fields): boolean => {
    if (rule.column !== rule.name || rule.steps !== undefined || rule.type !== undefined || nulls.size > 0)
      return false;
    const sent = fields[rule.column];
    return typeof sent === 'string' && !mayBeTrimmed(sent);
  };

  return (fields, recordNo, header) => {
    const all = planOf(header ?? Object.keys(fields));
    const isAsSent = (rule: Rule): boolean =>
      isPlainText(rule, fields) || valueOf(rule, fields, recordNo, all) === fields[rule.name];
    if (all.every(isAsSent)) return undefined;
    const used: Record<string, unknown> = {};
    for (const rule of all) {
      const value = valueOf(rule, fields, recordNo, all);
      if (value !== undefined) used[rule.name] = value;
    }
    return used;
  };
}

/** Plans kept at the same time: a JSON file may have records of many shapes. */
const MAX_PLANS = 100;

function remembered(plan: (columns: readonly string[]) => Rule[]): (columns: readonly string[]) => Rule[] {
  const plans = new Map<string, Rule[]>();
  let last: { columns: readonly string[]; rules: Rule[] } | undefined;
  return (columns) => {
    if (last?.columns === columns) return last.rules;
    const key = columns.join('\0');
    let rules = plans.get(key);
    if (rules === undefined) {
      if (plans.size >= MAX_PLANS) plans.clear();
      rules = plan(columns);
      plans.set(key, rules);
    }
    last = { columns, rules };
    return rules;
  };
}
