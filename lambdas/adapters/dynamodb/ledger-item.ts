import * as v from 'valibot';
import { InvalidDataError } from '../../domain/errors.ts';
import type { LedgerChunk } from '../../domain/model.ts';
import { isReasonCode, REASON_CODES, type ReasonCode } from '../../domain/reasons.ts';
import { numberSet, parseItem, type Item, type Key } from './dynamo.ts';
import { LEDGER_PREFIX } from './submission-item.ts';

/*
 * Attributes of a ledger item, short because every outcome of 250 records rewrites it:
 *   s          offsets that succeeded
 *   c          offsets that were cancelled
 *   f_<reason> offsets that failed for that reason
 *   n          number of records in the chunk, where fixed
 *   b, l       byte offset and line of its first record
 *   k          CRC-32 of its bytes
 * DynamoDB has no empty sets: an empty one is an absent attribute.
 */
const FAILED_PREFIX = 'f_';

export const failedAttribute = (reason: ReasonCode): string => `${FAILED_PREFIX}${reason}`;
export const FAILED_ATTRIBUTES: readonly string[] = REASON_CODES.map(failedAttribute);
export const isFailedAttribute = (attribute: string): boolean => attribute.startsWith(FAILED_PREFIX);
/** Every attribute but the keys and the expiry. */
export const LEDGER_ATTRIBUTES: readonly string[] = ['s', 'c', 'n', 'b', 'l', 'k', ...FAILED_ATTRIBUTES];

/** Chunks are numbered in five digits: 25 million records. Sorting by key is sorting by chunk. */
const CHUNK_DIGITS = 5;
export const LAST_CHUNK = 10 ** CHUNK_DIGITS - 1;
export const chunkDigits = (chunk: number): string => String(chunk).padStart(CHUNK_DIGITS, '0');

export const ledgerKey = (submissionId: string, chunk: number): Key => ({
  submissionId,
  part: `${LEDGER_PREFIX}${chunkDigits(chunk)}`,
});

export const chunkNumberOf = (item: Item): number => Number(String(item['part']).slice(LEDGER_PREFIX.length));

export const isLedgerItem = (item: Item): boolean => String(item['part']).startsWith(LEDGER_PREFIX);

const ledgerSchema = v.object({
  submissionId: v.string(),
  part: v.pipe(v.string(), v.regex(/^ledger#\d{5,}$/)),
  s: numberSet,
  c: numberSet,
  n: v.exactOptional(v.number()),
  b: v.exactOptional(v.number()),
  l: v.exactOptional(v.number()),
  k: v.exactOptional(v.number()),
  expiresAtSeconds: v.number(),
});

function failures(item: Item, what: string): Map<ReasonCode, Set<number>> {
  const failed = new Map<ReasonCode, Set<number>>();
  for (const [attribute, value] of Object.entries(item)) {
    if (!isFailedAttribute(attribute)) continue;
    const reason = attribute.slice(FAILED_PREFIX.length);
    if (!isReasonCode(reason)) {
      throw new InvalidDataError(`The stored ${what} counts under ${reason}, which is no reason code.`);
    }
    failed.set(reason, parseItem(v.set(v.number()), value, `${attribute} of ${what}`));
  }
  return failed;
}

/** Throws InvalidDataError when the item is not a ledger item. */
export function parseLedger(item: Item): { chunk: LedgerChunk; expiresAtSeconds: number } {
  const what = `ledger ${String(item['submissionId'])}/${String(item['part'])}`;
  const { s, c, n, b, l, k, expiresAtSeconds } = parseItem(ledgerSchema, item, what);
  const chunk: LedgerChunk = {
    chunk: chunkNumberOf(item),
    succeeded: s,
    cancelled: c,
    failed: failures(item, what),
  };
  if (n !== undefined) chunk.size = n;
  if (b !== undefined && l !== undefined) chunk.start = { byteOffset: b, line: l, ...(k !== undefined && { crc: k }) };
  return { chunk, expiresAtSeconds };
}
