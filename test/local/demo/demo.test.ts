import { describe, expect, test } from '@jest/globals';
import { COLUMNS, csvRow, generateRecord } from '../../../local/demo/generate.ts';
import { duration, progressLine, RateMeter } from '../../../cli/sluice/progress.ts';
import { parseOptions, textOption, wholeNumber } from '../../../local/options.ts';
import type { SubmissionView } from '../../../lambdas/domain/api/schemas.ts';

const submission = (counts: Partial<SubmissionView['counts']>): SubmissionView => ({
  id: 'sub_1',
  state: 'processing',
  lane: 'small',
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: '2025-01-01T00:00:00.000Z',
  counts: { total: 200, pending: 0, succeeded: 0, failed: 0, cancelled: 0, ...counts },
  failures: {},
  expiresAt: '2025-01-02T00:00:00.000Z',
  links: { self: '', records: '', results: '' },
});

describe('the progress', () => {
  test('says how much is done, how fast, and how long it will still take', () => {
    const line = progressLine(submission({ succeeded: 95, failed: 5 }), 20);
    expect(line).toBe(
      `${'█'.repeat(15)}${'░'.repeat(15)}  50 %  100/200, 20 records/s, 5 s left, 5 failed  processing`,
    );
  });

  test('is never complete before the last record, and then has nothing left', () => {
    expect(progressLine(submission({ succeeded: 199 }), 1)).toContain(
      `${'█'.repeat(29)}░  99 %  199/200, 1 records/s, 1 s left`,
    );
    expect(progressLine(submission({ succeeded: 200 }), 1)).toContain(
      `${'█'.repeat(30)} 100 %  200/200, 1 records/s  `,
    );
  });

  test('does not guess while the file is still being read', () => {
    expect(progressLine(submission({ total: null, succeeded: 3 }), 1)).toBe(
      'processing: 3 records finished, still counting, 1 records/s',
    );
  });

  test('of a file without records is complete', () => {
    expect(progressLine(submission({ total: 0 }), 0)).toContain('100 %  0/0');
  });

  test('has the rate of the last seconds, not of the whole run', () => {
    const meter = new RateMeter();
    expect(meter.add(0, 0)).toBe(0);
    expect(meter.add(1000, 1000)).toBe(1000);
    expect(meter.add(1000, 6500)).toBeCloseTo(0, 5);
    expect(meter.add(1050, 7000)).toBeCloseTo(50 / 6, 5);
  });

  test.each([
    [0.2, '1 s'],
    [59, '59 s'],
    [61, '1 min 1 s'],
  ])('%d seconds are %s', (seconds, words) => {
    expect(duration(seconds)).toBe(words);
  });
});

describe('generated records', () => {
  test('are the same every time, and differ from each other', () => {
    expect(generateRecord(17)).toEqual(generateRecord(17));
    const records = Array.from({ length: 2000 }, (_, index) => generateRecord(index + 1));
    expect(new Set(records.map(([id]) => id)).size).toBe(2000);
    expect(new Set(records.map(([, , , domain]) => domain)).size).toBe(2000);
    expect(records.every(({ length }) => length === COLUMNS.length)).toBe(true);
  });

  test('are bad once in five hundred', () => {
    const bad = Array.from({ length: 1000 }, (_, index) => generateRecord(index + 1)).filter(
      ([, , , domain]) => domain?.includes('.') === false,
    );
    expect(bad.map(([id]) => id)).toEqual(['C-000250', 'C-000750']);
  });

  test('are quoted where CSV needs it', () => {
    expect(csvRow(['a', 'b,c', 'd"e', 'f\ng'])).toBe('a,"b,c","d""e","f\ng"\n');
  });
});

describe('the command line', () => {
  const parse = (...args: string[]) =>
    parseOptions(
      args,
      { file: { type: 'string' }, json: { type: 'boolean' }, records: { type: 'string' } },
      'Usage: …',
    );

  test('gives values by name', () => {
    const values = parse('--file', 'a.csv', '--json');
    expect([textOption(values, 'file'), values['json'], textOption(values, 'records')]).toEqual([
      'a.csv',
      true,
      undefined,
    ]);
  });

  test.each([[['--fiel', 'a']], [['--file']], [['a.csv']]])('%j is refused with the usage', (args) => {
    expect(() => parse(...args)).toThrow('Usage: …');
  });

  test.each(['0', '1.5', 'many', '11'])('%s is no number from 1 to 10', (text) => {
    expect(() => wholeNumber(parse('--records', text), 'records', 1, 10)).toThrow(
      `--records must be a whole number from 1 to 10; it was ${text}.`,
    );
  });
});
