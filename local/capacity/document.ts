import { markdownTable } from 'markdown-table';
import { PRICES, priceOf, type Priced } from '../../config/prices.ts';
import {
  ASSUMPTIONS,
  distributedMap,
  oneByOne,
  sluice,
  standingUsage,
  workerGbSeconds,
  type Standing,
} from './designs.ts';
import { timeFor, utilisation, type Derived } from './derived.ts';
import { MEASURED } from './measured.ts';
import { entriesOf, PRICED, totalOf, type Usage } from './usage.ts';

/** The parts of docs/capacity.md that are made from the code, by the name between their marks. */
export type Blocks = Readonly<Record<'derived' | 'volumes' | 'cost' | 'standing', string>>;

const BURST = 40_000;
const MILLION = 1_000_000;
const DAYS = [MILLION, 100 * MILLION];

export function blocksOf(stages: Readonly<Record<string, Derived>>, production: Derived, standing: Standing): Blocks {
  return {
    derived: derivedTable(stages),
    volumes: volumeTable(production),
    cost: costTable(production),
    standing: standingTable(standing),
  };
}

/** Replaces each block between its marks. @throws RangeError naming a block that the page has no marks for */
export function withBlocks(page: string, blocks: Blocks): string {
  return Object.entries(blocks).reduce((text, [name, block]) => {
    const [begin, end] = [`<!-- ${name}: npm run capacity -->`, `<!-- end of ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from)
      throw new RangeError(`The page has no place for ${name}: put "${begin}" and "${end}" there.`);
    return `${text.slice(0, from + begin.length)}\n\n${block}\n\n${text.slice(to)}`;
  }, page);
}

function derivedTable(stages: Readonly<Record<string, Derived>>): string {
  const names = Object.keys(stages);
  const row = (what: string, of: (derived: Derived) => string): string[] => [what, ...Object.values(stages).map(of)];
  return table(
    ['', ...names.map((name) => `\`${name}\``)],
    [
      row('pace, records per second', ({ pacePerSecond }) => pacePerSecond.toFixed(1)),
      row('workers at once, small + bulk lane', ({ maxConcurrency: { small, bulk } }) => `${small} + ${bulk}`),
      row('records of a batch', ({ batchSize }) => String(batchSize)),
      row('in flight per queue, at most', ({ maxConcurrency: { small, bulk }, batchSize }) =>
        count(Math.max(small, bulk) * batchSize),
      ),
      row('a saturated batch', ({ saturatedBatchMs }) => `${(saturatedBatchMs / 1_000).toFixed(1)} s`),
      row('function timeout', ({ functionTimeoutSeconds }) => `${functionTimeoutSeconds} s`),
      row('visibility timeout', ({ visibilityTimeoutSeconds }) => `${visibilityTimeoutSeconds} s`),
    ],
  );
}

function volumeTable({ pacePerSecond, batchSize }: Derived): string {
  const rates = [pacePerSecond, ...DAYS.map((records) => Math.max(pacePerSecond, records / 86_400 / 0.8))];
  return table(
    ['', `a burst of ${count(BURST)}`, ...DAYS.map((records) => `${count(records)} a day`)],
    [
      ['records per second, on average', '–', ...DAYS.map((records) => (records / 86_400).toFixed(1))],
      ['part of the pace of `prod`', '–', ...DAYS.map((records) => percent(utilisation(records, pacePerSecond)))],
      ['pace that it needs (at most 80 % used)', ...rates.map((rate) => rate.toFixed(0))],
      [
        'time for it at that pace',
        timeFor(BURST, pacePerSecond),
        ...DAYS.map((records, index) => timeFor(records, rates[index + 1] ?? pacePerSecond)),
      ],
      ['reservations per second on the item of a provider', ...rates.map((rate) => (rate / batchSize).toFixed(0))],
      ['rows written per second', ...rates.map((rate) => rate.toFixed(0))],
      ['ledger writes per second', ...rates.map((rate) => (rate / batchSize).toFixed(0))],
    ],
  );
}

function costTable(production: Derived): string {
  const { maxConcurrency, workerMemoryGb, pacePerSecond } = production;
  const designs = [
    sluice(MEASURED, workerGbSeconds(maxConcurrency.bulk, workerMemoryGb, pacePerSecond)),
    oneByOne(ASSUMPTIONS),
    distributedMap(ASSUMPTIONS),
  ];
  const priced = PRICED.filter((name) => designs.some(({ perMillion }) => name in perMillion));
  const cell = (usage: Usage, name: Priced): string => {
    const amount = usage[name];
    return amount === undefined ? '–' : dollars(priceOf(name, amount));
  };
  return table(
    ['US$ per million records', ...designs.map(({ name }) => name)],
    [
      ...priced.map((name) => [PRICES[name].what, ...designs.map(({ perMillion }) => cell(perMillion, name))]),
      ['**together**', ...designs.map(({ perMillion }) => `**${dollars(totalOf(perMillion))}**`)],
    ],
  );
}

function standingTable(standing: Standing): string {
  const usage = standingUsage(standing);
  return table(
    ['US$ a month, with no work at all', 'how many', ''],
    [
      ...entriesOf(usage).map(([name, amount]) => [
        PRICES[name].what,
        count(Math.round(amount)),
        dollars(priceOf(name, amount)),
      ]),
      ['**together**', '', `**${dollars(totalOf(usage))}**`],
    ],
  );
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => markdownTable([head, ...rows]);

const count = (amount: number): string => amount.toLocaleString('en-US');
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const dollars = (amount: number): string => (amount < 0.005 ? '< 0.01' : amount.toFixed(2));
