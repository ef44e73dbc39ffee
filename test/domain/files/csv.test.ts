import { positionAfter, positionBefore } from '../../../lambdas/domain/files/reader.ts';
import { defectsOf, everyNth, fieldsOf, readFrom, readWhole, utf8 } from '../../support/files/read-all.ts';

const HEADER = 'record_id,name\n';
const read = (text: string | Buffer, maxRecordBytes = 200) =>
  readWhole(typeof text === 'string' ? utf8(text) : text, 'csv', { maxRecordBytes });
const names = async (text: string) => fieldsOf(await read(text)).map(({ name }) => name);
const bytesOf = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? utf8(part) : Buffer.from(part))));

describe('cells of a CSV row', () => {
  it('stay text, with their blanks', async () => {
    const { items } = await read('record_id,a,b,c\n r1 ,007,true,\n');
    expect(items[0]).toMatchObject({ kind: 'record', fields: { record_id: ' r1 ', a: '007', b: 'true', c: '' } });
  });

  it('may be quoted and hold delimiters, doubled quotes and line ends', async () => {
    expect(await names(`${HEADER}r1,"a, ""b""\r\nc"\n"r2",""\nr3,""""\n`)).toEqual(['a, "b"\r\nc', '', '"']);
  });

  it('may hold quotes as text when they do not begin with one', async () => {
    expect(await names(`${HEADER}r1,5" pipe\nr2, "a"\n`)).toEqual(['5" pipe', ' "a"']);
  });

  it('become own properties, whatever their column is called', async () => {
    const [fields] = fieldsOf(await read('record_id,toString,hasOwnProperty\nr1,a,b\n'));
    expect(Object.entries(fields ?? {})).toEqual([
      ['record_id', 'r1'],
      ['toString', 'a'],
      ['hasOwnProperty', 'b'],
    ]);
  });
});

describe('lines of a CSV file', () => {
  it('end with CR, LF or CRLF, mixed at will', async () => {
    const { items } = await read(`${HEADER}r1,a\r\nr2,b\rr3,c\n\r\n\rr4,d`);
    expect(items.map(({ recordNo, line }) => [recordNo, line])).toEqual([
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 7],
    ]);
  });

  it('are counted inside quotes too', async () => {
    const { items } = await read(`"first\ncolumn","record_id","name"\r\nr0,r1,"a\rb\r\nc\nd"\nr0,r2,e\n`);
    expect(items.map(({ line }) => line)).toEqual([3, 7]);
  });

  it('are skipped when they hold white space only', async () => {
    const { items } = await read(`\n${HEADER}\n  \t\nr1,a\n\f\v\nr2,b\n   `);
    expect(items.map(({ recordNo, line }) => [recordNo, line])).toEqual([
      [1, 5],
      [2, 7],
    ]);
  });

  it('are skipped when blank even beyond the record limit', async () => {
    const text = `${HEADER}${' '.repeat(500)}\nr1,a\n${' '.repeat(500)}`;
    const reading = await readWhole(utf8(text), 'csv', { maxRecordBytes: 100, cuts: everyNth(text.length, 64) });
    expect(reading.items.map(({ recordNo, line }) => [recordNo, line])).toEqual([[1, 3]]);
  });

  it('need no line end at the end of the file', async () => {
    expect(await names(`${HEADER}r1,a`)).toEqual(['a']);
    expect(await names(`${HEADER}r1,"a"`)).toEqual(['a']);
  });
});

describe('the place of an item', () => {
  it('is exact in the bytes of the file, byte order mark and long characters counted', async () => {
    const file = bytesOf([0xef, 0xbb, 0xbf], HEADER, 'r1,é😀\r\n', '\r\n', 'r2,b\r\n');
    const { items } = await read(file);
    expect(items.map(({ byteOffset, endByteOffset }) => file.toString('utf8', byteOffset, endByteOffset))).toEqual([
      'r1,é😀\r\n',
      'r2,b\r\n',
    ]);
  });

  it('ends with the line that it is on where no line end follows', async () => {
    expect((await read(`${HEADER}r1,a\nr2,b`)).items.map(({ endLine }) => endLine)).toEqual([3, 3]);
  });

  it('is a position before and a position after it', async () => {
    const { items, dialect } = await read(`${HEADER}r1,"a\nb"\nr2,c\n`);
    const [first, second] = items;
    if (!first || !second || !dialect) throw new Error('Two records were expected.');
    expect(positionAfter(first)).toEqual(positionBefore(second));
    expect(positionBefore(second)).toEqual({ byteOffset: 24, recordNo: 1, line: 4 });
  });
});

describe('a defective CSV row', () => {
  it('says how many cells it has and should have', async () => {
    const { items } = await read(`${HEADER}r1\nr2,b,c\nr3,d\n`);
    expect(items.map((item) => (item.kind === 'defect' ? item.detail : item.fields.record_id))).toEqual([
      expect.stringMatching(/^The row on line 2 has 1 cell; the header has 2\. Add /),
      expect.stringMatching(/^The row on line 3 has 3 cells; the header has 2\. Quote /),
      'r3',
    ]);
  });

  it('with a byte that is not UTF-8 names the byte and its place', async () => {
    const { items } = await read(bytesOf(HEADER, 'r1,\uFFFDCaf', [0xe9], '\nr2,b\n'));
    expect(items[0]).toMatchObject({ reason: 'malformed_row', defect: 'ILLEGAL_CHARACTER' });
    expect(items[0]).toHaveProperty('detail', expect.stringContaining('the byte 0xE9 at its byte 10'));
    expect(items[1]).toMatchObject({ kind: 'record', fields: { record_id: 'r2' } });
  });

  it.each([
    ['an overlong form', [0xc0, 0xaf]],
    ['half a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a character that breaks off', [0xf0, 0x9f]],
    ['a NUL', [0]],
    ['a NUL in quotes', [0x22, 0, 0x22]],
  ])('is one with %s', async (_, bytes) => {
    const reading = await read(bytesOf(HEADER, 'r1,', bytes, '\nr2,b\nr3,', bytes));
    expect(defectsOf(reading)).toEqual([
      { recordNo: 1, line: 2, defect: 'ILLEGAL_CHARACTER' },
      { recordNo: 3, line: 4, defect: 'ILLEGAL_CHARACTER' },
    ]);
  });

  it('is not one with a genuine replacement character', async () => {
    expect(await names(`${HEADER}r1,\uFFFD\n`)).toEqual(['\uFFFD']);
  });

  it('with one quote too many does not swallow the rows behind it', async () => {
    const reading = await read(`${HEADER}r1,"a\nr2,b\nr3,"c"\nr4,d\n`);
    expect(defectsOf(reading)).toEqual([{ recordNo: 1, line: 2, defect: 'INVALID_QUOTING' }]);
    expect(fieldsOf(reading).map(({ name }) => name)).toEqual(['b', 'c', 'd']);
    expect(reading.items[0]).toHaveProperty('detail', expect.stringContaining('column 2'));
  });

  it('with text behind a closing quote ends at its line end', async () => {
    const reading = await read(`${HEADER}r1,"a" b,"\nr2,c\n`);
    expect(defectsOf(reading)).toEqual([{ recordNo: 1, line: 2, defect: 'INVALID_QUOTING' }]);
    expect(fieldsOf(reading)).toEqual([{ record_id: 'r2', name: 'c' }]);
  });

  it('never shows a value of the row', async () => {
    const secret = 'SECRET';
    const text = `${HEADER}${secret}\n${secret},"${secret}"${secret}\n${secret},\0${secret}\n${secret},${secret.repeat(50)}\n`;
    const { items } = await read(text);
    expect(items.map((item) => item.kind)).toEqual(['defect', 'defect', 'defect', 'defect']);
    expect(JSON.stringify(items)).not.toContain(secret);
  });
});

describe('a CSV record beyond the limit', () => {
  it.each([1, 64, 1_000])('is one defect, and the next records are read, in blocks of %i bytes', async (block) => {
    const text = `${HEADER}r1,a\nr2,${'x'.repeat(150)}\nr3,"${'y\n'.repeat(150)}"\nr4,b\n`;
    const reading = await readWhole(utf8(text), 'csv', { maxRecordBytes: 100, cuts: everyNth(text.length, block) });
    expect(defectsOf(reading)).toEqual([
      { recordNo: 2, line: 3, defect: 'RECORD_TOO_LARGE' },
      { recordNo: 3, line: 4, defect: 'RECORD_TOO_LARGE' },
    ]);
    expect(reading.items[1]).toMatchObject({ reason: 'record_too_large' });
    expect(reading.items[1]).toHaveProperty('detail', expect.stringContaining('has 153 bytes; at most 100'));
    expect(reading.items[3]).toMatchObject({ kind: 'record', recordNo: 4, line: 155, fields: { name: 'b' } });
  });

  it('is measured without its line end', async () => {
    const text = `${HEADER}r1,${'x'.repeat(7)}\r\nr2,${'x'.repeat(8)}\r\n`;
    expect(defectsOf(await read(text, 10))).toEqual([{ recordNo: 2, line: 3, defect: 'RECORD_TOO_LARGE' }]);
  });

  it.each([1, 1_000])('is where wrong quotes are forgiven up to, in blocks of %i bytes', async (block) => {
    // The text behind the closing quote is byte 20 of the record, counted from 0.
    const text = `${HEADER}r1,"a\nr2,b\nr3,cd,ef"g\nr4,d\n`;
    const cuts = everyNth(text.length, block);
    const forgiven = await readWhole(utf8(text), 'csv', { maxRecordBytes: 20, cuts });
    expect(forgiven.items.map(({ kind, line }) => [kind, line])).toEqual([
      ['defect', 2],
      ['record', 3],
      ['defect', 4],
      ['record', 5],
    ]);
    const refused = await readWhole(utf8(text), 'csv', { maxRecordBytes: 19, cuts });
    expect(refused.rejection).toMatchObject({ code: 'UNTERMINATED_QUOTE', line: 2 });
    expect(refused.items).toEqual([]);
  });

  it('rejects the file when its quotes turn out to be wrong so late that rows may have been swallowed', async () => {
    const text = `${HEADER}r1,a\nr2,"b\n${'r,x\n'.repeat(100)}r3,"c"\n`;
    const reading = await readWhole(utf8(text), 'csv', { maxRecordBytes: 100, cuts: everyNth(text.length, 64) });
    expect(reading.rejection).toMatchObject({ code: 'UNTERMINATED_QUOTE', line: 3 });
    expect(reading.items).toHaveLength(1);
  });
});

describe('a quote that is never closed', () => {
  it('rejects the file at its end, behind the records before it', async () => {
    const reading = await read(`${HEADER}r1,"a\nb"\nr2,"c\nd","e\nr3,f\n`);
    expect(fieldsOf(reading)).toEqual([{ record_id: 'r1', name: 'a\nb' }]);
    expect(reading.rejection).toMatchObject({ code: 'UNTERMINATED_QUOTE', line: 5 });
    expect(reading.rejection?.message).toContain('column 3 on line 5');
  });
});

it('refuses to read CSV without the dialect of the file', async () => {
  const start = { byteOffset: 0, recordNo: 0, line: 1 };
  await expect(readFrom(utf8('a'), 'csv', start, { maxRecordBytes: 10 })).rejects.toThrow('options.dialect is missing');
});

describe('a CSV file that was joined of two', () => {
  const joined = `${HEADER}r1,a\n\uFEFFrecord_id,name\nr2,b\nrecord_id , name\n\uFEFFr3,c\n`;

  it('has defects where the second header and its mark are, and the records around them', async () => {
    const reading = await read(joined);
    expect(defectsOf(reading)).toEqual([
      { recordNo: 2, line: 3, defect: 'REPEATED_HEADER' },
      { recordNo: 4, line: 5, defect: 'REPEATED_HEADER' },
      { recordNo: 5, line: 6, defect: 'ILLEGAL_CHARACTER' },
    ]);
    expect(fieldsOf(reading).map(({ record_id: id }) => id)).toEqual(['r1', 'r2']);
  });

  it('is read as before when it was accepted by the first version of the reader', async () => {
    const reading = await readWhole(utf8(joined), 'csv', { readerVersion: 1 });
    expect(defectsOf(reading)).toEqual([]);
    expect(fieldsOf(reading)).toHaveLength(5);
  });
});
