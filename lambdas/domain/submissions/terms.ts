import type { Submission } from '../model.ts';
import type { Mapping } from '../profiles/mapping.ts';
import type { Reading, ResultOptions } from '../profiles/profile.ts';
import { UnsupportedVersionError } from '../versions.ts';

/**
 * Version of the rules by which files are cut into records: raised with every change by which a file has other records. Since 2, a row that
 * repeats the header or begins with a byte order mark is a defect. Since 3, what is certain about a file is found without being said.
 */
export const READER_VERSION = 3;

/** What a submission was accepted under. Every later step goes by it, whatever has been configured or deployed since. */
export interface Terms {
  maxRecordBytes: number;
  maxRecords: number;
  readerVersion: number;
  /** Most bytes of the text that a file is unpacked to; absent for 0.1.0, which unpacked none. */
  maxFileBytes?: number;
  /** How the file is to be read where it does not say so itself. */
  reading?: Reading;
  /** How the columns of the file become fields of the record schema; absent before reader 3: they are called the same. */
  mapping?: Mapping;
  /** How CSV results are written. */
  results?: ResultOptions;
  /** Names of the providers that each record is asked at; absent for 0.1.0: those that are configured. */
  providers?: readonly string[];
  /** Hash of the record schema and the response schemas, see schemas.ts; absent for 0.1.0. */
  schemas?: string;
}

/** Submissions that version 0.1.0 accepted carry no terms: its defaults. */
export const TERMS_OF_0_1_0: Terms = { maxRecordBytes: 64 * 1024, maxRecords: 1_000_000, readerVersion: 1 };

/** Throws UnsupportedVersionError for a file that only a newer reader cuts as it was accepted. */
export function requireReader({ submissionId, terms }: Pick<Submission, 'submissionId' | 'terms'>): void {
  if (terms.readerVersion <= READER_VERSION) return;
  throw new UnsupportedVersionError(
    `The file of ${submissionId}`,
    `was accepted by reader ${terms.readerVersion}, above ${READER_VERSION}`,
  );
}
