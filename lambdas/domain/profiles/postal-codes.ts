import formats from 'postal-codes-js/generated/postal-codes-alpha2.json' with { type: 'json' };

/** Countries whose format the package describes in a file of their own although it is a number of digits. */
const OWN_FORMATS: Readonly<Record<string, number>> = { 'US.json': 5 };

const COUNTRIES: ReadonlyMap<string, object> = new Map(Object.entries(formats));

/**
 * How many digits every postal code of a country has; undefined where codes have letters, more than one length, or none exist.
 *
 * @param alpha2 - ISO 3166-1 alpha-2 code
 */
export function postalDigits(alpha2: string): number | undefined {
  const entry = COUNTRIES.get(alpha2);
  const format = entry !== undefined && 'postalCodeFormat' in entry ? String(entry.postalCodeFormat) : '';
  const digits = /^(\d+)Digits\.json$/.exec(format)?.[1];
  return digits === undefined ? OWN_FORMATS[format] : Number(digits);
}
