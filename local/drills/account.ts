import * as v from 'valibot';
import type { SubmissionView } from '../../lambdas/domain/api/schemas.ts';
import { chunkCount } from '../../lambdas/domain/model.ts';
import type { Rig } from './rig.ts';

/** What became of the records of a drill: the table's row. */
export interface DrillReport {
  readonly drill: string;
  readonly state: string;
  readonly records: number;
  /** Records with exactly one line in the results and a row that says the same. */
  readonly accounted: number;
  /** Records that could have succeeded and did not: must be 0. */
  readonly goodFailed: number;
  /** Succeeded records whose line lacks the record that was sent: must be 0. */
  readonly blank: number;
  /** Provider calls beyond one per good record and provider, and the same in percent of those. */
  readonly extraCalls: number;
  readonly extraCallsPercent: number;
  /** Of all calls, those that the provider refused because of its limit, and those that failed. */
  readonly throttledCalls: number;
  readonly failedCalls: number;
  /** Records with two outcomes: two lines in the results, or a row that says something else. */
  readonly doubleOutcomes: number;
  /** Succeeded records that needed more than one attempt. */
  readonly retried: number;
  readonly seconds: number;
  /** What was done to it, in words. */
  readonly disturbance: string;
}

const lineSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    recordNo: v.number(),
    reason: v.optional(v.string()),
    record: v.optional(v.record(v.string(), v.unknown()), {}),
  }),
);
type Line = v.InferOutput<typeof lineSchema>;

/** The only reason for which a generated record may fail. */
const BAD_RECORD = 'invalid_record';

/** Counts provider calls from now on. */
export async function beginCount({ sluice: { providers } }: Rig): Promise<void> {
  for (const name of Object.keys(providers.baseUrls)) await providers.resetCounters(name);
}

/** Compares what the results, the rows and the providers' counters say. */
export async function account(
  rig: Rig,
  { id, state, counts }: SubmissionView,
): Promise<Omit<DrillReport, 'drill' | 'seconds' | 'disturbance'>> {
  const records = counts.total ?? 0;
  const lines = await resultLines(rig, id);
  const rows = await outcomesByRow(rig, id, records);
  let accounted = 0;
  let doubleOutcomes = 0;
  for (let recordNo = 1; recordNo <= records; recordNo++) {
    const told = lines.get(recordNo) ?? [];
    const row = rows.get(recordNo);
    const agrees = row !== undefined && told[0] !== undefined && row.succeeded === (told[0].reason === undefined);
    if (told.length === 1 && agrees) accounted++;
    if (told.length > 1 || (told.length === 1 && !agrees)) doubleOutcomes++;
  }
  const failed = [...lines.values()].flatMap(([line]) => line?.reason ?? []);
  const good = records - failed.filter((reason) => reason === BAD_RECORD).length;
  return {
    state,
    records,
    accounted,
    goodFailed: failed.filter((reason) => reason !== BAD_RECORD).length,
    blank: [...lines.values()]
      .flat()
      .filter(({ reason, record }) => reason === undefined && Object.keys(record).length === 0).length,
    ...(await callsOf(rig, good)),
    doubleOutcomes,
    retried: [...rows.values()].filter(({ succeeded, attempts }) => succeeded && attempts > 1).length,
  };
}

async function resultLines({ client }: Rig, id: string): Promise<Map<number, Line[]>> {
  const { files } = await client.results(id);
  const lines = new Map<number, Line[]>();
  for (const { url } of files.filter(({ format }) => format === 'ndjson')) {
    const response = await fetch(url);
    for (const text of (await response.text()).split('\n').filter(Boolean)) {
      const line = v.parse(lineSchema, text);
      lines.set(line.recordNo, [...(lines.get(line.recordNo) ?? []), line]);
    }
  }
  return lines;
}

async function outcomesByRow({ records }: Rig, id: string, total: number) {
  const outcomes = new Map<number, { succeeded: boolean; attempts: number }>();
  for (let chunk = 0; chunk < chunkCount(total); chunk++) {
    for (const { recordNo, state, attempts } of await records.chunkRows(id, chunk)) {
      outcomes.set(recordNo, { succeeded: state === 'succeeded', attempts });
    }
  }
  return outcomes;
}

type Calls = Pick<DrillReport, 'extraCalls' | 'extraCallsPercent' | 'throttledCalls' | 'failedCalls'>;

async function callsOf({ sluice: { providers } }: Rig, good: number): Promise<Calls> {
  const names = Object.keys(providers.baseUrls);
  const counters = await Promise.all(names.map(async (name) => providers.counters(name)));
  const sum = (kind: 'calls' | 'throttled' | 'failed'): number => counters.reduce((all, each) => all + each[kind], 0);
  const needed = good * names.length;
  const extraCalls = sum('calls') - needed;
  const extraCallsPercent = needed === 0 ? 0 : Math.round((extraCalls / needed) * 10_000) / 100;
  return { extraCalls, extraCallsPercent, throttledCalls: sum('throttled'), failedCalls: sum('failed') };
}
