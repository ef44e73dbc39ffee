import { UnverifiedInputError } from '../errors.ts';
import type { CsvDialect } from '../files/reader.ts';
import { createMapper, type Mapper } from '../profiles/mapping.ts';
import { recordsFromChunk, type SourceItem } from '../source/source.ts';
import type { Finalizing } from './deps.ts';
import type { Input } from './outcome-lines.ts';
import { RawExcerpts } from './raw-excerpts.ts';

/** The records of the source, from the first one of a chunk on, as many at a time as are asked for. */
export class Inputs {
  readonly #batches: AsyncGenerator<readonly SourceItem[], void, undefined>;
  readonly #excerpts = new RawExcerpts();
  readonly #submissionId: string;
  readonly #mapper: Mapper | undefined;
  readonly #header: readonly string[] | undefined;
  #next: Input[] = [];

  /** @param through - The last record that will be asked for. */
  constructor({ deps, submission }: Finalizing, chunk: number, through: number, dialect: CsvDialect | undefined) {
    this.#submissionId = submission.submissionId;
    this.#mapper = submission.terms.mapping && createMapper(submission.terms.mapping);
    this.#header = dialect?.header;
    this.#batches = recordsFromChunk(deps, submission, chunk, through, (blocks, fromByte) =>
      this.#excerpts.watch(blocks, fromByte),
    );
  }

  /** The next `count` records. Throws UnverifiedInputError, ShortReadError and DependencyUnavailableError. */
  async take(count: number): Promise<Input[]> {
    while (this.#next.length < count) {
      const batch = await this.#batches.next();
      if (batch.done) {
        throw new UnverifiedInputError(
          `The source of ${this.#submissionId} ends ${count - this.#next.length} records before fan-out's end: ` +
            'the reader must have changed since; finalize it with the version that fanned it out.',
        );
      }
      // Quoted at once: with the next batch the bytes are gone.
      this.#next.push(...batch.value.map((item) => this.#withExcerpt(item)));
    }
    return this.#next.splice(0, count);
  }

  /** Verifies a last chunk that is not full: only the end of the file ends it. Throws as `take` does. */
  async verifyEnd(): Promise<void> {
    // Records behind fan-out's end are nobody's; one of them is enough to know that the file has no end here.
    if (this.#next.length === 0) await this.#batches.next();
  }

  async close(): Promise<void> {
    await this.#batches.return();
  }

  #withExcerpt(item: SourceItem): Input {
    if (item.kind === 'record') {
      this.#excerpts.answered(item.endByteOffset);
      const used = this.#mapper?.(item.fields, item.recordNo, this.#header);
      return used ? { ...item, used } : item;
    }
    const raw = this.#excerpts.quote(item.byteOffset, item.endByteOffset);
    this.#excerpts.answered(item.endByteOffset);
    return { ...item, ...(raw !== undefined && { raw }) };
  }
}
