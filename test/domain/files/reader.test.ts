import { READER_VERSION } from '../../../lambdas/domain/submissions/terms.ts';
import {
  HEAD_BYTES,
  openFile,
  readRecords,
  type CsvDialect,
  type FileFormat,
} from '../../../lambdas/domain/files/reader.ts';
import { blocksOf, everyNth, readWhole, utf8 } from '../../support/files/read-all.ts';

const START = { byteOffset: 0, recordNo: 0, line: 1 };
const dialect: CsvDialect = { delimiter: ',', header: ['record_id', 'name'] };

describe('memory', () => {
  const BLOCKS = 128;
  const MAX_RECORD_BYTES = 256 * 1024;

  /** 8 MiB that are one block over and over, with something before and behind. Answers the highest use of buffers seen. */
  async function peakWhileReading(format: FileFormat, before: string, filler: string, behind: string) {
    const block = Buffer.alloc(64 * 1024, filler);
    const resting = process.memoryUsage().arrayBuffers;
    let peak = 0;
    async function* source() {
      yield utf8(before);
      for (let count = 0; count < BLOCKS; count++) {
        yield block;
        peak = Math.max(peak, process.memoryUsage().arrayBuffers - resting);
      }
      yield utf8(behind);
    }
    let records = 0;
    let end = 'complete';
    try {
      const options = { dialect, maxRecordBytes: MAX_RECORD_BYTES, readerVersion: READER_VERSION };
      for await (const batch of readRecords(source(), format, START, options)) records += batch.length;
    } catch (error) {
      end = error instanceof Error ? error.message : 'unknown';
    }
    return { peak, records, end };
  }

  it.each<[string, FileFormat, string, string, string, number, string]>([
    ['a quote that is never closed', 'csv', 'r1,a\nr2,"', 'x', '\nr3,b\n', 1, 'on line 2 is never closed'],
    ['lines inside a quote that is closed late', 'csv', 'r1,a\nr2,"', 'x\r\n', '"\nr3,b\n', 3, 'complete'],
    ['a line without an end', 'csv', 'r1,a\nr2,', 'x', '\nr3,b\n', 3, 'complete'],
    ['a blank line without an end', 'csv', 'r1,a\n', ' ', '\nr3,b\n', 2, 'complete'],
    ['blank lines', 'csv', 'r1,a\n', `${' '.repeat(63)}\n`, '\nr3,b\n', 2, 'complete'],
    ['a long NDJSON line', 'ndjson', '{"a":1}\n{"a":"', 'x', '"}\n{"a":3}', 3, 'complete'],
    ['a long text in an array', 'json', '{"a":1},{"a":"', 'x', '"},{"a":3}]', 3, 'complete'],
    ['brackets that are never closed', 'json', '{"a":1},', '[', '{"a":3}]', 1, 'is never closed'],
    ['blanks in an array', 'json', '{"a":1},', ' ', '{"a":3}]', 2, 'complete'],
  ])('stays bounded by block and record limit with %s', async (_, format, before, filler, behind, records, end) => {
    const reading = await peakWhileReading(format, before, filler, behind);
    expect(reading.records).toBe(records);
    expect(reading.end).toContain(end);
    expect(reading.peak).toBeLessThan(2 * 1024 * 1024);
  });
});

describe('readRecords', () => {
  it('yields batches of few records however large the blocks of its source are', async () => {
    const file = utf8('r,1234\n'.repeat(100_000));
    let records = 0;
    for await (const batch of readRecords(blocksOf(file), 'csv', START, {
      dialect,
      maxRecordBytes: 100,
      readerVersion: READER_VERSION,
    })) {
      expect(batch.length).toBeLessThanOrEqual(HEAD_BYTES / 7 + 1);
      records += batch.length;
    }
    expect(records).toBe(100_000);
  });

  it('yields no empty batch', async () => {
    const file = utf8('r1,a\nr2,b\n');
    for await (const batch of readRecords(blocksOf(file, 0, everyNth(file.length, 1)), 'csv', START, {
      dialect,
      maxRecordBytes: 100,
      readerVersion: READER_VERSION,
    })) {
      expect(batch).toHaveLength(1);
    }
  });

  it('closes its source when the caller stops early', async () => {
    let closed = false;
    async function* source() {
      try {
        for (;;) yield utf8('r1,a\n');
      } finally {
        closed = true;
      }
    }
    for await (const batch of readRecords(source(), 'csv', START, {
      dialect,
      maxRecordBytes: 100,
      readerVersion: READER_VERSION,
    })) {
      expect(batch).toHaveLength(1);
      break;
    }
    expect(closed).toBe(true);
  });

  it('lets an error of the source through', async () => {
    async function* source() {
      yield utf8('r1,a\n');
      throw new Error('connection reset');
    }
    const read = async () => {
      for await (const batch of readRecords(source(), 'csv', START, {
        dialect,
        maxRecordBytes: 100,
        readerVersion: READER_VERSION,
      })) {
        expect(batch).toHaveLength(1);
      }
    };
    await expect(read()).rejects.toThrow('connection reset');
  });

  it('reads nothing more of a file that it rejects', async () => {
    async function* source() {
      yield utf8('{"a":1},,');
      throw new Error('The source was read on.');
    }
    const read = async () => {
      for await (const batch of readRecords(source(), 'json', START, {
        maxRecordBytes: 100,
        readerVersion: READER_VERSION,
      })) {
        expect(batch).toHaveLength(1);
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'INVALID_ARRAY', retryable: false, name: 'FileRejectedError' });
  });

  it('does not rely on a block after it was taken', async () => {
    const block = Buffer.alloc(3);
    const parts = ['r1,', 'a"b', 'c\nr', '2,d', 'e\nx'];
    async function* source() {
      for (const part of parts) {
        block.write(part);
        yield block;
      }
    }
    const names = [];
    for await (const batch of readRecords(source(), 'csv', START, {
      dialect,
      maxRecordBytes: 100,
      readerVersion: READER_VERSION,
    })) {
      names.push(...batch.map((item) => (item.kind === 'record' ? item.fields.name : item.defect)));
    }
    expect(names).toEqual(['a"bc', 'de', 'COLUMN_COUNT']);
  });
});

describe('openFile', () => {
  it('needs no more of a file than its head', () => {
    const rows = 'r1,a\n'.repeat(HEAD_BYTES);
    const file = utf8(`record_id,name\n${rows}`);
    const opened = openFile(file.subarray(0, HEAD_BYTES), 'csv', {
      fileBytes: file.length,
      readerVersion: READER_VERSION,
    });
    expect(opened).toEqual({ start: { byteOffset: 15, recordNo: 0, line: 2 }, dialect });
  });

  it('looks for the identifier that it is told', () => {
    const file = utf8('record_id,sku;name\nr1,a;b\n');
    const named = (idField: string) =>
      openFile(file, 'csv', { fileBytes: file.length, columns: [idField], readerVersion: READER_VERSION }).dialect;
    expect(named('name')).toEqual({ delimiter: ';', header: ['record_id,sku', 'name'] });
    expect(named('record_id')).toEqual({ delimiter: ',', header: ['record_id', 'sku;name'] });
  });

  it('accepts a file that is a header only', async () => {
    const reading = await readWhole(utf8('record_id,name\r\n'), 'csv');
    expect(reading).toEqual({ items: [], dialect });
  });
});
