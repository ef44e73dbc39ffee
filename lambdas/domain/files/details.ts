import type { IllegalByte } from './bytes.ts';
import { defective, type RowContent } from './read-item.ts';

const NAME_LENGTH = 40;

/** Characters that nobody sees in a sentence: blanks other than the usual one, and what has no width. */
const INVISIBLE = /[\u0085\u00A0\u00AD\u1680\u2000-\u200F\u2028-\u202F\u205F\u2060\u3000\uFEFF]/g;
const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A name from the file (a column, a key), shortened and escaped so that it can stand in a sentence. */
export function quoteName(name: string): string {
  const characters = Array.from(name.slice(0, 2 * NAME_LENGTH));
  const shown = characters.slice(0, NAME_LENGTH).join('');
  return JSON.stringify(shown.length < name.length ? `${shown}…` : shown).replaceAll(INVISIBLE, escaped);
}

/** Whole numbers as people read them: 262,144. */
export const grouped = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');

export const tooLarge = (line: number, sizeBytes: number, maxRecordBytes: number): RowContent =>
  defective(
    'RECORD_TOO_LARGE',
    `The record that begins on line ${line} has ${grouped(sizeBytes)} bytes; at most ${grouped(maxRecordBytes)} are accepted. ` +
      'Shorten it, or check for a quote or bracket that is never closed.',
  );

export function illegalByte(line: number, { at, byte }: IllegalByte): RowContent {
  const where = `The record that begins on line ${line} has`;
  const place = `at its byte ${grouped(at + 1)}`;
  const detail =
    byte === 0
      ? `${where} a NUL (byte 0x00) ${place}. Remove it and submit the record again.`
      : `${where} the byte 0x${byte.toString(16).toUpperCase().padStart(2, '0')} ${place}, which is not UTF-8. Save the file as UTF-8.`;
  return defective('ILLEGAL_CHARACTER', detail);
}
