import * as v from 'valibot';
import { formatCsvLine } from '../files/csv-writer.ts';
import { FAILURE_COLUMNS } from '../files/failure-columns.ts';
import type { CsvDialect } from '../files/reader.ts';
import type { ResultOptions } from '../profiles/profile.ts';
import { dataOf, type ProviderAnswers } from '../model.ts';
import type { ProviderConfig } from '../providers/config.ts';

/*
 * CSV results have the original columns in their original order, and behind them:
 * - of succeeded records, per provider `<provider>.match` (found, not_found or not_applicable) and one column for each property that the
 *   provider's response schema names, such as `company.name`; objects in objects become `company.address.city`;
 * - of the others `reason`, `message`, `detail`, `record_no`, `line` and, where the row could not be read, its beginning in `raw`.
 * A name that the file has already gets `_2`, `_3`… What a provider answers beyond its schema is in the NDJSON results only.
 */

/** One column behind the original ones. `path` leads to its value in the provider's data. */
interface EnrichmentColumn {
  name: string;
  path: readonly string[];
}

const objectSchema = v.object({ properties: v.record(v.string(), v.unknown()) });

function leaves(schema: unknown, path: readonly string[]): (readonly string[])[] {
  const parsed = v.safeParse(objectSchema, schema);
  if (!parsed.success) return path.length > 0 ? [path] : [];
  return Object.entries(parsed.output.properties).flatMap(([name, inner]) => leaves(inner, [...path, name]));
}

/** Without a schema, what a provider found is in the NDJSON results only. */
interface ColumnProvider {
  name: string;
  responseSchema?: ProviderConfig['responseSchema'] | undefined;
}

const columnsOf = ({ name, responseSchema }: ColumnProvider): EnrichmentColumn[] =>
  leaves(responseSchema, []).map((path) => ({ name: [name, ...path].join('.'), path }));

/** Names for new columns that no column before them has. */
function freeNames(names: readonly string[], taken: readonly string[]): string[] {
  const used = new Set(taken);
  return names.map((name) => {
    let free = name;
    for (let n = 2; used.has(free); n++) free = `${name}_${n}`;
    used.add(free);
    return free;
  });
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return data;
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, name)) return undefined;
  return valueAt(Reflect.get(data, name), rest);
}

export type FailureCells = Partial<Record<(typeof FAILURE_COLUMNS)[number], string | number>>;

/** Formats the CSV results of one submission. */
export class CsvColumns {
  readonly #options: ResultOptions;
  readonly #dialect: CsvDialect;
  readonly #providers: readonly { name: string; columns: readonly EnrichmentColumn[] }[];

  constructor(dialect: CsvDialect, providers: readonly ColumnProvider[], options: ResultOptions = {}) {
    this.#options = options;
    this.#dialect = dialect;
    this.#providers = providers.map((provider) => ({ name: provider.name, columns: columnsOf(provider) }));
  }

  succeededHeader(): string {
    const names = this.#providers.flatMap(({ name, columns }) => [`${name}.match`, ...columns.map((c) => c.name)]);
    return this.#header(names);
  }

  succeeded(fields: Readonly<Record<string, unknown>>, answers: ProviderAnswers): string {
    const cells = this.#providers.flatMap(({ name, columns }) => {
      const answer = answers[name];
      const data = dataOf(answer);
      return [answer?.kind, ...columns.map(({ path }) => valueAt(data, path))];
    });
    return this.#format([...this.#original(fields), ...cells]);
  }

  failedHeader(): string {
    return this.#header(FAILURE_COLUMNS);
  }

  failed(fields: Readonly<Record<string, unknown>>, failure: FailureCells): string {
    return this.#format([...this.#original(fields), ...FAILURE_COLUMNS.map((name) => failure[name])]);
  }

  #header(added: readonly string[]): string {
    const { header } = this.#dialect;
    return `${this.#options.bom ? '\uFEFF' : ''}${this.#format([...header, ...freeNames(added, header)])}`;
  }

  #original(fields: Readonly<Record<string, unknown>>): unknown[] {
    return this.#dialect.header.map((name) => (Object.hasOwn(fields, name) ? fields[name] : undefined));
  }

  #format(cells: readonly unknown[]): string {
    const { guard = true } = this.#options;
    return formatCsvLine(cells, { delimiter: this.#dialect.delimiter, guard });
  }
}
