import {
  atLeast,
  atMost,
  decimals,
  exactly,
  isMet,
  percentile,
  reported,
  summaryOf,
  tableOf,
} from '../../../local/bench/result.ts';

const GOOD = { name: 'drain', figures: [atLeast('rate', 0.985, 0.98), reported('limit', '200 calls/s')] };
const BAD = { name: 'ops', figures: [atMost('log bytes', 412.4, 300, decimals(0, ' B')), exactly('lost', 0, 0)] };

describe('the result of a benchmark', () => {
  it('is met when every figure with a goal meets it, at the goal too', () => {
    expect(isMet(GOOD)).toBe(true);
    expect(isMet(BAD)).toBe(false);
    expect(isMet({ name: 'edge', figures: [atLeast('rate', 0.98, 0.98), atMost('peak', 1.01, 1.01)] })).toBe(true);
    expect(exactly('429s', 1, 0)).toMatchObject({ isMet: false });
  });

  it('is not met by a figure that could not be measured', () => {
    expect(isMet({ name: 'none', figures: [atMost('share', Number.NaN, 1.5)] })).toBe(false);
    expect(isMet({ name: 'none', figures: [atLeast('share', Number.NaN, 0.5)] })).toBe(false);
  });

  it('is summed up in one entry per benchmark, with figures and goals in words', () => {
    expect(summaryOf([GOOD, BAD])).toEqual({
      allMet: false,
      results: [
        { name: 'drain', figure: 'rate 0.985; limit 200 calls/s', goal: 'rate ≥ 0.98', met: true },
        { name: 'ops', figure: 'log bytes 412 B; lost 0', goal: 'log bytes ≤ 300 B; lost 0', met: false },
      ],
    });
    expect(summaryOf([GOOD]).allMet).toBe(true);
  });

  it('is a table with a line for each figure', () => {
    const lines = tableOf([GOOD, BAD]).split('\n');
    expect(lines).toHaveLength(6);
    expect(lines[2]).toMatch(/^\| drain +\| rate +\| 0\.985 +\| ≥ 0\.98 +\| met +\|$/);
    expect(lines[3]).toMatch(/^\| +\| limit +\| 200 calls\/s +\| – +\| +\|$/);
    expect(lines[4]).toMatch(/^\| ops +\| log bytes +\| 412 B +\| ≤ 300 B +\| NOT MET \|$/);
  });
});

describe('a percentile', () => {
  it('is the value below which so many lie', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(values, 0.5)).toBe(51);
    expect(percentile(values, 0.99)).toBe(100);
    expect(percentile([7], 0.99)).toBe(7);
  });
});
