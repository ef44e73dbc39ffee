import { describe, expect, test } from '@jest/globals';
import { expr, isIn, join, named, Placeholders } from '../../../lambdas/adapters/dynamodb/expression.ts';

describe('expressions', () => {
  test('names and values become placeholders, also those of expressions inside', () => {
    const placeholders = new Placeholders();
    const inner = expr`#leaseUntilMs <= ${17}`;

    const text = expr`#fanOut.#done = ${false} AND (${inner})`.compile(placeholders);

    expect(text).toBe('#fanOut.#done = :v0 AND (#leaseUntilMs <= :v1)');
    expect(placeholders.request()).toEqual({
      ExpressionAttributeNames: { '#fanOut': 'fanOut', '#done': 'done', '#leaseUntilMs': 'leaseUntilMs' },
      ExpressionAttributeValues: { ':v0': false, ':v1': 17 },
    });
  });

  test('two expressions of one request share no value placeholder', () => {
    const placeholders = new Placeholders();

    const texts = [expr`#a = ${1}`, expr`#a = ${2}`].map((expression) => expression.compile(placeholders));

    expect(texts).toEqual(['#a = :v0', '#a = :v1']);
    expect(placeholders.values).toEqual({ ':v0': 1, ':v1': 2 });
  });

  test('a request without placeholders has none of their members', () => {
    expect(new Placeholders().request()).toEqual({});
  });

  test('lists are joined, and an empty one is empty', () => {
    const placeholders = new Placeholders();

    expect(isIn('state', ['a', 'b']).compile(placeholders)).toBe('#state IN (:v0, :v1)');
    expect(join([], ', ').compile(placeholders)).toBe('');
  });

  test('a computed name that would be more than a name is refused', () => {
    expect(() => named('open = :x REMOVE secret')).toThrow(TypeError);
    expect(named('f_invalid_record').compile(new Placeholders())).toBe('#f_invalid_record');
  });
});
