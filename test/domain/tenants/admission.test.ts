import {
  admit,
  countRecords,
  estimateRecords,
  type AdmissionInput,
} from '../../../lambdas/domain/tenants/admission.ts';
import type { Backlog, OpenWork } from '../../../lambdas/domain/tenants/ports.ts';
import { START_MS } from '../../support/memory/index.ts';

const work = (...records: number[]): OpenWork[] =>
  records.map((count, index) => ({ submissionId: `sub_${index}`, records: count }));
const backlogOf = (small: number, bulk: number, asOfMs = START_MS): Backlog => ({
  asOfMs,
  openRecords: { small, bulk },
  openSubmissions: 1,
  troubledAtMs: 0,
});
const input = (overrides: Partial<AdmissionInput> = {}): AdmissionInput => ({
  open: [],
  backlog: undefined,
  records: 100,
  limits: { maxOpenRecordsPerTenant: 1_000, maxOpenSubmissionsPerTenant: 3, maxOpenRecords: 5_000 },
  pacePerSecond: 10,
  nowMs: START_MS,
  ...overrides,
});

describe('admission', () => {
  test.each([
    ['nothing is open', {}],
    ['it fits to the last record', { open: work(500, 400) }],
    ['everybody together fits to the last record', { backlog: backlogOf(400, 4_500) }],
    ['it is larger than the limit of the tenant, but alone', { records: 1_001 }],
    ['it is larger than the limit of all, but alone', { records: 5_001, backlog: backlogOf(0, 0) }],
    ['the backlog is of a reconciler that does not work', { backlog: backlogOf(9_000, 0, START_MS - 600_001) }],
  ])('takes it when %s', (_when, overrides) => {
    expect(admit(input(overrides))).toEqual({ admitted: true });
  });

  test.each([
    ['the records of the tenant', { open: work(500, 401) }, 'too_many_open_records'],
    ['the submissions of the tenant', { open: work(1, 1, 1) }, 'too_many_open_submissions'],
    ['the records of everybody', { backlog: backlogOf(401, 4_500) }, 'system_busy'],
    ['the records of everybody ten minutes ago', { backlog: backlogOf(401, 4_500, START_MS - 600_000) }, 'system_busy'],
  ])('refuses it when %s are too many', (_what, overrides, code) => {
    expect(admit(input(overrides))).toMatchObject({ admitted: false, code, detail: expect.any(String) });
  });

  test.each([
    ['when what is too much is finished, at the pace', { open: work(900, 400) }, 40],
    ['but never before ten seconds', { open: work(500, 401) }, 10],
    ['but never after an hour', { open: work(900_000), records: 900_000 }, 3_600],
    ['when the smallest submission is finished', { open: work(300, 900, 200) }, 20],
    ['for a file that never fits: when it is alone', { open: work(500), records: 90_000 }, 50],
    ['when everybody has room again', { backlog: backlogOf(0, 5_100) }, 20],
  ])('says to come back %s', (_when, overrides, retryAfterSeconds) => {
    expect(admit(input(overrides))).toMatchObject({ admitted: false, retryAfterSeconds });
  });
});

describe('the estimate of a file that nobody has counted', () => {
  test.each([
    [0, undefined, 0],
    [1, undefined, 1],
    [300_000, undefined, 1_000],
    [300_000, 2_000, 2_000],
    [300_000, 10, 1_000],
    [3e9, undefined, 5_000],
  ])('of %d bytes, %s records expected, is %d', (bytes, expected, records) => {
    expect(estimateRecords(bytes, expected, 5_000)).toBe(records);
  });
});

describe('the records of a body that is at hand', () => {
  it.each([
    ['a million lines of two bytes', 'a\n'.repeat(1_000_000), 1_000_001],
    ['lines that end as on an old Mac', 'a\r'.repeat(10), 11],
    ['an array of objects', `[${'{"a":1,"b":2},'.repeat(9)}{"a":1}]`, 11],
    ['an array of numbers', `[${'1,'.repeat(9)}1]`, 10],
  ])('are at most counted: %s', (_what, text, records) => {
    expect(countRecords(Buffer.from(text))).toBe(records);
  });
});
