import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ASSUMPTIONS, distributedMap, oneByOne, workerGbSeconds } from '../../../local/capacity/designs.ts';
import { timeFor, utilisation } from '../../../local/capacity/derived.ts';
import { withBlocks } from '../../../local/capacity/document.ts';
import { currentPage } from '../../../local/capacity/page.ts';
import { priceOf } from '../../../config/prices.ts';
import { totalOf } from '../../../local/capacity/usage.ts';

test('the capacity page says what the code says; `npm run capacity` writes it anew', async () => {
  const page = await readFile(resolve(import.meta.dirname, '../../../docs/capacity.md'), 'utf8');
  expect(await currentPage(page)).toBe(page);
});

describe('a block of the page', () => {
  const blocks = { derived: 'D', volumes: 'V', cost: 'C', standing: 'S' };
  const marked = (name: string, text: string): string =>
    `<!-- ${name}: npm run capacity -->\n\n${text}\n\n<!-- end of ${name} -->\n`;
  const all = (text: (name: string) => string): string =>
    Object.keys(blocks)
      .map((name) => marked(name, text(name)))
      .join('');

  it('is replaced between its marks, and nothing else is', () => {
    const written = withBlocks(`before\n${all(() => 'old')}after`, blocks);
    expect(written).toBe(`before\n${all((name) => name.charAt(0).toUpperCase())}after`);
  });

  it('without marks is an error that says what to write where', () => {
    expect(() => withBlocks('nothing', blocks)).toThrow('The page has no place for derived: put "<!-- derived:');
  });
});

describe('the cost model', () => {
  it('prices by the unit that a price is published for', () => {
    expect(priceOf('sqsRequest', 2_500_000)).toBeCloseTo(1, 10);
    expect(priceOf('s3Put', 1_000_000)).toBeCloseTo(5, 10);
    expect(totalOf({ sqsRequest: 1_000_000, s3Put: 1_000 })).toBeCloseTo(0.405, 10);
  });

  it('counts a million express children with their transitions and memory', () => {
    const { perMillion } = distributedMap(ASSUMPTIONS);
    expect(perMillion.stateTransition).toBe(1_000_000);
    // 650 ms are billed as 700, of 64 MB.
    expect(perMillion.expressGbSecond).toBeCloseTo(700 * 62.5, 6);
  });

  it('counts what is written one by one', () => {
    expect(oneByOne(ASSUMPTIONS).perMillion).toMatchObject({ sqsRequest: 3_000_000, dynamoWrite: 6_000_000 });
  });

  it('bills workers that wait for slots by their number, and not by how long an answer takes', () => {
    expect(workerGbSeconds(17, 0.5, 98.5)).toBeCloseTo(0.0863, 4);
  });
});

it.each([
  [60, 1, '60 s'],
  [40_000, 98.5, '7 min'],
  [1_000_000, 98.5, '2.8 h'],
  [100_000_000, 98.5, '11.8 days'],
])('%d records at %d per second take %s', (records, pace, words) => {
  expect(timeFor(records, pace)).toBe(words);
});

it('a day uses the part of the pace that its records are of what fits into it', () => {
  expect(utilisation(864_000, 100)).toBeCloseTo(0.1, 10);
});
