import { QUOTE, SPACE } from './bytes.ts';
import { quoteName } from './details.ts';
import { defective, type DefectCode, type RowContent, type RowReader } from './read-item.ts';
import { isReservedName } from './reserved-names.ts';

/** Records are flat in the main; DynamoDB, which keeps parts of them, nests 32 levels at most (its documented limit). */
const MAX_DEPTH = 20;

interface Finding {
  defect: DefectCode;
  /** What is wrong, to stand behind "The record that begins on line 3". */
  problem: string;
}

interface Census {
  keys: number;
  /** Whether texts may hold something that only an escape can bring in. */
  escapes: boolean;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the text of one JSON record. Nothing that JSON.parse would silently change or drop gets through. */
export const readJsonRecord: RowReader = (text, line) => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the record; the finding says the same without its content.
    return report({ defect: 'INVALID_JSON', problem: `is not valid JSON. ${invalidJsonRemedy(text)}` }, line);
  }
  if (!isObject(value)) {
    const problem = `is ${nameOf(value)}. Every record must be a JSON object: {"record_id": …}.`;
    return report({ defect: 'NOT_AN_OBJECT', problem }, line);
  }
  const finding = inspect(text, value);
  return finding ? report(finding, line) : { kind: 'record', fields: value };
};

/** The same for a line: a comma behind the record, as where lines were cut from an array, is ignored. */
export const readJsonLine: RowReader = (text, line, quoted) =>
  readJsonRecord(/\}\s*,\s*$/.test(text) ? text.replace(/,\s*$/, '') : text, line, quoted);

const report = ({ defect, problem }: Finding, line: number): RowContent =>
  defective(defect, `The record that begins on line ${line} ${problem}`);

function invalidJsonRemedy(text: string): string {
  if (text.startsWith('\uFEFF'))
    return 'It begins with a byte order mark, which is allowed at the start of the file only.';
  if (/[:[,]\s*-?(?:NaN|Infinity)\b/.test(text))
    return 'JSON has no NaN and no Infinity: leave the value out or use null.';
  if (/^\s*\{\s*'|[:[,]\s*(?:None|True|False)\b/.test(text))
    return 'It is written as Python prints it: write each record by json.dumps.';
  const last = text.trimEnd().at(-1);
  if (last !== '}') return 'It breaks off before its closing brace.';
  return 'Check its quotes, commas and braces.';
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function inspect(text: string, record: Record<string, unknown>): Finding | undefined {
  const census: Census = { keys: 0, escapes: text.includes('\\u') };
  return (
    inspectObject(record, 1, census) ??
    (colonsBehindQuotes(text) > census.keys ? duplicateKey(text) : undefined) ??
    (SUSPICIOUS_NUMBER.test(text) ? unsafeNumber(text) : undefined)
  );
}

function inspectObject(object: Record<string, unknown>, depth: number, census: Census): Finding | undefined {
  for (const key of Object.keys(object)) {
    census.keys += 1;
    if (key === '__proto__' || (depth === 1 && isReservedName(key))) return reservedKey(key);
    const finding = inspectText(key, key, census) ?? inspectValue(object[key], key, depth, census);
    if (finding) return finding;
  }
  return undefined;
}

function inspectValue(value: unknown, key: string, depth: number, census: Census): Finding | undefined {
  if (typeof value === 'string') return inspectText(value, key, census);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return tooDeep(key);
  if (isObject(value)) return inspectObject(value, depth + 1, census);
  if (!Array.isArray(value)) return undefined;
  const elements: unknown[] = value;
  for (const element of elements) {
    const finding = inspectValue(element, key, depth + 1, census);
    if (finding) return finding;
  }
  return undefined;
}

/** Half a surrogate pair would turn into U+FFFD on its way, and a NUL is refused in CSV as well. */
function inspectText(text: string, key: string, census: Census): Finding | undefined {
  if (!census.escapes || (text.isWellFormed() && !text.includes('\0'))) return undefined;
  const problem = `has an escape in ${quoteName(key)} that stands for no character (\\u0000, or half a surrogate pair). Remove it.`;
  return { defect: 'ILLEGAL_CHARACTER', problem };
}

const reservedKey = (key: string): Finding => ({
  defect: 'RESERVED_KEY',
  problem: `has the key ${quoteName(key)}, a name that is reserved in JavaScript. Rename it.`,
});

const tooDeep = (key: string): Finding => ({
  defect: 'NESTED_TOO_DEEPLY',
  problem: `is nested more than ${MAX_DEPTH} levels deep in ${quoteName(key)}. Flatten it.`,
});

/**
 * Colons that follow a quote: every colon between a key and its value, and seldom one inside a text. As many as there
 * are keys means that no key was given twice.
 */
function colonsBehindQuotes(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let before = colon - 1;
    while (text.charCodeAt(before) <= SPACE) before -= 1;
    if (text.charCodeAt(before) === QUOTE) count += 1;
  }
  return count;
}

/** A number that is long or has an exponent: all others survive as they are (15 digits always fit a double). */
const SUSPICIOUS_NUMBER = /[:[,]\s*-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;

/** Texts (a colon behind one makes it a key), numbers, braces and brackets of a valid JSON text. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|(-?\d[-+.\deE]*)|([{}[\]])/g;

function parseText(token: string): string {
  const value: unknown = JSON.parse(token);
  return typeof value === 'string' ? value : token;
}

/** JSON.parse would keep the last value of a key given twice, and lose the others. */
function duplicateKey(text: string): Finding | undefined {
  const open: Set<string>[] = [];
  for (const [, string, colon, , bracket] of text.matchAll(TOKEN)) {
    if (bracket === '{' || bracket === '[') open.push(new Set());
    else if (bracket !== undefined) open.pop();
    if (string === undefined || colon === undefined) continue;
    const key = parseText(string);
    const keys = open.at(-1);
    if (keys?.has(key)) {
      return { defect: 'DUPLICATE_KEY', problem: `has the key ${quoteName(key)} more than once. Keep one of them.` };
    }
    keys?.add(key);
  }
  return undefined;
}

function unsafeNumber(text: string): Finding | undefined {
  let key = '';
  for (const [, string, colon, number] of text.matchAll(TOKEN)) {
    if (string !== undefined && colon !== undefined) key = parseText(string);
    if (number !== undefined && !isExact(number)) {
      const problem = `has a number in ${quoteName(key)} that cannot be kept with all its digits. Write it as text, in quotes.`;
      return { defect: 'UNSAFE_NUMBER', problem };
    }
  }
  return undefined;
}

/** True when the double that a JSON number becomes is written with the same digits, and is no integer beyond 2^53 - 1. */
function isExact(literal: string): boolean {
  const value = Number(literal);
  if (!Number.isFinite(value)) return false;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return false;
  return decimalForm(literal) === decimalForm(String(value));
}

/** Significant digits and exponent, the same for every way to write a number: 1.50, 15e-1 and 1.5 are all `15e-1`. */
function decimalForm(literal: string): string {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  if (length === 0) return '0';
  return `${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`;
}
