import * as v from 'valibot';
import { chunkOf, RECORD_STATES, type RecordKey, type RecordRow, type RowState } from '../../domain/model.ts';
import { isReasonCode, type ReasonCode } from '../../domain/reasons.ts';
import { openPicklist } from '../../domain/versions.ts';
import { loadAnswers, storeAnswers } from './answers.ts';
import { parseItem, type Item, type Key } from './dynamo.ts';
import { itemBytes } from './item-size.ts';
import { chunkDigits } from './ledger-item.ts';

/*
 * Attributes of a records row. Names count in an item's size and every record pays for its row, so they are short; a row
 * with two answers of some two hundred bytes stays within one write unit (1 KB).
 *
 *   chunkKey  partition key: submission id # chunk     st   state
 *   recordNo  sort key                                 rs   reason
 *   at        attempts                                 dt   detail
 *   gn        generation                               ri   record id
 *   rd        redrives, absent = 0                     wo   waiting on
 *   fe        first enqueued at, ms                    wu   waiting until, ms
 *   up        updated at, ms                           ar   receive count of the last start alone
 *   an        answers, see answers.ts, absent = none   rn   resends
 *   ns        not ready since, ms                    wt   token of a write that was to find the row unchanged
 *   expiresAtSeconds
 * Attributes that are not known here were written by a newer version, and stay.
 */

const ROW_STATES = RECORD_STATES.filter((state) => state !== 'pending');
const isRowState = (state: string): state is RowState => ROW_STATES.some((known) => known === state);

export const chunkKey = (submissionId: string, chunk: number): string => `${submissionId}#${chunkDigits(chunk)}`;

export const recordKey = ({ submissionId, recordNo }: RecordKey): Key => ({
  chunkKey: chunkKey(submissionId, chunkOf(recordNo)),
  recordNo,
});

const present = (attribute: string, value: unknown): Item => (value === undefined ? {} : { [attribute]: value });

/** @param token - Tells this write from another one that stores the same. */
export function recordItem(row: RecordRow, token?: string): Item {
  const item: Item = {
    ...recordKey(row),
    st: row.state,
    at: row.attempts,
    gn: row.generation,
    fe: row.firstEnqueuedAtMs,
    up: row.updatedAtMs,
    expiresAtSeconds: row.expiresAtSeconds,
    ...present('rs', row.reason),
    ...present('dt', row.detail),
    ...present('rd', row.redrives === 0 ? undefined : row.redrives),
    ...present('ri', row.recordId),
    ...present('wo', row.waitingOn),
    ...present('wu', row.waitingUntilMs),
    ...present('ns', row.notReadySinceMs),
    ...present('ar', row.isolatedReceives),
    ...present('rn', row.resends),
    ...present('wt', token),
  };
  if (Object.keys(row.answers).length === 0) return { ...row.others, ...item };
  return { ...row.others, ...item, an: storeAnswers(row.answers, itemBytes({ ...item, an: '' })) };
}

const rowMembers = {
  chunkKey: v.pipe(v.string(), v.regex(/^.+#\d{5,}$/)),
  recordNo: v.pipe(v.number(), v.integer(), v.minValue(1)),
  st: openPicklist(ROW_STATES),
  at: v.number(),
  gn: v.number(),
  fe: v.number(),
  up: v.number(),
  expiresAtSeconds: v.number(),
  an: v.optional(v.union([v.string(), v.instance(Uint8Array)])),
  rd: v.optional(v.number(), 0),
  rs: v.optional(v.custom<ReasonCode>(isReasonCode, 'a reason code is required')),
  dt: v.optional(v.string()),
  ri: v.optional(v.string()),
  wo: v.optional(v.string()),
  wu: v.optional(v.number()),
  ns: v.optional(v.number()),
  ar: v.optional(v.number()),
  rn: v.optional(v.number()),
  wt: v.optional(v.string()),
};
const rowSchema = v.object(rowMembers);
const isKnown = (attribute: string): boolean => Object.hasOwn(rowMembers, attribute);

/** Throws InvalidDataError when the item is not a row. */
export function parseRecord(item: Item): RecordRow {
  const what = `row ${String(item['chunkKey'])}/${String(item['recordNo'])}`;
  const stored = parseItem(rowSchema, item, what);
  const row: RecordRow = {
    submissionId: stored.chunkKey.slice(0, stored.chunkKey.lastIndexOf('#')),
    recordNo: stored.recordNo,
    // A record in a state that is not known here waits: whoever gets its message works it.
    ...(isRowState(stored.st) ? { state: stored.st } : { state: 'deferred', storedState: stored.st }),
    attempts: stored.at,
    generation: stored.gn,
    redrives: stored.rd,
    answers: stored.an === undefined ? {} : loadAnswers(stored.an, what),
    firstEnqueuedAtMs: stored.fe,
    updatedAtMs: stored.up,
    expiresAtSeconds: stored.expiresAtSeconds,
  };
  if (stored.rs !== undefined) row.reason = stored.rs;
  if (stored.dt !== undefined) row.detail = stored.dt;
  if (stored.ri !== undefined) row.recordId = stored.ri;
  if (stored.wo !== undefined) row.waitingOn = stored.wo;
  if (stored.wu !== undefined) row.waitingUntilMs = stored.wu;
  if (stored.ns !== undefined) row.notReadySinceMs = stored.ns;
  if (stored.ar !== undefined) row.isolatedReceives = stored.ar;
  if (stored.rn !== undefined) row.resends = stored.rn;
  const others = Object.entries(item).filter(([attribute]) => !isKnown(attribute));
  if (others.length > 0) row.others = Object.fromEntries(others);
  return row;
}
