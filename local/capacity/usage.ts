import { PRICES, priceOf, type Priced } from '../../config/prices.ts';

/** How much of each thing is used. */
export type Usage = Readonly<Partial<Record<Priced, number>>>;

/** Everything that has a price, in the order of the price list. */
export const PRICED = Object.keys(PRICES).filter((name): name is Priced => name in PRICES);

/** What is used, in the order of the price list. */
export const entriesOf = (usage: Usage): [Priced, number][] =>
  PRICED.flatMap((priced) => {
    const amount = usage[priced];
    return amount === undefined || amount === 0 ? [] : [[priced, amount]];
  });

/** US dollars for everything together. */
export const totalOf = (usage: Usage): number =>
  entriesOf(usage).reduce((sum, [priced, amount]) => sum + priceOf(priced, amount), 0);
