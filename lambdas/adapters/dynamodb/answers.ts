import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import * as v from 'valibot';
import { InvalidDataError } from '../../domain/errors.ts';
import { answersSchema } from '../../domain/queues/messages.ts';
import type { ProviderAnswers } from '../../domain/model.ts';

/** Below this many bytes compressing is not worth the processor's time. */
const COMPRESS_FROM_BYTES = 300;
/** DynamoDB's largest item; a longer text was not written by us. */
const MAX_ANSWERS_BYTES = 4 * 1024 * 1024;
/** One write of up to this size costs one unit, https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html */
const WRITE_UNIT_BYTES = 1024;

/** A row's answers as stored: JSON text, or the same compressed. */
export type StoredAnswers = string | Uint8Array;

/**
 * JSON of the answers; compressed only where that saves a write unit, because text can be read in the console.
 *
 * @param otherBytes - Size of everything else in the item.
 */
export function storeAnswers(answers: ProviderAnswers, otherBytes: number): StoredAnswers {
  const text = JSON.stringify(answers);
  const textBytes = Buffer.byteLength(text);
  if (textBytes < COMPRESS_FROM_BYTES || otherBytes + textBytes <= WRITE_UNIT_BYTES) return text;
  const compressed = brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      // Quality 5 is the highest that costs well under a millisecond for what fits into a few units.
      [constants.BROTLI_PARAM_QUALITY]: 5,
    },
  });
  const units = (bytes: number): number => Math.ceil((otherBytes + bytes) / WRITE_UNIT_BYTES);
  return units(compressed.byteLength) < units(textBytes) ? compressed : text;
}

const answersText = v.pipe(v.string(), v.parseJson(), answersSchema);

/** Throws {@link InvalidDataError} when this is not what {@link storeAnswers} made. */
export function loadAnswers(stored: StoredAnswers, what: string): ProviderAnswers {
  const text = typeof stored === 'string' ? stored : decompress(stored, what);
  const parsed = v.safeParse(answersText, text);
  if (parsed.success) return parsed.output;
  throw new InvalidDataError(
    `The answers of ${what} are not valid at ${v.getDotPath(parsed.issues[0]) ?? 'their root'}.`,
  );
}

function decompress(stored: Uint8Array, what: string): string {
  try {
    return brotliDecompressSync(stored, { maxOutputLength: MAX_ANSWERS_BYTES }).toString('utf8');
  } catch (cause) {
    throw new InvalidDataError(`The answers of ${what} cannot be decompressed.`, { cause });
  }
}
