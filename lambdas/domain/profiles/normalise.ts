import { domainToUnicode } from 'node:url';
import { alpha2OfCountry } from './countries.ts';
import { postalDigits } from './postal-codes.ts';
import type { Normaliser } from './steps.ts';

/** What a step may know of the rest of the record. */
export interface NormaliseContext {
  /** Country of the record, in any spelling that `country_alpha2` knows. */
  country?: string;
}

type Step = (value: string, context: NormaliseContext) => string;

/** White space of any script, and the characters without width that tools leave at the ends of values. */
const INVISIBLE = String.raw`[\s\u0085\u200B-\u200D\u2060\uFEFF]`;
const INVISIBLE_ENDS = new RegExp(`^${INVISIBLE}+|${INVISIBLE}+$`, 'gu');

/** `="00123"`: how a spreadsheet is made to keep a value as text. */
const FORMULA_TEXT = /^="((?:[^"]|"")*)"$/s;
/** `'00123`, `'+49 30`: the text mark of a spreadsheet, before what would otherwise be read as a number or a formula. */
const TEXT_MARK = /^'(?=[0-9=+@\t\r-])/;

function unwrapFormula(value: string): string {
  let text = value;
  for (;;) {
    const inner = FORMULA_TEXT.exec(text)?.[1]?.replaceAll('""', '"') ?? text.replace(TEXT_MARK, '');
    if (inner === text) return text;
    text = inner;
  }
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
/** A host with at least two labels, as people write it: letters and digits of any script. */
const HOST =
  /^(?:[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?\.)+[\p{L}\p{M}\p{N}-]*\p{L}[\p{L}\p{M}\p{N}-]*$/u;

/** The host of a URL or of a bare host with a path, without `www.`, which names a server; any other value as it is. */
function hostOfUrl(value: string): string {
  const url = URL.parse(SCHEME.test(value) ? value : `http://${value}`);
  if (url === null || /\s/.test(value) || (url.username !== '' && !SCHEME.test(value))) return value;
  return hostOr(value, domainToUnicode(url.hostname));
}

const ADDRESS = /^(?:[^<>]*<)?[^\s<>@]+@([^\s<>@]+?)>?$/;

/** The host of an e-mail address, also of one with a name before it; any other value as it is. */
function hostOfEmail(value: string): string {
  const host = ADDRESS.exec(value)?.[1];
  return host === undefined ? value : hostOr(value, host.toLowerCase());
}

function hostOr(value: string, found: string): string {
  let host = found.replace(/\.$/, '');
  while (/^www\.[^.]+\../u.test(host)) host = host.slice('www.'.length);
  return HOST.test(host) ? host : value;
}

/**
 * A postal code as its country writes it: without the `.0` that tools make of numbers, and with the zeros that they drop where the
 * country's codes have a fixed number of digits. At most two zeros are added: what lacks more is no postal code.
 */
function postalCode(value: string, { country }: NormaliseContext): string {
  const text = value.replace(/^(\d+)[.,]0+$/, '$1').toUpperCase();
  const digits = country === undefined ? undefined : postalDigits(alpha2OfCountry(country) ?? country);
  const [, number = '', extension = ''] = /^(\d+)((?:-\d{4})?)$/.exec(text) ?? [];
  if (digits === undefined || number === '' || number.length < digits - 2) return text;
  return number.padStart(digits, '0') + extension;
}

const STEPS: Readonly<Record<Normaliser, Step>> = {
  trim: (value) => value.replaceAll(INVISIBLE_ENDS, ''),
  nfc: (value) => value.normalize('NFC'),
  unwrap_formula: unwrapFormula,
  host_of_url: hostOfUrl,
  host_of_email: hostOfEmail,
  country_alpha2: (value) => alpha2OfCountry(value) ?? value,
  postal_code: postalCode,
  lower: (value) => value.toLowerCase(),
  upper: (value) => value.toUpperCase(),
};

/** Applies the steps in order. Pure; a value that a step does not understand passes through it unchanged. */
export const normalise = (value: string, steps: readonly Normaliser[], context: NormaliseContext = {}): string =>
  steps.reduce((text, step) => STEPS[step](text, context), value);
