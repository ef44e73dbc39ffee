import * as v from 'valibot';
import type { CsvDialect } from '../files/reader.ts';
import type { Mapping } from './mapping.ts';
import { UnsupportedVersionError } from '../versions.ts';
import { NORMALISERS } from './steps.ts';
import type { Reading, ResultOptions } from './profile.ts';

/* What was accepted is kept as it is: its rules were checked when it came in, and a newer version may have added members. */

export const storedReadingSchema: v.GenericSchema<unknown, Reading> = v.object({
  charset: v.exactOptional(v.string()),
  sheet: v.exactOptional(v.string()),
  delimiter: v.exactOptional(v.string()),
  quote: v.exactOptional(v.picklist(['"', "'", ''])),
  escape: v.exactOptional(v.picklist(['"', '\\'])),
  headerRow: v.exactOptional(v.union([v.literal('found'), v.number()])),
  skipRowsAtEnd: v.exactOptional(v.number()),
  shortRows: v.exactOptional(v.picklist(['refuse', 'fill'])),
});

export const storedResultsSchema: v.GenericSchema<unknown, ResultOptions> = v.object({
  bom: v.exactOptional(v.boolean()),
  guard: v.exactOptional(v.boolean()),
});

const fieldSchema = v.object({
  type: v.exactOptional(v.picklist(['number', 'integer', 'boolean'])),
  numbers: v.exactOptional(v.literal(true)),
  from: v.exactOptional(
    v.union([
      v.string(),
      v.object({ position: v.number() }),
      v.object({ constant: v.string() }),
      v.object({ rowNumber: v.literal(true) }),
    ]),
  ),
  steps: v.exactOptional(v.array(v.picklist(NORMALISERS))),
});

export const storedMappingSchema: v.GenericSchema<unknown, Mapping> = v.object({
  idField: v.string(),
  fields: v.record(v.string(), fieldSchema),
  nullTexts: v.exactOptional(v.array(v.string())),
  duplicates: v.exactOptional(v.literal('reject_later')),
});

export const storedDialectSchema: v.GenericSchema<unknown, CsvDialect> = v.looseObject({
  delimiter: v.string(),
  header: v.array(v.string()),
  quote: v.exactOptional(v.string()),
  escape: v.exactOptional(v.picklist(['"', '\\'])),
  surplus: v.exactOptional(v.number()),
  failureColumns: v.exactOptional(v.number()),
  headerLine: v.exactOptional(v.number()),
});

const stepsSchema = v.object({
  terms: v.object({
    mapping: v.object({ fields: v.record(v.string(), v.object({ steps: v.optional(v.array(v.string()), []) })) }),
  }),
});

/** Throws UnsupportedVersionError for the head of a submission whose mapping has a step that is not known here: without it, other values would be used. */
export function requireKnownSteps(what: string, head: unknown): void {
  const parsed = v.safeParse(stepsSchema, head);
  if (!parsed.success) return;
  const steps = Object.values(parsed.output.terms.mapping.fields).flatMap((field) => field.steps);
  const unknown = steps.find((step) => !NORMALISERS.some((known) => known === step));
  if (unknown !== undefined) throw new UnsupportedVersionError(what, `has an unknown step: ${unknown}`);
}
