import { quoteName } from '../../domain/files/details.ts';
import { UnreadableSourceError } from '../../domain/source/unreadable-source.ts';
import { atMost } from '../../domain/prepare/bounds.ts';
import { numberFormats, showGeneral, type ShowNumber } from './number-format.ts';
import { StringTable } from './string-table.ts';
import { damagedWorkbook, parseXml, type XmlHandlers } from './xml.ts';
import type { Member } from './zip.ts';

/** Parts by name, as in the archive. */
export type Parts = ReadonlyMap<string, Member>;

export interface Sheet {
  name: string;
  part: Member;
}

/** What cells refer to. */
export interface Workbook {
  sheet: Sheet;
  strings: StringTable;
  /** By the index of the cell's style. */
  showNumber(style: number): ShowNumber;
}

export const WORKBOOK_PART = 'xl/workbook.xml';
const RELATIONS_PART = 'xl/_rels/workbook.xml.rels';
/** Of the parts that describe the workbook. */
const MAX_PART_BYTES = 32 * 1024 * 1024;

const nothing: XmlHandlers = { open: () => undefined, close: () => undefined, text: () => undefined };

async function readPart(part: Member | undefined, maxBytes: number, handlers: Partial<XmlHandlers>): Promise<void> {
  if (!part) return;
  const blocks = atMost(await part.read(), maxBytes, `The part ${quoteName(part.name)}`);
  for await (const _ of parseXml(blocks, { ...nothing, ...handlers }));
}

/** Reads what describes the sheets. Throws {@link UnreadableSourceError} when the wanted one is not there. */
export async function openWorkbook(
  parts: Parts,
  { sheet: wanted, maxBytes }: { sheet: string | undefined; maxBytes: number },
): Promise<Workbook> {
  const sheets: { name: string; relation: string; hidden: boolean }[] = [];
  let date1904 = false;
  await readPart(parts.get(WORKBOOK_PART), MAX_PART_BYTES, {
    open(name, attributes) {
      if (name === 'workbookPr') date1904 = ['1', 'true'].includes(attributes['date1904'] ?? '');
      if (name !== 'sheet') return;
      const relation = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
      const hidden = ['hidden', 'veryHidden'].includes(attributes['state'] ?? '');
      sheets.push({ name: attributes['name'] ?? '', relation, hidden });
    },
  });
  const relations = await readRelations(parts);
  const worksheets = sheets.flatMap(({ name, relation, hidden }) => {
    const { type, target } = relations.get(relation) ?? {};
    const part = type === 'worksheet' && target !== undefined ? parts.get(target) : undefined;
    return part ? [{ name, part, hidden }] : [];
  });
  const sheet = chooseSheet(worksheets, wanted);
  const partOf = (type: string): Member | undefined =>
    parts.get([...relations.values()].find((relation) => relation.type === type)?.target ?? '');
  return {
    sheet,
    strings: await readStrings(partOf('sharedStrings'), maxBytes),
    showNumber: await readStyles(partOf('styles'), date1904),
  };
}

function chooseSheet<T extends { name: string; hidden: boolean }>(sheets: readonly T[], wanted: string | undefined): T {
  const fold = (name: string): string => name.trim().toLowerCase();
  const found =
    wanted === undefined
      ? (sheets.find(({ hidden }) => !hidden) ?? sheets[0])
      : (sheets.find(({ name }) => name === wanted) ?? sheets.find(({ name }) => fold(name) === fold(wanted)));
  if (found) return found;
  if (wanted === undefined) throw damagedWorkbook('has no sheet with cells');
  const names = sheets.slice(0, 10).map(({ name }) => quoteName(name));
  throw new UnreadableSourceError(
    'SHEET_MISSING',
    `The workbook has no sheet ${quoteName(wanted)}; it has ${names.join(', ')}${sheets.length > 10 ? ' and more' : ''}. Name one of these.`,
  );
}

/** The parts that the workbook refers to by an id; types by the last word of their address. */
async function readRelations(parts: Parts): Promise<Map<string, { type: string; target: string }>> {
  const relations = new Map<string, { type: string; target: string }>();
  await readPart(parts.get(RELATIONS_PART), MAX_PART_BYTES, {
    open(name, { Id = '', Type = '', Target = '' }) {
      if (name !== 'Relationship') return;
      const target = Target.startsWith('/') ? Target.slice(1) : `xl/${Target.replace(/^\.\//, '')}`;
      relations.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), target });
    },
  });
  return relations;
}

async function readStrings(part: Member | undefined, maxBytes: number): Promise<StringTable> {
  const strings = new StringTable();
  const text = new TextCollector();
  await readPart(part, maxBytes, {
    open(name) {
      if (name === 'si') text.begin();
      text.open(name);
    },
    close(name) {
      if (name === 'si') strings.add(text.take());
      text.close(name);
    },
    text: (piece) => text.add(piece),
  });
  return strings;
}

async function readStyles(part: Member | undefined, date1904: boolean): Promise<Workbook['showNumber']> {
  const codes = new Map<number, string>();
  const formatIds: number[] = [];
  let inCells = false;
  await readPart(part, MAX_PART_BYTES, {
    open(name, attributes) {
      if (name === 'numFmt') codes.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? 'General');
      if (name === 'cellXfs') inCells = true;
      if (name === 'xf' && inCells) formatIds.push(Number(attributes['numFmtId'] ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  const formatOf = await numberFormats(codes, { date1904 });
  const formats = formatIds.map(formatOf);
  return (style) => formats[style] ?? showGeneral;
}

/** Control characters and what looks like one of these escapes stand in workbooks as `_x000D_`. */
const ESCAPED = /_x([0-9A-Fa-f]{4})_/g;

/** Collects the text of a string: all of its runs, without the reading aids of East Asian text. */
export class TextCollector {
  #text = '';
  #inText = false;
  #inPhonetic = false;

  begin(): void {
    this.#text = '';
  }

  open(name: string): void {
    if (name === 't') this.#inText = true;
    if (name === 'rPh') this.#inPhonetic = true;
  }

  close(name: string): void {
    if (name === 't') this.#inText = false;
    if (name === 'rPh') this.#inPhonetic = false;
  }

  add(text: string): void {
    if (this.#inText && !this.#inPhonetic) this.#text += text;
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return unescape(text);
  }
}

export const unescape = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(ESCAPED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
