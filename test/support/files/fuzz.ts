import type { Profile } from '../../../lambdas/domain/profiles/profile.ts';
import type { Random } from '../../../lambdas/domain/time.ts';
import { encoded, gzipped, zipped } from '../prepare/files.ts';
import type { TestApi } from '../api/api.ts';
import type { Outcome } from '../pipeline.ts';

/** A file that nobody would write, with a profile that somebody might. */
export interface FuzzFile {
  name: string;
  bytes: Uint8Array;
  profile: Profile;
}

const NAMES = ['a.csv', 'a.tsv', 'a.ndjson', 'a.json', 'a.txt', 'a.xlsx', 'a.csv.gz', 'a'];
const TOKENS = [
  'record_id',
  'domain',
  'Record ID',
  'country',
  ',',
  ',',
  ';',
  '\t',
  '|',
  '"',
  '""',
  "'",
  '\\',
  '\\"',
  '\n',
  '\n',
  '\r\n',
  '\r',
  'acme.example',
  'https://acme.example/',
  'DE',
  'NULL',
  '="01"',
  '',
  ' ',
  '\u00A0',
  '\u200B',
  '\uFEFF',
  '\0',
  'é',
  '😀',
  '\uD800',
  '{',
  '}',
  '[',
  ']',
  ':',
  '{"record_id":"1"}',
  '{"record_id":1,"domain":"a.example"},',
  'null',
  '1e400',
  '__proto__',
  'sep=;',
];
const CUT_AT_MOST = 8;

/** Makes files by a grammar, and by damaging those that are given. */
export function fuzzFile(
  random: Random,
  samples: readonly { name: string; bytes: string | Uint8Array; profile?: Profile }[],
): FuzzFile {
  const pick = <T>(values: readonly T[]): T => {
    const value = values[Math.floor(random() * values.length)];
    if (value === undefined) throw new Error('Nothing to pick from.');
    return value;
  };
  const upTo = (count: number): number => Math.floor(random() * count);
  const soup = (): Uint8Array => Buffer.from(Array.from({ length: upTo(120) }, () => pick(TOKENS)).join(''));
  const damaged = (bytes: Uint8Array): Uint8Array => {
    const copy = Buffer.from(bytes);
    for (let change = upTo(CUT_AT_MOST); change > 0 && copy.length > 0; change--) copy[upTo(copy.length)] = upTo(256);
    return random() < 0.5 ? copy.subarray(0, upTo(copy.length + 1)) : copy;
  };
  const sample = pick(samples);
  const text = random() < 0.4 ? soup() : damaged(Buffer.from(sample.bytes));
  const packed = pick([
    () => text,
    () => text,
    () => text,
    () => damaged(gzipped(text)),
    () => damaged(zipped({ 'a.csv': text })),
    () => zipped({ 'a.csv': text, 'b.csv': text }),
    () => damaged(encoded(Buffer.from(text).toString('utf8'), 'utf-16le', { addBOM: true })),
  ])();
  const profile = random() < 0.5 ? (sample.profile ?? {}) : profileOf(pick, random);
  return { name: random() < 0.5 ? sample.name : pick(NAMES), bytes: packed, profile };
}

function profileOf(pick: <T>(values: readonly T[]) => T, random: Random): Profile {
  const maybe = <T extends object>(part: () => T): T | object => (random() < 0.3 ? part() : {});
  return {
    reading: {
      ...maybe(() => ({ delimiter: pick([',', ';', '\t', '^']) })),
      ...maybe(() => ({ quote: pick(['"', "'", ''] as const) })),
      ...maybe(() => ({ escape: pick(['"', '\\'] as const) })),
      ...maybe(() => ({ headerRow: pick(['found', 0, 1, 2] as const) })),
      ...maybe(() => ({ skipRowsAtEnd: pick([0, 1, 3]) })),
      ...maybe(() => ({ shortRows: pick(['refuse', 'fill'] as const) })),
      ...maybe(() => ({ nullTexts: ['NULL', ''] })),
      ...maybe(() => ({ encoding: pick(['utf-16le', 'windows-1252', 'shift_jis']) })),
    },
    columns: {
      ...maybe(() => ({ record_id: pick([{ rowNumber: true as const }, { position: 1 }, 'record_id']) })),
      ...maybe(() => ({ domain: pick(['Site', { position: 2 }, { constant: 'acme.example' }]) })),
    },
    normalise: {
      ...maybe(() => ({ domain: ['trim' as const, 'host_of_url' as const] })),
      ...maybe(() => ({ postal_code: ['postal_code' as const] })),
    },
    ...maybe(() => ({ duplicates: 'reject_later' as const })),
  };
}

const ENDS = ['complete', 'partially_failed', 'failed', 'rejected'];

/** What is wrong with what became of a file, whatever the file is; undefined where nothing is. */
export function inconsistencyOf({ submission, succeeded, failed }: Outcome): string | undefined {
  const { state, reason, message, counts } = submission;
  if (!ENDS.includes(state)) return `The submission is ${state}.`;
  if (state === 'rejected')
    return typeof reason === 'string' && message?.length > 20 ? undefined : 'No reason is given.';
  const numbers = [...succeeded, ...failed].map(({ recordNo }) => recordNo).toSorted((a, b) => a - b);
  const isWhole = numbers.length === counts.total && numbers.every((recordNo, index) => recordNo === index + 1);
  if (!isWhole) return `Of ${counts.total} records the results have ${numbers.join(', ')}.`;
  if (counts.succeeded !== succeeded.length || counts.failed !== failed.length) return 'Counts and results differ.';
  return failed.some(({ detail = '', reason: why = '' }) => detail === '' && why === 'malformed_row')
    ? 'A row is refused without a detail.'
    : undefined;
}

/**
 * What is wrong with what a preview says of a file, beside what became of it; undefined where nothing is. The test's gateway holds the answers
 * against the OpenAPI document.
 */
export async function previewProblemOf(
  api: TestApi,
  { name, bytes, profile }: FuzzFile,
  { submission }: Outcome,
): Promise<string | undefined> {
  const uploadId = await api.upload(bytes, { fileName: name });
  const proposed = await api.call('POST', '/v1/previews', { body: { uploadId } });
  if (proposed.status !== 200) return `The preview without a profile answers ${proposed.text}.`;
  const { status, text, body } = await api.call('POST', '/v1/previews', { body: { uploadId, profile } });
  if (status !== 200) return `The preview with the profile answers ${text}.`;
  const { refused, valid, invalid } = body.asGiven;
  if (refused?.code !== (submission.state === 'rejected' ? submission.reason : undefined)) {
    return `The preview says ${JSON.stringify(refused)}, and the submission is ${submission.state} ${submission.reason}.`;
  }
  // Records that repeat an identifier are refused when all of the file is known.
  const isCounted = refused === undefined && profile.duplicates === undefined && submission.counts.total < 1_000;
  const { succeeded, failed } = submission.counts;
  return isCounted && (valid !== succeeded || invalid !== failed)
    ? `The preview has ${valid} valid and ${invalid} invalid records, the results ${succeeded} and ${failed}.`
    : undefined;
}
