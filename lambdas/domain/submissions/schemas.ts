import { createHash } from 'node:crypto';
import { InvalidDataError } from '../errors.ts';
import { createRecordInspector, type RecordInspector } from '../records/inspection.ts';
import { compileSchema, type SchemaCheck } from '../records/validation.ts';
import { fieldsOfSchema } from '../profiles/record-fields.ts';
import type { SubmissionStore } from './ports.ts';
import type { Terms } from './terms.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** What records and the answers of providers must look like. */
export interface SchemaSet {
  record: JsonSchema;
  /** Response schemas by provider. */
  responses: Readonly<Record<string, JsonSchema>>;
  /** Fields that a provider looks up by; absent in sets that were stored before it was known. */
  lookups?: readonly string[];
}

/** A set of schemas, compiled. */
export interface SchemaChecks {
  record: RecordInspector;
  /** The field that identifies a record. */
  idField: string;
  responses: ReadonlyMap<string, SchemaCheck>;
}

export const schemaSetOf = (
  record: JsonSchema,
  providers: readonly { name: string; responseSchema: JsonSchema; lookup?: readonly string[] }[],
): SchemaSet => ({
  record,
  responses: Object.fromEntries(providers.map(({ name, responseSchema }) => [name, responseSchema])),
  lookups: [...new Set(providers.flatMap(({ lookup = [] }) => lookup))],
});

/**
 * The schemas that submissions were accepted with. They are stored once, under the hash of their content, and a head holds the hash: a
 * stricter or looser schema changes nothing for the files that are open. A process reads only sets other than its own, each once.
 */
export class AcceptedSchemas {
  /** Of this process's own set. */
  readonly hash: string;
  readonly #own: SchemaSet;
  readonly #store: Pick<SubmissionStore, 'keepSchemas' | 'getSchemas'>;
  readonly #sets = new Map<string, SchemaSet>();
  readonly #checks = new Map<SchemaSet, SchemaChecks>();
  #isKept = false;

  constructor(store: Pick<SubmissionStore, 'keepSchemas' | 'getSchemas'>, own: SchemaSet) {
    this.hash = createHash('sha256').update(JSON.stringify(own)).digest('hex');
    this.#own = own;
    this.#store = store;
  }

  /** The record schema of this process's own set. */
  get recordSchema(): JsonSchema {
    return this.#own.record;
  }

  /** Stores this process's set, so that submissions can be accepted with it. Throws DependencyUnavailableError. */
  async keep(): Promise<void> {
    if (this.#isKept) return;
    await this.#store.keepSchemas(this.hash, this.#own);
    this.#isKept = true;
  }

  /**
   * The set that a submission was accepted with; this process's own for one that 0.1.0 accepted.
   *
   * @throws DependencyUnavailableError; InvalidDataError when the stored set is gone.
   */
  async of({ schemas: hash = this.hash }: Pick<Terms, 'schemas'>): Promise<SchemaSet> {
    if (hash === this.hash) return this.#own;
    const set = this.#sets.get(hash) ?? (await this.#store.getSchemas(hash));
    if (set === undefined) {
      throw new InvalidDataError(`The schemas ${hash} are missing in the submissions table: restore the item.`);
    }
    this.#sets.set(hash, set);
    return set;
  }

  /** The same, compiled. */
  async checksOf(terms: Pick<Terms, 'schemas'>): Promise<SchemaChecks> {
    const set = await this.of(terms);
    const checks = this.#checks.get(set) ?? compile(set);
    this.#checks.set(set, checks);
    return checks;
  }
}

const compile = ({ record, responses, lookups }: SchemaSet): SchemaChecks => ({
  record: createRecordInspector(record, lookups),
  idField: fieldsOfSchema(record).idField,
  responses: new Map(
    Object.entries(responses).map(([name, schema]) => [
      name,
      compileSchema(`responseSchema of provider "${name}"`, schema, 'The answer'),
    ]),
  ),
});
