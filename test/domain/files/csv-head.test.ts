import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';
import { FileRejectedError, openFile, type OpenedFile } from '../../../lambdas/domain/files/reader.ts';
import { fieldsOf, readWhole, utf8 } from '../../support/files/read-all.ts';

const open = (text: string | Buffer, fileBytes?: number): OpenedFile => {
  const head = typeof text === 'string' ? utf8(text) : text;
  return openFile(head, 'csv', { fileBytes: fileBytes ?? head.length, readerVersion: READER_VERSION });
};

function rejectionOf(text: string | Buffer, fileBytes?: number): FileRejectedError {
  try {
    open(text, fileBytes);
  } catch (error) {
    if (error instanceof FileRejectedError) return error;
    throw error;
  }
  throw new Error('The file was not rejected.');
}

describe('the delimiter of a CSV file', () => {
  it.each([
    [',', 'record_id,name,note'],
    [';', 'record_id;name;note'],
    ['\t', 'record_id\tname\tnote'],
    ['|', 'record_id|name|note'],
  ])('%j is recognised', (delimiter, header) => {
    expect(open(`${header}\n`).dialect).toEqual({ delimiter, header: ['record_id', 'name', 'note'] });
  });

  it('is the one that shows the identifier, even where another divides into more columns', () => {
    expect(open('name, full;record_id;a,b,c,d\n').dialect).toEqual({
      delimiter: ';',
      header: ['name, full', 'record_id', 'a,b,c,d'],
    });
  });

  it('is the one with the most columns where several show the identifier', () => {
    expect(open('"x,y",record_id,"a;b"\n').dialect?.header).toEqual(['x,y', 'record_id', 'a;b']);
  });

  it('is the comma for a single column', async () => {
    expect(open('record_id\n').dialect?.delimiter).toBe(',');
    expect(fieldsOf(await readWhole(utf8('record_id\nr1\n\nr2\n'), 'csv'))).toEqual([
      { record_id: 'r1' },
      { record_id: 'r2' },
    ]);
  });

  it('may be named by the first line', async () => {
    const reading = await readWhole(utf8('sep=|\r\nrecord_id|a,b\r\nr1|1,5\r\n'), 'csv');
    expect(fieldsOf(reading)).toEqual([{ record_id: 'r1', 'a,b': '1,5' }]);
    expect(reading.items[0]?.line).toBe(3);
  });
});

describe('the header of a CSV file', () => {
  it('has its names trimmed and unquoted', () => {
    expect(open('\uFEFF"record_id", name ," a ""b"""\n').dialect?.header).toEqual(['record_id', 'name', 'a "b"']);
  });

  it('may have its record start anywhere behind it', () => {
    expect(open('\n\r\nrecord_id,"two\nlines"\r\nr1,a').start).toEqual({ byteOffset: 26, recordNo: 0, line: 5 });
    expect(open('record_id,name').start).toEqual({ byteOffset: 14, recordNo: 0, line: 2 });
  });

  it('must fit into the head', () => {
    expect(rejectionOf(`record_id,${'x'.repeat(100)}`, 1_000)).toMatchObject({ code: 'HEADER_TOO_LARGE', line: 1 });
    expect(rejectionOf('record_id,name\r', 1_000)).toMatchObject({ code: 'HEADER_TOO_LARGE' });
  });

  it.each([
    ['', 'EMPTY_FILE', undefined, 'empty'],
    ['\uFEFF', 'EMPTY_FILE', undefined, 'empty'],
    [' \r\n\t\n', 'EMPTY_FILE', undefined, 'empty'],
    ['sep=;\n', 'EMPTY_FILE', undefined, 'empty'],
    ['id,name\nr1,a\n', 'MISSING_REQUIRED_COLUMN', 1, '"record_id"; it has "id", "name"'],
    ['\nRecordNo,b,c,d,e,f,g\n', 'MISSING_REQUIRED_COLUMN', 2, '"RecordNo", "b", "c", "d", "e" and 2 more'],
    ['record_id:name\n', 'MISSING_REQUIRED_COLUMN', 1, 'comma, semicolon, tab or vertical bar'],
    ['record_id,name, name \n', 'DUPLICATE_HEADER', 1, 'Columns 2 and 3'],
    ['record_id,record_id\n', 'DUPLICATE_HEADER', 1, '"record_id"'],
    ['record_id,name,,x\n', 'EMPTY_HEADER', 1, 'Column 3'],
    ['record_id," ",x\n', 'EMPTY_HEADER', 1, 'Column 2'],
    ['record_id,constructor\n', 'RESERVED_HEADER', 1, '"constructor"'],
    ['record_id, prototype\n', 'RESERVED_HEADER', 1, '"prototype"'],
    ['record_id,"__proto__"\n', 'RESERVED_HEADER', 1, '"__proto__"'],
    ['"record_id"x,name\n', 'INVALID_HEADER', 1, 'closing quote'],
    ['"record_id,name\nr1,a\n', 'UNTERMINATED_QUOTE', 1, 'never closed'],
    ['record_id,na\0me\n', 'UNSUPPORTED_ENCODING', 1, 'UTF-8'],
    ['{"record_id":"r1"}\n', 'FORMAT_MISMATCH', 1, 'NDJSON'],
    [' [{"record_id":"r1"}]\n', 'FORMAT_MISMATCH', 1, 'JSON array'],
    ['<!DOCTYPE html>\n', 'FORMAT_MISMATCH', 1, 'HTML'],
  ])('is refused in %j: %s', (text, code, line, mentions) => {
    const rejection = rejectionOf(text);
    expect(rejection).toMatchObject({ code, line });
    expect(rejection.message).toContain(mentions);
  });

  it('is refused when it is in another encoding than UTF-8', () => {
    expect(rejectionOf(Buffer.from('record_id,prénom\n', 'latin1'))).toMatchObject({
      code: 'UNSUPPORTED_ENCODING',
      line: 1,
    });
  });

  it('may be refused in short words however long its names are', () => {
    const name = '名'.repeat(500);
    const { message } = rejectionOf(Array.from({ length: 9 }, (_, index) => `${name}${index}`).join(','));
    expect(message.length).toBeLessThan(500);
  });
});
