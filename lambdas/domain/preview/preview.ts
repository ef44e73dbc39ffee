import { FileRejectedError, type FileFormat } from '../files/reader.ts';
import { requireExpectedCount, requireValidRecord } from '../fan-out/early-stop.ts';
import type { PreparedFrom } from '../prepare/ports.ts';
import { charsetOf } from '../prepare/charsets.ts';
import { resolveProfile, type Profile } from '../profiles/profile.ts';
import type { RecordInspector } from '../records/inspection.ts';
import type { AcceptedSchemas } from '../submissions/schemas.ts';
import { UnreadableSourceError, type UnreadableCode } from '../source/unreadable-source.ts';
import type { Question } from './columns.ts';
import { examine, type Examination } from './examine.ts';
import { propose, type Suggestion } from './propose.ts';
import { findTable } from './reading.ts';
import { guessCharset, isText, readSample, type SampleDeps, type SampleRequest } from './sample.ts';
import { columnsOf, readTable, type Table } from './table.ts';

export interface PreviewDeps extends SampleDeps {
  schemas: AcceptedSchemas;
  /** Fields that each provider looks up by. */
  lookups: Readonly<Record<string, readonly string[]>>;
  /** Of the providers whose calls have a price. */
  pricesPerCall?: Readonly<Record<string, number>>;
  maxRecordBytes: number;
}

export interface PreviewRequest extends Omit<SampleRequest, 'charset' | 'sheet'> {
  profile: Profile;
  /** As the submission would say it. */
  charset?: string | undefined;
}

/** Why a file would be refused as a whole. */
export interface Refusal {
  code: UnreadableCode;
  detail: string;
  line?: number;
}

/** What would become of the first records under one profile. */
export interface Forecast extends Partial<Omit<Examination, 'looked'>> {
  refused?: Refusal;
}

export interface Preview {
  format: FileFormat;
  from?: PreparedFrom;
  delimiter?: string;
  headerLine?: number;
  columns: string[];
  /** With the profile of the request. */
  asGiven: Forecast;
  /** With the profile that is proposed; absent where nothing is. */
  asProposed?: Forecast & { profile: Profile };
  suggestions: Suggestion[];
  questions: Question[];
  /** Records of the whole file: counted where all of them were read, or by the size of those that were. */
  records?: { count: number; isCounted: boolean };
  /** Calls of each provider for them. */
  calls?: Record<string, number>;
  /** What those cost; absent where no call has a price. */
  cost?: number;
}

/**
 * Looks at the beginning of a file: what it is, what would become of its records, and which profile would make more of them right. Nobody
 * is called and nothing is stored.
 *
 * @throws what {@link readSample} throws for the store and its time
 */
export async function previewFile(deps: PreviewDeps, request: PreviewRequest): Promise<Preview> {
  const { schemas } = deps;
  const { record: inspect } = await schemas.checksOf({});
  const questions: Question[] = [];
  let given = request.profile;
  let opened = await open(deps, request, given);
  if ('unopened' in opened) return opened.unopened;
  const asGiven = await forecast(deps, opened.sample, given, inspect);
  const suggestions: Suggestion[] = [];
  const declared = request.charset ?? given.reading?.encoding;
  if (declared === undefined && !isText(opened.sample)) {
    const charset = guessCharset(opened.sample);
    const encoding = {
      detail: 'The text is not UTF-8. In which character set was it saved? Name it as reading.encoding.',
    };
    if (charset === undefined) {
      return { ...shapeOf(opened.sample), asGiven, suggestions, questions: [encoding] };
    }
    questions.push({
      detail: `The text is not UTF-8; it looks like ${charset}. Are letters with accents right in the records below? If not, name its character set as reading.encoding.`,
    });
    const part: Profile = { reading: { encoding: charset } };
    suggestions.push({ detail: `The text is read as ${charset}.`, profile: part });
    given = { ...given, reading: { ...given.reading, encoding: charset } };
    opened = await open(deps, request, given);
    if ('unopened' in opened) return { ...opened.unopened, asGiven, suggestions, questions };
  }
  const { sample } = opened;
  const input = {
    sample,
    given,
    schema: schemas.recordSchema,
    lookups: [...new Set(Object.values(deps.lookups).flat())],
    inspect,
    maxRecordBytes: deps.maxRecordBytes,
  };
  const found = await findTable(sample, {
    profile: resolveProfile(given, input.schema),
    maxRecordBytes: deps.maxRecordBytes,
  });
  if ('problem' in found) return { ...shapeOf(sample), asGiven, suggestions, questions };
  const proposal = await propose(input, found).catch(asRefusal);
  if ('code' in proposal) return { ...shapeOf(sample, found.table), asGiven, suggestions, questions };
  const { table } = proposal;
  const { looked, ...examination } = examine(table, resolveProfile(proposal.profile, input.schema), inspect);
  const refused = await refusalOf(deps, table, proposal.profile);
  const all = [...suggestions, ...proposal.suggestions];
  return {
    ...shapeOf(sample, table),
    asGiven,
    ...(all.length > 0 && {
      asProposed: { profile: proposal.profile, ...examination, ...(refused && { refused }) },
    }),
    suggestions: all,
    questions: [...questions, ...otherSheet(sample, given, examination.valid), ...proposal.questions],
    ...estimateOf(deps, sample, request, table, looked),
  };
}

type Opened = { sample: Awaited<ReturnType<typeof readSample>> };

async function open(
  deps: PreviewDeps,
  { profile: _profile, charset, ...request }: PreviewRequest,
  { reading }: Profile,
): Promise<Opened | { unopened: Preview }> {
  const { encoding, sheet } = reading ?? {};
  const known = charset ?? (encoding === undefined ? undefined : charsetOf(encoding));
  try {
    return { sample: await readSample(deps, { ...request, charset: known, sheet }) };
  } catch (error) {
    if (!(error instanceof UnreadableSourceError)) throw error;
    const refused = asRefusal(error);
    const format = request.formatOf(new Uint8Array());
    return { unopened: { format, columns: [], asGiven: { refused }, suggestions: [], questions: [] } };
  }
}

/** A refusal as customers see it. Throws on what is none. */
function asRefusal(error: unknown): Refusal {
  if (!(error instanceof FileRejectedError || error instanceof UnreadableSourceError)) throw error;
  const { code, message: detail, line } = error;
  return { code, detail, ...(line !== undefined && { line }) };
}

const shapeOf = (
  { format, from }: Opened['sample'],
  table?: Table,
): Pick<Preview, 'format' | 'from' | 'delimiter' | 'headerLine' | 'columns'> => ({
  format,
  ...(from && { from }),
  ...(table?.dialect && { delimiter: table.dialect.delimiter, headerLine: table.dialect.headerLine ?? 1 }),
  columns: table ? columnsOf(table) : [],
});

/** What a submission with this profile would meet, as fan-out decides it. */
async function forecast(
  deps: PreviewDeps,
  sample: Opened['sample'],
  profile: Profile,
  inspect: RecordInspector,
): Promise<Forecast> {
  const resolved = resolveProfile(profile, deps.schemas.recordSchema);
  try {
    const table = await readTable(sample, { profile: resolved, maxRecordBytes: deps.maxRecordBytes });
    const { looked: _looked, ...examination } = examine(table, resolved, inspect);
    const refused = await refusalOf(deps, table, profile);
    return { ...examination, ...(refused && { refused }) };
  } catch (error) {
    return { refused: asRefusal(error) };
  }
}

async function refusalOf(deps: PreviewDeps, table: Table, profile: Profile): Promise<Refusal | undefined> {
  const { mapping } = resolveProfile(profile, deps.schemas.recordSchema);
  const terms = { mapping };
  try {
    // It is met before anything is sent.
    if (table.problem) throw table.problem;
    if (table.ended) requireExpectedCount({ terms }, table.items.length);
    await requireValidRecord(deps, { terms }, table.items, table.dialect?.header);
    return undefined;
  } catch (error) {
    return asRefusal(error);
  }
}

/** The first sheet of a workbook may be a note about the others. */
function otherSheet({ from }: Opened['sample'], { reading }: Profile, valid: number): Question[] {
  if (from?.sheet === undefined || reading?.sheet !== undefined || valid > 0) return [];
  const detail = `No row of the sheet ${JSON.stringify(from.sheet)} is a record. Are they on another one? Name it as reading.sheet.`;
  return [{ detail }];
}

/** Records and calls of the whole file, as those are that were looked at. */
function estimateOf(
  { lookups, pricesPerCall = {} }: PreviewDeps,
  { from }: Opened['sample'],
  { source }: PreviewRequest,
  { items, ended, bytes }: Table,
  looked: readonly Readonly<Record<string, unknown>>[],
): Pick<Preview, 'records' | 'calls' | 'cost'> {
  // How much an unread rest unpacks to is not known.
  if (items.length === 0 || (!ended && from !== undefined && from.kind !== 'text')) return {};
  const count = ended ? items.length : Math.round((items.length * source.sizeBytes) / bytes);
  const scale = count / items.length;
  const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
  const callsFor = (names: readonly string[]): number =>
    Math.round(looked.filter((fields) => names.every((name) => isPresent(fields[name]))).length * scale);
  const calls = Object.entries(lookups).map(([provider, names]): [string, number] => [provider, callsFor(names)]);
  const cost = calls.reduce((sum, [provider, made]) => sum + made * (pricesPerCall[provider] ?? 0), 0);
  return {
    records: { count, isCounted: ended },
    calls: Object.fromEntries(calls),
    ...(Object.keys(pricesPerCall).length > 0 && { cost: Math.round(cost * 100) / 100 }),
  };
}
