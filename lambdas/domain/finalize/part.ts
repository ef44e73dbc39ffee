import { UnverifiedInputError } from '../errors.ts';
import type { CsvDialect } from '../files/reader.ts';
import { emptyChunk, finishedOffsets } from '../ledger/ledger.ts';
import { CHUNK_RECORDS, recordNoAt, type RecordRow } from '../model.ts';
import type { Telemetry } from '../telemetry.ts';
import type { ReasonCode } from '../reasons.ts';
import type { SchemaChecks } from '../submissions/schemas.ts';
import { CsvColumns } from './columns.ts';
import type { Finalizing } from './deps.ts';
import { Inputs } from './inputs.ts';
import type { PartManifest } from './manifest.ts';
import { failedLine, failureCells, fieldsOf, succeededLine, type Input } from './outcome-lines.ts';
import { failureReason, recount, type Recount } from './recount.ts';
import { ResultFileWriter } from './result-file.ts';

/** The chunks of one part. */
export interface PartRange {
  /** 1-based. */
  part: number;
  firstChunk: number;
  chunks: number;
}

/** An open record among those that the ledger holds for finished: the results cannot be written yet. */
export interface OpenChunk {
  chunk: number;
  openOffsets: readonly number[];
}

export type PartOutcome = { done: PartManifest } | { open: OpenChunk[] };

/** The files of one part and what went into them. */
class PartWriter {
  readonly #checks: SchemaChecks;
  readonly #csv: CsvColumns | undefined;
  readonly #succeeded: ResultFileWriter;
  readonly #failed: ResultFileWriter;
  readonly #succeededCsv: ResultFileWriter | undefined;
  readonly #failedCsv: ResultFileWriter | undefined;
  readonly #counts = { total: 0, succeeded: 0, failed: 0, cancelled: 0 };
  readonly #failures: Partial<Record<ReasonCode, number>> = {};

  constructor(
    { deps, submission, version }: Finalizing,
    part: number,
    { columns, checks }: { columns: CsvColumns | undefined; checks: SchemaChecks },
  ) {
    this.#checks = checks;
    const open = (kind: 'succeeded' | 'failed', format: 'ndjson' | 'csv', header?: string): ResultFileWriter =>
      new ResultFileWriter(deps.objects, submission, version, { kind, format, part }, header);
    this.#succeeded = open('succeeded', 'ndjson');
    this.#failed = open('failed', 'ndjson');
    if (!columns) return;
    this.#csv = columns;
    this.#succeededCsv = open('succeeded', 'csv', columns.succeededHeader());
    this.#failedCsv = open('failed', 'csv', columns.failedHeader());
  }

  async add(input: Input, row: RecordRow): Promise<void> {
    this.#counts.total += 1;
    if (row.state === 'succeeded') {
      requireInput(input, row);
      this.#counts.succeeded += 1;
      await this.#succeeded.add(succeededLine(this.#withWarnings(input), row));
      if (this.#csv) await this.#succeededCsv?.add(this.#csv.succeeded(fieldsOf(input), row.answers));
      return;
    }
    if (row.state === 'cancelled') this.#counts.cancelled += 1;
    else {
      const reason = failureReason(row);
      this.#counts.failed += 1;
      this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
    }
    await this.#failed.add(failedLine(input, row));
    if (this.#csv) await this.#failedCsv?.add(this.#csv.failed(fieldsOf(input), failureCells(input, row)));
  }

  /** Fields that are wrong and that no provider looked up by. */
  #withWarnings(input: Input): Input {
    if (input.kind !== 'record') return input;
    const { warnings } = this.#checks.record(input.used ?? input.fields);
    return warnings.length > 0 ? { ...input, warnings } : input;
  }

  async close({ part, chunks }: PartRange): Promise<PartManifest> {
    const files = [];
    for (const file of this.#files()) files.push(await file.close());
    return { v: 1, part, chunks, counts: this.#counts, failures: this.#failures, files };
  }

  /** Gives up what is not closed. Throws nothing: what is left of an upload is cleaned up by the bucket's lifecycle. */
  async abort(telemetry: Telemetry, about: { submissionId: string; tenantId: string }): Promise<void> {
    for (const file of this.#files()) {
      try {
        await file.abort();
      } catch (error) {
        telemetry.emit({ name: 'unexpected_error', level: 'warn', ...about, error });
      }
    }
  }

  #files(): ResultFileWriter[] {
    return [this.#succeeded, this.#failed, this.#succeededCsv, this.#failedCsv].filter((file) => file !== undefined);
  }
}

/** A result is only published beside the record that it was made from. */
function requireInput(input: Input, { submissionId }: RecordRow): void {
  if (input.kind === 'record') return;
  throw new UnverifiedInputError(
    `Record ${input.recordNo} of ${submissionId} succeeded, and its source has none there: ${input.defect}. ` +
      'Restore the object, or the version of the reader that fanned it out.',
  );
}

/**
 * Writes the files of one part: the source read again, joined with the rows. The rows are recounted against the ledger on the way,
 * and the ledger is repaired. Nothing appears when a record of the part turns out to be open, or when the lease is lost.
 */
export async function writePart(
  finalizing: Finalizing,
  range: PartRange,
  dialect: CsvDialect | undefined,
): Promise<PartOutcome> {
  const { deps, submission } = finalizing;
  const writer = new PartWriter(finalizing, range.part, {
    columns: dialect && (await columnsOf(finalizing, dialect)),
    checks: await deps.schemas.checksOf(submission.terms),
  });
  try {
    const open = await joinChunks(finalizing, range, dialect, writer);
    if (open.length > 0) return { open };
    await finalizing.lease.confirm();
    return { done: await writer.close(range) };
  } finally {
    const { submissionId, tenantId } = submission;
    await writer.abort(deps.telemetry, { submissionId, tenantId });
  }
}

/** By the providers and their schemas at the time of acceptance. */
async function columnsOf({ deps, submission: { terms } }: Finalizing, dialect: CsvDialect): Promise<CsvColumns> {
  const { responses } = await deps.schemas.of(terms);
  const names = terms.providers ?? Object.keys(responses);
  return new CsvColumns(
    dialect,
    names.map((name) => ({ name, responseSchema: responses[name] })),
    terms.results,
  );
}

/** Writes every record of the part; from the first chunk on in which one is open, only looks for others. */
async function joinChunks(
  finalizing: Finalizing,
  range: PartRange,
  dialect: CsvDialect | undefined,
  writer: PartWriter,
): Promise<OpenChunk[]> {
  const endChunk = range.firstChunk + range.chunks;
  const through = Math.min(endChunk * CHUNK_RECORDS, finalizing.submission.fanOut.records);
  const inputs = new Inputs(finalizing, range.firstChunk, through, dialect);
  const open: OpenChunk[] = [];
  try {
    for (let chunk = range.firstChunk; chunk < endChunk; chunk++) {
      await finalizing.lease.keep();
      const size = Math.min(CHUNK_RECORDS, through - chunk * CHUNK_RECORDS);
      const { finished, open: openOffsets } = await recountChunk(finalizing, chunk, size);
      if (openOffsets.length > 0) open.push({ chunk, openOffsets });
      if (open.length > 0) continue;
      for (const [offset, input] of (await inputs.take(size)).entries()) {
        const row = finished.get(offset);
        if (row) await writer.add(input, row);
      }
    }
    if (open.length === 0 && through % CHUNK_RECORDS !== 0) await inputs.verifyEnd();
    if (through === finalizing.submission.fanOut.records) await lookPastEnd(finalizing, through);
    return open;
  } finally {
    await inputs.close();
  }
}

/** Where the last chunk is full, an outcome past the end of the file is in a chunk that no part has. */
async function lookPastEnd(finalizing: Finalizing, records: number): Promise<void> {
  if (records % CHUNK_RECORDS !== 0) return;
  const chunk = records / CHUNK_RECORDS;
  const stored = await finalizing.deps.ledger.get(finalizing.submission.submissionId, chunk);
  if (stored) reportBeyond(finalizing, chunk, { beyond: finishedOffsets(stored) });
}

/** Reads a chunk's rows, and puts right what its ledger item lacks or has too much. */
async function recountChunk(finalizing: Finalizing, chunk: number, size: number): Promise<Recount> {
  const { deps, submission } = finalizing;
  const { submissionId, tenantId, expiresAtSeconds } = submission;
  const [rows, stored] = await Promise.all([
    deps.records.chunkRows(submissionId, chunk),
    deps.ledger.get(submissionId, chunk),
  ]);
  const found = recount(submission, rows, stored ?? emptyChunk(chunk), size);
  if (found.wrong.length > 0) await deps.ledger.reopen(submissionId, chunk, found.wrong);
  if (found.missing) await deps.ledger.mark(submissionId, chunk, found.missing, expiresAtSeconds);
  if (found.wrong.length > 0 || found.missing) {
    deps.telemetry.emit({
      name: 'ledger_repaired',
      level: 'warn',
      submissionId,
      tenantId,
      recordNo: recordNoAt(chunk, 0),
      count: new Set([...found.wrong, ...offsetsIn(found)]).size,
    });
  }
  reportBeyond(finalizing, chunk, found);
  return found;
}

/** The results are right all the same, since rows make them; the counts that the customer saw before were not. */
function reportBeyond({ deps, submission }: Finalizing, chunk: number, { beyond }: Pick<Recount, 'beyond'>): void {
  const [first] = beyond;
  if (first === undefined) return;
  const { submissionId, tenantId } = submission;
  deps.telemetry.emit({
    name: 'conservation_broken',
    level: 'error',
    submissionId,
    tenantId,
    recordNo: recordNoAt(chunk, first),
    count: beyond.length,
  });
}

const offsetsIn = ({ missing }: Recount): number[] =>
  missing ? [...missing.succeeded, ...missing.cancelled, ...[...missing.failed.values()].flat()] : [];
