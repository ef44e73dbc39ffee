import { createConverter } from '../../../lambdas/adapters/prepare/converter.ts';
import { CHARSETS } from '../../../lambdas/domain/prepare/charsets.ts';
import { wrappingOf } from '../../../lambdas/domain/prepare/detect.ts';
import type { PreparedFrom } from '../../../lambdas/domain/prepare/ports.ts';
import { UnreadableSourceError } from '../../../lambdas/domain/source/unreadable-source.ts';
import type { FileFormat } from '../../../lambdas/domain/files/reader.ts';
import { createMemoryObjects } from '../../support/memory/objects.ts';
import { encoded, gzipped, textRow, withPassword, workbook, zipped } from '../../support/prepare/files.ts';

const CSV = 'record_id,name\n1,Größe 東京 Ж\n2,b\n';

interface Prepared {
  text: string;
  from: PreparedFrom;
  format: FileFormat | undefined;
}

async function prepare(
  file: Uint8Array,
  options: { charset?: string; sheet?: string; maxBytes?: number; pieceBytes?: number } = {},
): Promise<Prepared> {
  const objects = createMemoryObjects({ pieceBytes: options.pieceBytes ?? 1_000 });
  const source = { key: 'uploads/acme/up_1', ...objects.seed('uploads/acme/up_1', file) };
  const wrapping = wrappingOf(file, options.charset);
  if (wrapping === undefined) throw new Error('Nothing to prepare.');
  const { charset, sheet, maxBytes = 10_000_000 } = options;
  const request = { source, wrapping, charset, sheet, maxBytes };
  const { blocks, from, format } = await createConverter(objects).convert(request);
  const pieces: Uint8Array[] = [];
  for await (const block of blocks) pieces.push(Uint8Array.from(block));
  return { text: Buffer.concat(pieces).toString(), from, format };
}

const codeOf = async (prepared: Promise<unknown>): Promise<unknown> =>
  prepared.then(
    () => 'prepared',
    (error: unknown) => (error instanceof UnreadableSourceError ? error.code : error),
  );

describe('gzip', () => {
  it('is unpacked, of several members too', async () => {
    const both = Buffer.concat([gzipped('record_id\n1\n'), gzipped('2\n')]);
    expect(await prepare(both, { pieceBytes: 7 })).toMatchObject({ text: 'record_id\n1\n2\n', from: { kind: 'gzip' } });
  });

  it('may hold text of another encoding', async () => {
    const file = gzipped(encoded(CSV, 'utf-16le', { addBOM: true }));
    expect(await prepare(file)).toMatchObject({ text: CSV, from: { kind: 'gzip', charset: 'utf-16le' } });
  });

  it.each([
    ['breaks off', gzipped(CSV).subarray(0, -9), 'DAMAGED_FILE'],
    ['holds an archive', gzipped(zipped({ 'a.csv': CSV })), 'UNSUPPORTED_CONTAINER'],
    ['grows more than 200 times', gzipped(Buffer.alloc(5_000_000, 'a')), 'DECOMPRESSED_TOO_LARGE'],
    ['is changed', Buffer.concat([gzipped(CSV).subarray(0, 20), gzipped(CSV).subarray(24)]), 'DAMAGED_FILE'],
  ])('is refused when it %s', async (_, file, code) => {
    expect(await codeOf(prepare(file))).toBe(code);
  });

  it('is refused above the limit of bytes', async () => {
    expect(await codeOf(prepare(gzipped(CSV), { maxBytes: 20 }))).toBe('DECOMPRESSED_TOO_LARGE');
  });
});

describe('an archive', () => {
  it('with one file is unpacked, whatever packing programs add', async () => {
    const file = zipped({ '__MACOSX/._list.ndjson': 'x', 'list.ndjson': '{"record_id":"1"}\n', '.DS_Store': 'x' });
    expect(await prepare(file, { pieceBytes: 5 })).toEqual({
      text: '{"record_id":"1"}\n',
      from: { kind: 'zip', member: 'list.ndjson' },
      format: 'ndjson',
    });
  });

  it.each([
    ['with several files', zipped({ 'a.csv': CSV, 'b.csv': CSV }), 'ZIP_MEMBERS'],
    ['without files', zipped({}), 'ZIP_MEMBERS'],
    ['with a password', withPassword(zipped({ 'a.csv': CSV })), 'ENCRYPTED'],
    ['that breaks off', zipped({ 'a.csv': CSV }).subarray(0, -12), 'DAMAGED_FILE'],
    ['of a text document', zipped({ '[Content_Types].xml': '', 'word/document.xml': '' }), 'UNSUPPORTED_CONTAINER'],
    ['of an OpenDocument sheet', zipped({ mimetype: 'x', 'content.xml': '' }), 'UNSUPPORTED_CONTAINER'],
    ['in an archive', zipped({ 'a.zip': zipped({ 'a.csv': CSV }) }), 'UNSUPPORTED_CONTAINER'],
  ])('%s is refused', async (_, file, code) => {
    expect(await codeOf(prepare(file))).toBe(code);
  });

  it('whose file does not have its checksum is refused', async () => {
    const file = Buffer.from(zipped({ 'a.csv': CSV }));
    // CRC-32 in the directory.
    const directory = file.indexOf(Buffer.from([0x50, 0x4b, 1, 2]));
    file.writeUInt32LE(7, directory + 16);
    expect(await codeOf(prepare(file))).toBe('DAMAGED_FILE');
  });
});

describe('text in another character set', () => {
  it.each(['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])('%s is known by its mark', async (charset) => {
    const file = encoded(CSV, charset, { addBOM: true });
    expect(await prepare(file, { pieceBytes: 3 })).toMatchObject({ text: CSV, from: { kind: 'text', charset } });
  });

  it.each([
    ['windows-1252', 'record_id,name\n1,Größe – 5 €\n'],
    ['iso-8859-2', 'record_id,name\n1,Žluťoučký\n'],
    ['shift_jis', 'record_id,name\n1,東京\n'],
    ['gbk', 'record_id,name\n1,北京\n'],
    ['koi8-r', 'record_id,name\n1,Москва\n'],
  ])('%s is decoded where it is declared', async (charset, text) => {
    const prepared = await prepare(encoded(text, charset), { charset, pieceBytes: 1 });
    expect(prepared).toMatchObject({ text, from: { kind: 'text', charset } });
  });

  it('is refused with the line of a byte that the character set does not have', async () => {
    const file = Buffer.concat([Buffer.from('record_id,name\n1,a\n2,'), Buffer.from([0x81]), Buffer.from('\n')]);
    await expect(prepare(file, { charset: 'windows-1252' })).rejects.toMatchObject({
      code: 'CHARSET_MISMATCH',
      line: 3,
    });
  });
});

describe('a workbook', () => {
  const cell = (type: string, value: string, style = 0): string => `<c t="${type}" s="${style}"><v>${value}</v></c>`;

  it('shows the values that its sheet shows', async () => {
    const file = workbook({
      formats: ['0.00', 14, '00000', '#,##0.0', 'dd.mm.yyyy hh:mm', '0%', '@', '[h]:mm', '_(* #,##0_)'],
      strings:
        '<si><t>shared</t></si><si><r><t>rich</t></r><r><t xml:space="preserve"> text </t></r><rPh><t>x</t></rPh></si>',
      sheets: {
        Data: `<row r="1">${cell('s', '0')}${cell('s', '1')}${cell('b', '1')}${cell('b', '0')}${cell('e', '#N/A')}${cell('d', '2024-05-01')}</row>
          <row r="2">${cell('n', '94109')}${cell('n', '4006381333931')}${cell('n', '0.30000000000000004')}${cell('n', '1E-7')}${cell('n', '-5')}</row>
          <row r="3">${cell('n', '2.5', 1)}${cell('n', '45413', 2)}${cell('n', '2134', 3)}${cell('n', '1234567.89', 4)}${cell('n', '45413.75', 5)}${cell('n', '0.12', 6)}${cell('n', '7', 7)}${cell('n', '1.5', 8)}${cell('n', '1234', 9)}</row>
          <row r="4"><c t="str"><f>A1&amp;"x"</f><v>sharedx</v></c><c><f>1+1</f><v>2</v></c><c t="inlineStr"><is><t>a,"b"&#10;c_x000D_</t></is></c></row>`,
      },
    });
    expect((await prepare(file)).text).toBe(
      [
        'shared,"rich text ",TRUE,FALSE,#N/A,2024-05-01,,,',
        '94109,4006381333931,0.3,1e-7,-5,,,,',
        '2.50,2024-05-01,02134,"1,234,567.9",01.05.2024 18:00,12%,7,36:00,"1,234"',
        'sharedx,2,"a,""b""\nc\r",,,,,,',
        '',
      ].join('\n'),
    );
  });

  it('reads the named sheet, else the first that is not hidden', async () => {
    const file = workbook({
      hidden: ['Notes'],
      sheets: { Notes: textRow(1, 'note'), Export: textRow(1, 'record_id'), 'Zweite Tabelle': textRow(1, 'second') },
    });
    expect(await prepare(file)).toMatchObject({
      text: 'record_id\n',
      from: { kind: 'xlsx', sheet: 'Export' },
      format: 'csv',
    });
    expect(await prepare(file, { sheet: 'zweite tabelle ' })).toMatchObject({ text: 'second\n' });
    await expect(prepare(file, { sheet: 'Third' })).rejects.toMatchObject({
      code: 'SHEET_MISSING',
      message: 'The workbook has no sheet "Third"; it has "Notes", "Export", "Zweite Tabelle". Name one of these.',
    });
  });

  it('keeps the numbers of rows and fills short rows up', async () => {
    const sheet = `${textRow(2, 'record_id', 'name', '')}<row r="3"/>${textRow(5, '1')}<row r="7"><c r="B7"><v>2</v></c></row>`;
    expect((await prepare(workbook({ sheets: { A: sheet } }))).text).toBe('\nrecord_id,name\n\n\n1,\n\n,2\n');
  });

  it('counts days from 1904 where it says so', async () => {
    const sheet = `<row r="1"><c s="1"><v>0</v></c><c><v>0</v></c></row>`;
    const file = workbook({ sheets: { A: sheet }, formats: [14], date1904: true });
    expect((await prepare(file)).text).toBe('1904-01-01,0\n');
  });

  it.each([
    ['a formula has no result', '<row r="1"><c><f>A2</f></c></row>', 'FORMULA_WITHOUT_VALUE'],
    ['rows go back', textRow(2, 'a') + textRow(1, 'b'), 'DAMAGED_FILE'],
    ['a shared text is missing', '<row r="1"><c t="s"><v>3</v></c></row>', 'DAMAGED_FILE'],
    ['its XML breaks off', '<row r="1"><c>', 'DAMAGED_FILE'],
    ['a number is none', '<row r="1"><c><v>abc</v></c></row>', 'DAMAGED_FILE'],
    ['a column is beyond the last', '<row r="1"><c r="XFE1"><v>1</v></c></row>', 'DAMAGED_FILE'],
    ['a row is beyond the last', textRow(2_000_000, 'a'), 'DAMAGED_FILE'],
    ['it defines entities', '<row r="1"><c><v>&x;</v></c></row>', 'DAMAGED_FILE'],
  ])('is refused when %s', async (_, sheet, code) => {
    expect(await codeOf(prepare(workbook({ sheets: { A: sheet } })))).toBe(code);
  });

  it('with a text that fills the memory is refused', async () => {
    const sheet = `<row r="1"><c t="str"><v>${Array.from({ length: 900_000 }, (_, index) => index).join(' ')}</v></c></row>`;
    expect(await codeOf(prepare(workbook({ sheets: { A: sheet } }), { pieceBytes: 100_000 }))).toBe('DAMAGED_FILE');
  });
});

it.each(CHARSETS.filter((charset) => charset !== 'utf-8'))('knows how to decode %s', async (charset) => {
  const text = 'record_id\n1\n';
  expect(await prepare(encoded(text, charset), { charset })).toMatchObject({ text });
});
