import fc from 'fast-check';
import { readJsonRecord } from '../../../lambdas/domain/files/json-record.ts';

const read = (text: string) => readJsonRecord(text, 7, false);
const defectOf = (text: string) => {
  const content = read(text);
  return content.kind === 'defect' ? content.defect : undefined;
};
const detailOf = (text: string) => {
  const content = read(text);
  return content.kind === 'defect' ? content.detail : '';
};

describe('a JSON record', () => {
  it('is what JSON.parse makes of it, when that loses nothing', () => {
    const record = fc.dictionary(
      fc.string().filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key)),
      fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(fc.string()),
        fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
      ),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(record, fc.constantFrom(undefined, 1, '\t'), (fields, indent) => {
        fc.pre(!JSON.stringify(fields).includes('\\u0000'));
        const text = JSON.stringify(fields, null, indent);
        expect(read(text)).toEqual({ kind: 'record', fields: JSON.parse(text) });
      }),
    );
  });

  it.each(['{"a":1', '{"a":1,}', "{'a':1}", '{"a":NaN}', '{"a":01}', '\uFEFF{}', '{"a":1}{"a":2}', 'x', ''])(
    'cannot be %j, which is no JSON',
    (text) => {
      expect(defectOf(text)).toBe('INVALID_JSON');
    },
  );

  it.each([
    ['{"a":1', 'breaks off'],
    ['{"a":-Infinity}', 'no NaN and no Infinity'],
    ['\uFEFF{}', 'byte order mark'],
    ['{"a" 1}', 'quotes, commas and braces'],
  ])('that is %j is reported with a remedy', (text, remedy) => {
    expect(detailOf(text)).toContain('that begins on line 7');
    expect(detailOf(text)).toContain(remedy);
  });

  it.each([
    ['[{}]', 'an array'],
    ['null', 'null'],
    ['12', 'a number'],
    ['"a"', 'a string'],
    ['true', 'a boolean'],
  ])('cannot be %s', (text, name) => {
    expect(defectOf(text)).toBe('NOT_AN_OBJECT');
    expect(detailOf(text)).toContain(`is ${name}.`);
  });
});

describe('a number in a JSON record', () => {
  it.each([
    '0',
    '-0',
    '0.1',
    '1.50',
    '1e3',
    '1E+2',
    '2.5e-7',
    '123456789012345',
    '9007199254740991',
    '1.0000000000000000',
    '0.000000000000000000001',
    '100000000000000000000e-10',
    '5e-324',
    '1.7976931348623157e-300',
  ])('may be %s', (number) => {
    expect(defectOf(`{"n":${number},"list":[ ${number} ]}`)).toBeUndefined();
  });

  it.each([
    '9007199254740992',
    '-9007199254740993',
    '1610521604143693812',
    '1e400',
    '-1e400',
    '1e-400',
    '1.5e20',
    '12345678901234567.5',
    '0.1234567890123456789',
    '1e16',
  ])('cannot be %s, which would change', (number) => {
    for (const text of [
      `{"n":${number}}`,
      `{"x":1,"n": ${number}}`,
      `{"n":[1,\n${number}]}`,
      `{"n":{"m":[${number},1]}}`,
    ]) {
      expect(defectOf(text)).toBe('UNSAFE_NUMBER');
    }
  });

  it('is not looked for in texts', () => {
    expect(defectOf('{"a":"x:9007199254740993,","b":"\\",1e400","c":": 1e400"}')).toBeUndefined();
  });

  it('is named by its key, not by its digits', () => {
    expect(detailOf('{"id":"n","account":9007199254740993}')).toMatch(/a number in "account" .*as text/);
    expect(detailOf('{"account":9007199254740993}')).not.toContain('900719');
  });

  it('always comes out with the value of its digits', () => {
    const literal = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.nat({ max: 30 }), fc.integer({ min: -30, max: 30 }))
      .map(([digits, places, exponent]) => {
        const padded = String(digits).padStart(places + 1, '0');
        const point = padded.length - places;
        return {
          digits,
          scale: exponent - places,
          text: `${padded.slice(0, point)}${places ? '.' : ''}${padded.slice(point)}e${exponent}`,
        };
      });
    fc.assert(
      fc.property(literal, ({ digits, scale, text }) => {
        const content = read(`{"n":${text}}`);
        fc.pre(content.kind === 'record');
        // Both sides as integers: the value's own shortest digits, and the digits that were written.
        const [mantissa = '', exponent = '0'] = String(content.kind === 'record' ? content.fields.n : '').split('e');
        const [whole = '', fraction = ''] = mantissa.split('.');
        const kept = { digits: BigInt(whole + fraction), scale: Number(exponent) - fraction.length };
        const least = Math.min(kept.scale, scale);
        expect(kept.digits * 10n ** BigInt(kept.scale - least)).toBe(digits * 10n ** BigInt(scale - least));
      }),
    );
  });
});

describe('a key of a JSON record', () => {
  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"b":2,"a"\n :3}',
    '{"a":1,"\\u0061":2}',
    '{"x":[{"a":1,"a":1}]}',
    '{"x":"\\":","a":1,"a":2}',
  ])('cannot be given twice: %j', (text) => {
    expect(defectOf(text)).toBe('DUPLICATE_KEY');
    expect(detailOf(text)).toContain('the key "a" more than once');
  });

  it.each([
    '{"a":{"a":{"a":1}}}',
    '{"x":[{"a":1},{"a":2}]}',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":":","b":"\\":\\":"}',
  ])('may be given again elsewhere: %j', (text) => {
    expect(defectOf(text)).toBeUndefined();
  });

  it.each([
    '{"__proto__":1}',
    '{"\\u005f_proto__":1}',
    '{"a":[{"__proto__":{"x":1}}]}',
    '{"constructor":1}',
    '{"prototype":1}',
  ])('cannot reach a prototype: %j', (text) => {
    expect(defectOf(text)).toBe('RESERVED_KEY');
  });

  it('may be any word that is harmless', () => {
    expect(read('{"toString":1,"a":{"constructor":2}}')).toEqual({
      kind: 'record',
      fields: { toString: 1, a: { constructor: 2 } },
    });
  });

  it('is shortened in a detail of at most 300 characters', () => {
    const key = '\\u0001"'.replace('"', '\\"').repeat(500);
    const detail = detailOf(`{"${key}":1,"${key}":2}`);
    expect(detail).toContain('…');
    expect(detail.length).toBeLessThanOrEqual(300);
  });
});

describe('a text in a JSON record', () => {
  it.each([
    '{"a":"\\u0000"}',
    '{"a":"\\ud800"}',
    '{"a":["x\\udc00"]}',
    '{"\\ud800":1}',
    '{"a":{"b":"\\udc00\\ud800"}}',
  ])('cannot have an escape that stands for no character: %s', (text) => {
    expect(defectOf(text)).toBe('ILLEGAL_CHARACTER');
  });

  it('may have any other escape', () => {
    expect(read('{"a":"\\ud83d\\ude00\\u00e9\\n\\\\u0000"}')).toEqual({
      kind: 'record',
      fields: { a: '😀é\n\\u0000' },
    });
  });
});

describe('nesting in a JSON record', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  it('may be 20 levels deep', () => {
    expect(defectOf(nested(19))).toBeUndefined();
    expect(defectOf(nested(20))).toBe('NESTED_TOO_DEEPLY');
  });

  it('does no harm at any depth', () => {
    expect(defectOf(nested(100_000))).toBe('NESTED_TOO_DEEPLY');
    expect(defectOf(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)).toBe('NESTED_TOO_DEEPLY');
  });
});
