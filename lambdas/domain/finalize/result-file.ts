import { createHash } from 'node:crypto';
import type { Submission } from '../model.ts';
import type { ObjectStore, ObjectWriter } from '../source/ports.ts';
import { resultKey, type ResultFile } from './manifest.ts';

/** Text is handed on in pieces of about this length. */
const PIECE_LENGTH = 64 * 1024;

/** What is written; a manifest of a newer version may name more. */
type Written = Pick<ResultFile, 'part'> & { kind: 'succeeded' | 'failed'; format: keyof typeof CONTENT_TYPES };

const CONTENT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const;

/** One object of the results while it is written: counts and hashes what goes through it, holds a piece of it at a time. */
export class ResultFileWriter {
  readonly #description: Pick<ResultFile, 'kind' | 'format' | 'part' | 'key'>;
  readonly #writer: ObjectWriter;
  readonly #hash = createHash('sha256');
  #records = 0;
  #bytes = 0;
  #text: string;
  #isClosed = false;

  /** @param header - Stands before the first record, where the format has one. */
  constructor(
    objects: ObjectStore,
    submission: Pick<Submission, 'tenantId' | 'submissionId'>,
    version: number,
    file: Written,
    header = '',
  ) {
    const key = resultKey(submission, version, file);
    this.#description = { kind: file.kind, format: file.format, part: file.part, key };
    this.#writer = objects.writer(key, CONTENT_TYPES[file.format]);
    this.#text = header;
  }

  /** Adds one record, its line end included. */
  async add(text: string): Promise<void> {
    this.#records += 1;
    this.#text += text;
    if (this.#text.length >= PIECE_LENGTH) await this.#flush();
  }

  /** Makes the object appear, whole. */
  async close(): Promise<ResultFile> {
    await this.#flush();
    await this.#writer.close();
    this.#isClosed = true;
    return {
      ...this.#description,
      records: this.#records,
      bytes: this.#bytes,
      sha256: this.#hash.digest('hex'),
    };
  }

  /** Gives the object up, unless it is closed. */
  async abort(): Promise<void> {
    if (!this.#isClosed) await this.#writer.abort();
  }

  async #flush(): Promise<void> {
    if (this.#text === '') return;
    const piece = Buffer.from(this.#text, 'utf8');
    this.#text = '';
    this.#hash.update(piece);
    this.#bytes += piece.byteLength;
    await this.#writer.write(piece);
  }
}
