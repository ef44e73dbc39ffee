import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Columns of generated files: those that the record schema knows, and two that pass through to the results. */
export const COLUMNS = ['record_id', 'name', 'email', 'domain', 'country', 'postal_code', 'segment', 'note'] as const;

const GIVEN = [
  'Ada',
  'Björn',
  'Chloé',
  'Dilan',
  'Emre',
  'Fatou',
  'Giulia',
  'Hiro',
  'Ines',
  'Jakub',
  'Kaja',
  'Łukasz',
] as const;
const FAMILY = [
  'Albers',
  'Bianchi',
  'Ćosić',
  "D'Amato",
  'Eklund',
  'Forsberg',
  'Garrido',
  'Hartmann',
  'Ito',
  'Kovács',
] as const;
const FIRST_WORD = [
  'amber',
  'birch',
  'cobalt',
  'delta',
  'ember',
  'fjord',
  'granite',
  'harbour',
  'indigo',
  'juniper',
] as const;
const SECOND_WORD = [
  'logistics',
  'foods',
  'works',
  'labs',
  'textiles',
  'energy',
  'health',
  'retail',
  'tools',
  'print',
] as const;
const SEGMENTS = ['enterprise', 'mid-market', 'small business', 'public sector'] as const;
const NOTES = [
  'Renewed in spring; asked for invoices in two languages.',
  'Prefers e-mail, no calls before ten. "Always" answers the same day.',
  'Uses the warehouse add-on, wants to add a second site next year.',
  'Met at the trade fair; follow up after the budget round.',
] as const;

/** Postal codes as the country writes them: `#` is a digit, `@` a letter. */
const COUNTRIES = {
  DE: '1####',
  FR: '75###',
  NL: '3### @@',
  GB: 'LS# #@@',
  US: '9####',
  PL: '2#-###',
  SE: '4## ##',
} as const;
const COUNTRY_NAMES = Object.keys(COUNTRIES) as (keyof typeof COUNTRIES)[];
const LETTERS = 'ABCDEFGHJKLMNPRSTUVWXYZ';

/** A small seeded generator (mulberry32): the same seed gives the same file on every machine. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One in so many generated records is bad. */
const BAD_EVERY = 500;

/** The `recordNo`-th record of a generated file, as cells in the order of {@link COLUMNS}. */
export function generateRecord(recordNo: number): string[] {
  const random = seeded(recordNo * 7919);
  const choose = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const country = choose(COUNTRY_NAMES) ?? 'DE';
  const [given, family] = [choose(GIVEN) ?? '', choose(FAMILY) ?? ''];
  const domain = `${choose(FIRST_WORD)}-${choose(SECOND_WORD)}-${recordNo}.example`;
  const bad = recordNo % BAD_EVERY === BAD_EVERY / 2;
  return [
    `C-${String(recordNo).padStart(6, '0')}`,
    `${given} ${family}`,
    `${mailbox(given)}.${mailbox(family)}@${domain}`,
    bad ? `not a host ${recordNo}` : domain,
    country,
    COUNTRIES[country].replaceAll(/[#@]/g, (kind) =>
      kind === '#' ? String(Math.floor(random() * 10)) : (LETTERS[Math.floor(random() * LETTERS.length)] ?? 'A'),
    ),
    choose(SEGMENTS) ?? '',
    choose(NOTES) ?? '',
  ];
}

const mailbox = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('ł', 'l')
    .normalize('NFD')
    .replaceAll(/[^a-z]/g, '');

/** A row of a CSV file (RFC 4180), its line end included. */
export const csvRow = (cells: readonly string[]): string =>
  `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;

/** Writes a file of `records` generated records, row by row. */
export async function writeGeneratedFile(path: string, records: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await pipeline(Readable.from(rows(records)), createWriteStream(path));
}

function* rows(records: number): Generator<string> {
  yield csvRow(COLUMNS);
  for (let recordNo = 1; recordNo <= records; recordNo++) yield csvRow(generateRecord(recordNo));
}
