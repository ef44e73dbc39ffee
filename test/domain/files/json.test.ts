import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';
import { FileRejectedError, openFile, type FileFormat } from '../../../lambdas/domain/files/reader.ts';
import { defectsOf, everyNth, fieldsOf, readWhole, utf8 } from '../../support/files/read-all.ts';

const ndjson = (text: string, maxRecordBytes = 200) => readWhole(utf8(text), 'ndjson', { maxRecordBytes });
const json = (text: string, maxRecordBytes = 200) => readWhole(utf8(text), 'json', { maxRecordBytes });

function rejectionOf(text: string, format: FileFormat, fileBytes?: number): FileRejectedError {
  const head = utf8(text);
  try {
    openFile(head, format, { fileBytes: fileBytes ?? head.length, readerVersion: READER_VERSION });
  } catch (error) {
    if (error instanceof FileRejectedError) return error;
    throw error;
  }
  throw new Error('The file was not rejected.');
}

describe('an NDJSON file', () => {
  it('has one record per line, whatever ends the lines', async () => {
    const { items } = await ndjson('\uFEFF{"record_id":"r1"}\r\n\r\n {"record_id":"r2"} \r{"record_id":"é😀"}');
    expect(items.map((item) => [item.recordNo, item.line, item.kind === 'record' && item.fields.record_id])).toEqual([
      [1, 1, 'r1'],
      [2, 3, 'r2'],
      [3, 4, 'é😀'],
    ]);
  });

  it('goes on behind defective lines', async () => {
    const reading = await ndjson('{"record_id":"r1"\n{"record_id":"r2"}\n[1]\nnull\n{"a":1}x\n{"record_id":"r6"}\n');
    expect(defectsOf(reading)).toEqual([
      { recordNo: 1, line: 1, defect: 'INVALID_JSON' },
      { recordNo: 3, line: 3, defect: 'NOT_AN_OBJECT' },
      { recordNo: 4, line: 4, defect: 'NOT_AN_OBJECT' },
      { recordNo: 5, line: 5, defect: 'INVALID_JSON' },
    ]);
    expect(fieldsOf(reading)).toEqual([{ record_id: 'r2' }, { record_id: 'r6' }]);
  });

  it.each([3, 64, 10_000])('skips a line beyond the limit in blocks of %i bytes', async (block) => {
    const text = `{"a":1}\n{"a":"${'x'.repeat(300)}"}\n{"a":3}\n`;
    const reading = await readWhole(utf8(text), 'ndjson', { maxRecordBytes: 100, cuts: everyNth(text.length, block) });
    expect(defectsOf(reading)).toEqual([{ recordNo: 2, line: 2, defect: 'RECORD_TOO_LARGE' }]);
    expect(fieldsOf(reading)).toEqual([{ a: 1 }, { a: 3 }]);
  });

  it('has a defect where a byte is not UTF-8 or NUL', async () => {
    const file = Buffer.concat([utf8('{"a":"'), Buffer.from([0xff]), utf8('"}\n{"a":"\0"}\n{"a":1}')]);
    const reading = await readWhole(file, 'ndjson');
    expect(defectsOf(reading).map(({ defect }) => defect)).toEqual(['ILLEGAL_CHARACTER', 'ILLEGAL_CHARACTER']);
    expect(fieldsOf(reading)).toEqual([{ a: 1 }]);
  });

  it.each([
    ['', 'EMPTY_FILE', 'empty'],
    ['\n \r\n', 'EMPTY_FILE', 'empty'],
    ['\n[\n{"a":1}\n]\n', 'FORMAT_MISMATCH', 'JSON array'],
    ['{\n  "a": 1\n}\n', 'FORMAT_MISMATCH', 'several lines'],
    ['{ "a": 1,\r\n  "b": [\r\n 2 ] }\r\n', 'FORMAT_MISMATCH', 'several lines'],
    ['{"n":9007199254740993,\n"b":1}', 'FORMAT_MISMATCH', 'several lines'],
    ['record_id,name\nr1,a\n', 'FORMAT_MISMATCH', 'CSV'],
    ['"record_id";"name"\nr1;a\n', 'FORMAT_MISMATCH', 'CSV'],
    ['<?xml version="1.0"?>', 'FORMAT_MISMATCH', 'XML'],
  ])('is refused as a whole in %j: %s', (text, code, mentions) => {
    const rejection = rejectionOf(text, 'ndjson');
    expect(rejection.code).toBe(code);
    expect(rejection.message).toContain(mentions);
  });

  it('is refused when its first object is spread over more lines than the head holds', () => {
    expect(rejectionOf(`{\n "a": "${'x'.repeat(50)}`, 'ndjson', 1_000).code).toBe('FORMAT_MISMATCH');
  });

  it('is refused when nothing but blanks is in its head', () => {
    expect(rejectionOf(' '.repeat(20), 'ndjson', 1_000)).toMatchObject({ code: 'EMPTY_FILE' });
    expect(rejectionOf(' '.repeat(20), 'ndjson', 1_000).message).toContain('first 20 bytes');
  });

  it('is not refused because its first row breaks off', () => {
    for (const text of [
      '{"a":1}x\n{"a":2}\n',
      '{"a":\n{"a":2}\n',
      '{"a":1\n',
      '{"a":1,\n\n{"a":2',
      '{"a"\nx\n',
      '{"a":',
    ]) {
      expect(
        openFile(utf8(text), 'ndjson', { fileBytes: text.length, readerVersion: READER_VERSION }).start.byteOffset,
      ).toBe(0);
    }
  });
});

describe('a JSON array', () => {
  it('is read element by element, wherever they stand', async () => {
    const { items } = await json('\uFEFF\n [ {"a":1},{"a":"x, ]}\\""}\r\n,\r\n{\r"a":\n[{}, 3]}\n]\n\n');
    expect(items.map((item) => [item.line, item.endLine, item.kind === 'record' && item.fields.a])).toEqual([
      [2, 2, 1],
      [2, 2, 'x, ]}"'],
      [4, 6, [{}, 3]],
    ]);
  });

  it('may be empty', async () => {
    expect(await json(' [ ] ')).toEqual({ items: [] });
  });

  it('goes on behind an element that is no record', async () => {
    const reading = await json('[1, "a,]", null, [[{}]], {"a" 1}, {"a":1,"a":2}, nonsense, {"a":3}]');
    expect(defectsOf(reading).map(({ defect }) => defect)).toEqual([
      'NOT_AN_OBJECT',
      'NOT_AN_OBJECT',
      'NOT_AN_OBJECT',
      'NOT_AN_OBJECT',
      'INVALID_JSON',
      'DUPLICATE_KEY',
      'INVALID_JSON',
    ]);
    expect(fieldsOf(reading)).toEqual([{ a: 3 }]);
  });

  it('keeps lines apart from line ends that JSON forbids inside a text', async () => {
    const reading = await json('[{"a":"x\r\ny\rz\nz"},\n{"a":2}]');
    expect(defectsOf(reading)).toEqual([{ recordNo: 1, line: 1, defect: 'INVALID_JSON' }]);
    expect(reading.items[1]?.line).toBe(5);
  });

  it('counts a line end between a closing brace and a line feed apart', async () => {
    expect((await json('[{\r}\n,{\r\n}\r\n,{}]')).items.map(({ line }) => line)).toEqual([1, 3, 5]);
  });

  it.each([3, 64, 10_000])('skips an element beyond the limit in blocks of %i bytes', async (block) => {
    const text = `[{"a":1},{"a":"${'x\\"]'.repeat(100)}"},\n{"a":3}]`;
    const reading = await readWhole(utf8(text), 'json', { maxRecordBytes: 100, cuts: everyNth(text.length, block) });
    expect(defectsOf(reading)).toEqual([{ recordNo: 2, line: 1, defect: 'RECORD_TOO_LARGE' }]);
    expect(fieldsOf(reading)).toEqual([{ a: 1 }, { a: 3 }]);
  });

  it('has a defect where a byte is not UTF-8 or NUL', async () => {
    const file = Buffer.concat([utf8('[{"a":"'), Buffer.from([0xff]), utf8('"},{"a":"\0"},\0,{"a":1}]')]);
    const reading = await readWhole(file, 'json');
    expect(defectsOf(reading).map(({ defect }) => defect)).toEqual(Array(3).fill('ILLEGAL_CHARACTER'));
    expect(reading.items[1]).toHaveProperty('detail', expect.stringContaining('NUL (byte 0x00) at its byte 7'));
    expect(fieldsOf(reading)).toEqual([{ a: 1 }]);
  });

  it('tolerates a missing comma, since nothing is lost by it', async () => {
    expect(fieldsOf(await json('[{"a":1} {"a":2}\n{"a":3}]'))).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
  });

  it.each([
    ['[{"a":1},\n', 'TRUNCATED_ARRAY', 2, 'before the closing bracket', 1],
    ['[{"a":1},\n\n{"a":2', 'TRUNCATED_ARRAY', 3, 'the record that begins on line 3', 1],
    ['[{"a":1},\n{"a":"2},\n{"a":3}]', 'TRUNCATED_ARRAY', 2, 'the record that begins on line 2', 1],
    ['[', 'TRUNCATED_ARRAY', 1, 'before the closing bracket', 0],
    ['[{"a":1},]', 'INVALID_ARRAY', 1, 'a comma, brace or bracket', 1],
    ['[{"a":1},\n,{"a":2}]', 'INVALID_ARRAY', 2, 'a comma, brace or bracket', 1],
    ['[,]', 'INVALID_ARRAY', 1, 'a comma, brace or bracket', 0],
    ['[{"a":1}}]', 'INVALID_ARRAY', 1, 'a comma, brace or bracket', 1],
    ['[{"a":1}]\n[{"a":2}]', 'INVALID_ARRAY', 2, 'follows the end', 1],
  ])('is rejected behind its readable records in %j: %s', async (text, code, line, mentions, records) => {
    const { items, rejection } = await json(text);
    expect(rejection).toMatchObject({ code, line });
    expect(rejection?.message).toContain(mentions);
    expect(items).toHaveLength(records);
  });

  it.each([
    ['', 'EMPTY_FILE', 'empty'],
    ['{"a":1}\n{"a":2}\n', 'FORMAT_MISMATCH', 'ndjson'],
    ['record_id,name\nr1,a\n', 'FORMAT_MISMATCH', 'CSV'],
    ['\n<html>', 'FORMAT_MISMATCH', 'HTML'],
    ['"text"', 'FORMAT_MISMATCH', 'opening bracket'],
  ])('is refused as a whole in %j: %s', (text, code, mentions) => {
    const rejection = rejectionOf(text, 'json');
    expect(rejection.code).toBe(code);
    expect(rejection.message).toContain(mentions);
  });
});
