import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normalise } from '../../../lambdas/domain/profiles/normalise.ts';
import { NORMALISERS, type Normaliser } from '../../../lambdas/domain/profiles/steps.ts';

const CASES: Readonly<Record<Normaliser, readonly (readonly [string, string, string?])[]>> = {
  trim: [
    [' acme ', 'acme'],
    ['\u00A0acme\u200B', 'acme'],
    ['\uFEFFa b\u2060', 'a b'],
    ['\u3000東京\u0085', '東京'],
  ],
  nfc: [['Mu\u0308ller', 'Müller']],
  unwrap_formula: [
    ['="00123"', '00123'],
    ['="say ""hi"""', 'say "hi"'],
    ["'02134", '02134'],
    ["'+49 30 123", '+49 30 123'],
    ["'=1+1", '=1+1'],
    ["'tis", "'tis"],
    ['=1+1', '=1+1'],
    ["''-5", "''-5"],
  ],
  host_of_url: [
    ['https://www.acme.example/', 'acme.example'],
    ['HTTP://Acme.Example:8080/path?q#f', 'acme.example'],
    ['ACME.example.', 'acme.example'],
    ['acme.example/contact', 'acme.example'],
    ['https://user@acme.example/', 'acme.example'],
    ['https://müller.example', 'müller.example'],
    ['https://उदाहरण.परीक्षा/', 'उदाहरण.परीक्षा'],
    ['info@acme.example', 'info@acme.example'],
    ['Acme Inc.', 'Acme Inc.'],
    ['localhost', 'localhost'],
    ['http://192.0.2.7/', 'http://192.0.2.7/'],
    ['www.example', 'www.example'],
    ['', ''],
  ],
  host_of_email: [
    ['info@ACME.example', 'acme.example'],
    ['Ann <ann@acme.example>', 'acme.example'],
    ['info@müller.example', 'müller.example'],
    ['acme.example', 'acme.example'],
    ['a@b', 'a@b'],
  ],
  country_alpha2: [
    ['usa', 'US'],
    ['de', 'DE'],
    ['DEU', 'DE'],
    ['Deutschland', 'DE'],
    ['germany', 'DE'],
    ['Österreich', 'AT'],
    ["Cote d'Ivoire", 'CI'],
    ["États-Unis d'Amérique", 'US'],
    ['日本', 'JP'],
    ['UK', 'GB'],
    ['EL', 'GR'],
    ['États-Unis', 'US'],
    ['England', 'GB'],
    ['Atlantis', 'Atlantis'],
    ['', ''],
  ],
  postal_code: [
    ['94109.0', '94109', 'US'],
    ['2134', '02134', 'US'],
    ['501', '00501', 'usa'],
    ['2134-1234', '02134-1234', 'US'],
    ['1067', '01067', 'Deutschland'],
    ['12', '12', 'US'],
    ['1067', '1067', 'AT'],
    ['sw1a 1aa', 'SW1A 1AA', 'GB'],
    ['2134', '2134'],
    ['2134', '2134', 'Atlantis'],
  ],
  lower: [['ÄB', 'äb']],
  upper: [['äb', 'ÄB']],
};

describe.each(NORMALISERS)('%s', (step) => {
  it.each(CASES[step].map(([value, expected, country]) => ({ value, expected, country })))(
    'makes of $value $expected (country $country)',
    ({ value, expected, country }) => {
      expect(normalise(value, [step], country === undefined ? {} : { country })).toBe(expected);
    },
  );

  it('changes nothing more when it is applied again', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({
        unit: fc.constantFrom(
          ...Array.from(' \u00A0\uFEFF\'"=+-@.,0129<>:/wW'),
          'www.',
          'http://',
          'a.b',
          'ß',
          'ŉ',
          'İ',
          '\u0308',
        ),
      }),
      fc.webUrl(),
      fc.emailAddress(),
    );
    fc.assert(
      fc.property(text, fc.option(fc.constantFrom('US', 'DE', 'GB', 'de'), { nil: undefined }), (value, country) => {
        const context = country === undefined ? {} : { country };
        const once = normalise(value, [step], context);
        expect(normalise(once, [step], context)).toBe(once);
      }),
      { numRuns: 500 },
    );
  });
});

describe('several steps', () => {
  it('are applied in order', () => {
    expect(normalise('\u00A0="HTTPS://WWW.ACME.EXAMPLE/" ', ['trim', 'unwrap_formula', 'host_of_url'])).toBe(
      'acme.example',
    );
  });
});
