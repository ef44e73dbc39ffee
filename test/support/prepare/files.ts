import { gzipSync } from 'node:zlib';
import { strToU8, zipSync, type Zippable } from 'fflate';
import iconv from 'iconv-lite';

/** Files as other programs make them. */
export const gzipped = (text: string | Uint8Array): Uint8Array => gzipSync(text);
export const encoded = (text: string, charset: string, options?: { addBOM?: boolean }): Uint8Array =>
  iconv.encode(text, charset, options);

/** An archive with these members. */
export function zipped(members: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  const files = Object.entries(members).map(([name, body]) => [name, typeof body === 'string' ? strToU8(body) : body]);
  return zipSync(Object.fromEntries(files) as Zippable, { level: 6 });
}

/** Marks every member of an archive as encrypted, in its own header and in the directory. */
export function withPassword(archive: Uint8Array): Uint8Array {
  const bytes = Buffer.from(archive);
  for (const [signature, flags] of [
    [0x04034b50, 6],
    [0x02014b50, 8],
  ] as const) {
    for (let at = 0; at + 4 <= bytes.byteLength; at++) {
      if (bytes.readUInt32LE(at) === signature) bytes.writeUInt16LE(bytes.readUInt16LE(at + flags) | 1, at + flags);
    }
  }
  return bytes;
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export interface WorkbookOptions {
  /** `sheetData` of each sheet, by its name. */
  sheets: Readonly<Record<string, string>>;
  hidden?: readonly string[];
  /** `si` elements. */
  strings?: string;
  /** Format codes of the styles 1, 2, …; a number is the id of a built-in one. */
  formats?: readonly (string | number)[];
  date1904?: boolean;
}

/** A workbook; its parts are listed in the order in which openpyxl writes them, the list of types last. */
export function workbook({ sheets, hidden = [], strings, formats = [], date1904 }: WorkbookOptions): Uint8Array {
  const names = Object.keys(sheets);
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
  const codes = formats.map((format, index) =>
    typeof format === 'number' ? '' : `<numFmt numFmtId="${200 + index}" formatCode="${escape(format)}"/>`,
  );
  const xfs = formats.map((format, index) => `<xf numFmtId="${typeof format === 'number' ? format : 200 + index}"/>`);
  return zipped({
    'xl/workbook.xml': xml(
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><workbookPr${date1904 === true ? ' date1904="1"' : ''}/><sheets>${names
        .map(
          (name, index) =>
            `<sheet name="${escape(name)}" sheetId="${index + 1}"${hidden.includes(name) ? ' state="hidden"' : ''} r:id="rId${index + 1}"/>`,
        )
        .join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': xml(
      `<Relationships>${names.map((_, index) => relation(`rId${index + 1}`, 'worksheet', `/xl/worksheets/sheet${index + 1}.xml`)).join('')}${relation('s', 'styles', 'styles.xml')}${relation('t', 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    ),
    'xl/styles.xml': xml(
      `<styleSheet xmlns="${MAIN}"><numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${xfs.join('')}</cellXfs></styleSheet>`,
    ),
    ...(strings === undefined ? {} : { 'xl/sharedStrings.xml': xml(`<sst xmlns="${MAIN}">${strings}</sst>`) }),
    ...Object.fromEntries(
      names.map((name, index) => [
        `xl/worksheets/sheet${index + 1}.xml`,
        xml(`<worksheet xmlns="${MAIN}"><sheetData>${sheets[name]}</sheetData></worksheet>`),
      ]),
    ),
    '[Content_Types].xml': xml('<Types/>'),
  });
}

/** A row of inline texts. */
export const textRow = (row: number, ...cells: readonly string[]): string =>
  `<row r="${row}">${cells.map((cell) => `<c t="inlineStr"><is><t>${escape(cell)}</t></is></c>`).join('')}</row>`;

const xml = (body: string): string => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${body}`;
const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll('\n', '&#10;');
