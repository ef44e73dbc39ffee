import { dataOf, type ProviderAnswers, type RecordRow } from '../model.ts';
import type { FieldProblem } from '../records/validation.ts';
import { reasonOf } from '../reasons.ts';
import type { SourceItem } from '../source/source.ts';
import type { FailureCells } from './columns.ts';
import { failureReason } from './recount.ts';

/** A record of the source, with the fields that were used where they are others; of one that could not be read also the beginning of its text. */
export type Input = SourceItem & {
  raw?: string;
  used?: Readonly<Record<string, unknown>> | undefined;
  warnings?: readonly FieldProblem[] | undefined;
};

/** The values of an input; none where it could not be read. */
export const fieldsOf = (input: Input): Readonly<Record<string, unknown>> =>
  input.kind === 'record' ? input.fields : {};

/** What the customer is told about a record that did not succeed. */
function failureOf(input: Input, row: RecordRow) {
  const reason = failureReason(row);
  return {
    reason,
    message: reasonOf(reason).customer,
    ...(row.detail !== undefined && { detail: row.detail }),
    ...(input.kind === 'defect' && input.raw !== undefined && { raw: input.raw }),
  };
}

/** Characters that many readers of lines take for a line end, beside CR and LF, which JSON escapes anyway. */
const LINE_SEPARATORS = /[\u0085\u2028\u2029]/g;

/** One line of NDJSON, for every reader of lines: the separators of Unicode are escaped. */
const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll(LINE_SEPARATORS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;

/** Line of a succeeded record in the NDJSON results. */
export function succeededLine(input: Input, row: RecordRow): string {
  const { recordNo, line } = input;
  return jsonLine({
    recordNo,
    line,
    record: fieldsOf(input),
    used: input.used,
    warnings: input.warnings,
    ...found(row.answers),
  });
}

/** Line of a record that failed, was dead-lettered or cancelled, in the NDJSON results. */
export function failedLine(input: Input, row: RecordRow): string {
  const { recordNo, line } = input;
  const { reason, message, detail, raw } = failureOf(input, row);
  const about = { recordNo, line, state: row.state, reason, message, detail, attempts: row.attempts };
  const content = input.kind === 'record' ? { record: input.fields, used: input.used } : { raw };
  return jsonLine({ ...about, ...content, ...found(row.answers) });
}

/** The same as cells of the CSV results. */
export const failureCells = (input: Input, row: RecordRow): FailureCells => ({
  ...failureOf(input, row),
  record_no: input.recordNo,
  line: input.line,
});

/** What each provider found, null where it found nothing; how it came to that; and which answers were bought for an earlier record. */
function found(answers: ProviderAnswers): { output?: unknown; match?: unknown; reused?: unknown } {
  const entries = Object.entries(answers);
  if (entries.length === 0) return {};
  const reused = entries.flatMap(([name, answer]) =>
    answer.ageSeconds !== undefined ? [[name, { from: 'cache', ageSeconds: answer.ageSeconds }] as const] : [],
  );
  return {
    output: inKeyOrder(Object.fromEntries(entries.map(([name, answer]) => [name, dataOf(answer) ?? null]))),
    match: inKeyOrder(Object.fromEntries(entries.map(([name, { kind }]) => [name, kind]))),
    ...(reused.length > 0 && { reused: inKeyOrder(Object.fromEntries(reused)) }),
  };
}

/** Stores need not keep the order of keys; a repeated slice must write the same bytes. */
function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inKeyOrder(inner)]));
}
