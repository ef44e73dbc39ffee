import { formatCsvLine } from '../../../lambdas/domain/files/csv-writer.ts';
import type { Reading } from '../../../lambdas/domain/profiles/profile.ts';
import { fieldsOf, readWhole, utf8 } from '../../support/files/read-all.ts';

const read = async (text: string, reading?: Reading, columns?: readonly string[], cuts: readonly number[] = []) =>
  readWhole(utf8(text), 'csv', { reading, cuts, ...(columns && { columns }) });
const rowsOf = async (...given: Parameters<typeof read>) =>
  fieldsOf(await read(...given)).map((row) => Object.values(row));
const defectsOf = async (...given: Parameters<typeof read>) =>
  (await read(...given)).items.flatMap((item) =>
    item.kind === 'defect' ? [`${item.line} ${item.defect}: ${item.detail}`] : [],
  );

describe('a file as people have it', () => {
  it('has its header below title lines, whatever quotes they have', async () => {
    const reading = await read('Customers of "Acme"\n"Export" 2026;x\n\nRecord ID;Domain\n1;a.example\n');
    expect(fieldsOf(reading)).toEqual([{ 'Record ID': '1', Domain: 'a.example' }]);
    expect(reading.items[0]).toMatchObject({ recordNo: 1, line: 5 });
    expect(reading.dialect).toMatchObject({ delimiter: ';', headerLine: 4 });
  });

  it('is refused by the line of what looks like its header where the columns are missing', async () => {
    const { rejection } = await read('Customers\n\nid,domain,country\n1,a.example,DE\n');
    expect(rejection).toMatchObject({ code: 'MISSING_REQUIRED_COLUMN', line: 3 });
    expect(rejection?.message).toContain('"id", "domain", "country"');
    expect(rejection?.message).toContain('profile');
  });

  it('is refused where rows as wide as the header stand above it', async () => {
    const { rejection } = await read('a,b\n1,x\nrecord_id,c\n2,y\n');
    expect(rejection).toMatchObject({ code: 'INVALID_HEADER', line: 3 });
    expect(rejection?.message).toContain('reading.headerRow');
    expect(await rowsOf('a,b\n1,x\nrecord_id,c\n2,y\n', { headerRow: 3 })).toEqual([['2', 'y']]);
    expect(await rowsOf('a,b\n1,x\nrecord_id,c\n2,y\n', {}, ['record_id', 'c'])).toEqual([['2', 'y']]);
  });

  it('shows characters that nobody sees in the names that it has', async () => {
    const { rejection } = await read('rec\u200Bord_id,na\u00A0me\n1,x\n');
    expect(rejection?.message).toContain(String.raw`"rec\u200Bord_id", "na\u00A0me"`);
  });

  it('is refused where two columns could be meant', async () => {
    const { rejection } = await read('Record_ID,RECORD_ID,b\n1,2,3\n');
    expect(rejection?.message).toContain('several columns that "record_id" can mean');
  });

  it('has rows without content, which count as blank lines', async () => {
    const reading = await read('record_id,name\n1,a\n,\n , \n"",\n2,b\n');
    expect(reading.items.map(({ recordNo, line }) => [recordNo, line])).toEqual([
      [1, 2],
      [2, 5],
      [3, 6],
    ]);
  });

  it('ends every row with a delimiter', async () => {
    expect(await rowsOf('record_id,name\n1,a,\n2,,\n')).toEqual([
      ['1', 'a'],
      ['2', ''],
    ]);
    // Not in every row: the comma may as well stand in a value that is not quoted.
    expect(await defectsOf('record_id,name,note\n1,a,x\n2,Acme, Inc,\n')).toEqual([
      expect.stringContaining('3 COLUMN_COUNT'),
    ]);
  });

  it('has columns without names at the end, as long as they are empty', async () => {
    expect(await rowsOf('record_id,name,,\n1,a,,\n2,b\n')).toEqual([
      ['1', 'a'],
      ['2', 'b'],
    ]);
    expect(await defectsOf('record_id,name,,\n1,a,,x\n')).toEqual([expect.stringContaining('a value in column 4')]);
    expect(await defectsOf('record_id,name,,\n1,a,\n')).toEqual([expect.stringContaining('COLUMN_COUNT')]);
  });

  it('names the line of its header where rows have other columns', async () => {
    expect(await defectsOf('Title\n\nrecord_id,name\n1,a,b\n2,b\n')).toEqual([
      expect.stringContaining('the header on line 3 has 2'),
    ]);
  });
});

describe('backslash escapes', () => {
  const ESCAPED = 'record_id,note,size\n1,"6\\" pipe, 2\\\\",x\n2,"line\nbreak \\"",y\n3,plain,z\n';
  const ROWS = [
    ['1', '6" pipe, 2\\', 'x'],
    ['2', 'line\nbreak "', 'y'],
    ['3', 'plain', 'z'],
  ];

  it('are recognised where the first rows cannot be read otherwise', async () => {
    expect(await rowsOf(ESCAPED)).toEqual(ROWS);
  });

  it('are the same wherever blocks end', async () => {
    const whole = await read(ESCAPED, { escape: '\\' });
    for (let cut = 1; cut < ESCAPED.length; cut++)
      expect(await read(ESCAPED, { escape: '\\' }, undefined, [cut])).toEqual(whole);
  });

  it('are not assumed where quotes are doubled', async () => {
    expect(await rowsOf('record_id,note\n1,"C:\\"\n2,"a ""b"""\n')).toEqual([
      ['1', 'C:\\'],
      ['2', 'a "b"'],
    ]);
  });

  it('are named with the setting that helps where the first rows do not show them', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => `${index},"a ""b"""\n`).join('');
    expect(await defectsOf(`record_id,note\n${rows}x,"6\\""\ny,"z \\"q\\""\n`)).toEqual(
      [expect.stringMatching(/^302 INVALID_QUOTING.*reading\.escape/)].concat([expect.stringContaining('303')]),
    );
  });
});

describe('what a profile says', () => {
  it('takes another delimiter and quote', async () => {
    expect(await rowsOf("record_id^note\n1^'it''s ^'\n", { delimiter: '^', quote: "'" })).toEqual([['1', "it's ^"]]);
    expect(await rowsOf('record_id,note\n1,6" pipe\n2,"open\n', { quote: '' })).toEqual([
      ['1', '6" pipe'],
      ['2', '"open'],
    ]);
  });

  it('takes the header from a line, or none', async () => {
    expect(await rowsOf('record_id,old\nrecord_id,new\n1,a\n', { headerRow: 2 })).toEqual([['1', 'a']]);
    expect(fieldsOf(await read('1,a\n2,b\n', { headerRow: 0 }, []))).toEqual([
      { column_1: '1', column_2: 'a' },
      { column_1: '2', column_2: 'b' },
    ]);
    expect((await read('record_id\n1\n', { headerRow: 9 })).rejection).toMatchObject({ code: 'INVALID_HEADER' });
  });

  it('leaves out rows at the end, and fills short ones', async () => {
    const text = 'record_id,name\n1,a\n2\nTotal,2,x\n\n* preliminary\n';
    expect(await rowsOf(text, { skipRowsAtEnd: 2, shortRows: 'fill' })).toEqual([
      ['1', 'a'],
      ['2', ''],
    ]);
    expect((await read('record_id,name\n1,a\n2,"open\n', { skipRowsAtEnd: 1 })).rejection).toMatchObject({
      code: 'UNTERMINATED_QUOTE',
    });
  });

  it('looks for the columns that the profile names', async () => {
    expect(await rowsOf('Report\nWeb Site;Nr\nx;7\n', {}, ['web_site'])).toEqual([['x', '7']]);
    const { rejection } = await read('a,b\n1,2\n', { delimiter: ',' }, ['Website', 'Country']);
    expect(rejection?.message).toContain('no columns "Website", "Country"; it has "a", "b"');
  });
});

describe('a list of failed records that comes back', () => {
  const HEADER = ['record_id', 'phone', 'line', 'reason', 'message', 'detail', 'record_no', 'line_2', 'raw'];
  const VALUES = ['+49 30 123', '@name', '-2,610.12', '-5', "'quoted", "'=1", '=1+1', '\t x', ''];

  it('has the columns and values of the file that it was made from, also through a spreadsheet', async () => {
    const rows = VALUES.map((value, index) => [`r${index}`, value, 'L', 'invalid_record', 'm', 'd', index, 2, '']);
    for (const delimiter of [',', ';']) {
      const text = [HEADER, ...rows].map((row) => formatCsvLine(row, { delimiter })).join('');
      const expected = VALUES.map((value, index) => [`r${index}`, value, 'L']);
      expect(await rowsOf(text)).toEqual(expected);
      const asExcel = `\uFEFF${text.replaceAll(/"('[^"]*)"/g, (quoted, cell: string) => (/[,;\t]/.test(cell) ? quoted : cell))}`;
      expect(await rowsOf(asExcel)).toEqual(expected);
    }
  });

  it('keeps apostrophes of a file that is none', async () => {
    expect(await rowsOf("record_id,phone\n1,'+49 30 123\n")).toEqual([['1', "'+49 30 123"]]);
  });
});

describe('lines of JSON', () => {
  const lines = async (text: string, readerVersion = 3) => readWhole(utf8(text), 'ndjson', { readerVersion });

  it('may have a comma behind each record since version 3', async () => {
    expect(fieldsOf(await lines('{"a":1},\n{"a":2} , \n{"a":3}\n'))).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(fieldsOf(await lines('{"a":1},\n', 2))).toEqual([]);
  });

  it('are named where Python has printed them', async () => {
    const { items } = await lines('{\'a\': None}\n{"a": None}\n');
    for (const item of items)
      expect(item).toMatchObject({ defect: 'INVALID_JSON', detail: expect.stringContaining('json.dumps') });
  });
});

test('a file that version 2 accepted is read as version 2 read it', async () => {
  const text = 'Title\nRecord ID,Domain\n1,a\n';
  expect((await readWhole(utf8(text), 'csv', { readerVersion: 2 })).rejection).toMatchObject({
    code: 'MISSING_REQUIRED_COLUMN',
    line: 1,
  });
  const blank = await readWhole(utf8('record_id,name\n,\n'), 'csv', { readerVersion: 2 });
  expect(blank.items).toHaveLength(1);
});
