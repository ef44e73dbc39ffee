import { grouped } from '../files/details.ts';
import type { ReadItem } from '../files/reader.ts';
import type { Submission } from '../model.ts';
import { createMapper } from '../profiles/mapping.ts';
import { normalise } from '../profiles/normalise.ts';
import { fieldsOfSchema, type DeclaredField } from '../profiles/record-fields.ts';
import type { Normaliser } from '../profiles/steps.ts';
import type { RecordInspector } from '../records/inspection.ts';
import type { AcceptedSchemas } from '../submissions/schemas.ts';
import type { Terms } from '../submissions/terms.ts';
import { UnreadableSourceError } from '../source/unreadable-source.ts';

/** Records at the beginning of a file that are looked at before any of them is sent. */
export const EXAMINED_RECORDS = 1_000;
/** With fewer records, what is wrong with each of them says as much. */
const LEAST_RECORDS = 3;
const EXAMPLES = 3;

interface Fault {
  detail: string;
  count: number;
  lines: number[];
  remedy: string | undefined;
}

/** Refuses a file that was read to its end and has no record, or not as many as the customer expects. Throws UnreadableSourceError. */
export function requireExpectedCount(
  { terms, expectedRecords }: Pick<Submission, 'expectedRecords'> & { terms: Pick<Terms, 'mapping'> },
  records: number,
): void {
  if (terms.mapping === undefined) return;
  if (expectedRecords !== undefined && expectedRecords !== records) {
    throw new UnreadableSourceError(
      'COUNT_MISMATCH',
      `The file has ${grouped(records)} records; ${grouped(expectedRecords)} are expected. Check whether it is complete and has its line ends ` +
        '(curl keeps them with --data-binary), or correct expectedRecords.',
    );
  }
  if (records > 0) return;
  throw new UnreadableSourceError(
    'NO_RECORDS',
    'The file has no records. Check whether it is complete and has its line ends (curl keeps them with --data-binary).',
  );
}

/**
 * Refuses a file of whose first records none is valid: one sentence now says more than as many failures later.
 *
 * @throws UnreadableSourceError that names the most frequent rule, examples, and the setting of a profile that helps
 */
export async function requireValidRecord(
  { schemas }: { schemas: AcceptedSchemas },
  { terms }: { terms: Pick<Terms, 'mapping' | 'schemas'> },
  read: readonly ReadItem[],
  header: readonly string[] | undefined,
): Promise<void> {
  // Files that were accepted before there were mappings are worked as they were then.
  if (terms.mapping === undefined) return;
  const items = read.slice(0, EXAMINED_RECORDS);
  if (items.length < LEAST_RECORDS) return;
  const { record: inspect } = await schemas.checksOf(terms);
  const { fields: declared } = fieldsOfSchema((await schemas.of(terms)).record);
  const map = createMapper(terms.mapping);
  const faults = new Map<string, Fault>();
  for (const item of items) {
    const fields = item.kind === 'record' ? (map(item.fields, item.recordNo, header) ?? item.fields) : {};
    const [first] = item.kind === 'record' ? inspect(fields).problems : [];
    if (item.kind === 'record' && first === undefined) return;
    const key = item.kind === 'defect' ? item.defect : (first?.field ?? '');
    const fault = faults.get(key) ?? {
      detail: item.kind === 'defect' ? item.detail : (first?.detail ?? ''),
      count: 0,
      lines: [],
      remedy:
        first?.field === undefined ? undefined : remedyOf(first.field, fields, inspect, declared.get(first.field)),
    };
    faults.set(key, fault);
    fault.count += 1;
    if (fault.lines.length < EXAMPLES) fault.lines.push(item.line);
  }
  const [worst] = [...faults.values()].toSorted((a, b) => b.count - a.count);
  if (worst) throw noValidRecord(items.length, worst);
}

/** The steps that make the wrong field of a record right, as a profile says them; undefined where none does. */
function remedyOf(
  field: string,
  fields: Readonly<Record<string, unknown>>,
  inspect: RecordInspector,
  declared: DeclaredField | undefined,
): string | undefined {
  const { [field]: value, country } = fields;
  if (typeof value !== 'string') return undefined;
  const context = typeof country === 'string' ? { country } : {};
  const steps = declared?.steps
    .map((step): readonly Normaliser[] => (step === 'trim' ? ['trim'] : ['trim', step]))
    .find((tried) => {
      const { problems } = inspect({ ...fields, [field]: normalise(value, tried, context) });
      return problems.every((problem) => problem.field !== field);
    });
  return steps && `A profile with {"normalise":{"${field}":${JSON.stringify(steps)}}} makes such values right.`;
}

function noValidRecord(examined: number, { detail, count, lines, remedy }: Fault): UnreadableSourceError {
  const share = count === examined ? 'all of them' : `${grouped(count)} of them`;
  const where = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`;
  return new UnreadableSourceError(
    'NO_VALID_RECORDS',
    `None of the first ${grouped(examined)} records is valid, so nothing was looked up. For ${share} (for example on ${where}): ` +
      `${detail} ${remedy ?? 'Correct the file, or submit it with a profile that says where its values are.'}`,
    { line: lines[0] },
  );
}
