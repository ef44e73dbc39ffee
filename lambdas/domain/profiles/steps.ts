/** The steps that a profile may name, in the order in which they are documented. */
export const NORMALISERS = [
  'trim',
  'nfc',
  'unwrap_formula',
  'host_of_url',
  'host_of_email',
  'country_alpha2',
  'postal_code',
  'lower',
  'upper',
] as const;
export type Normaliser = (typeof NORMALISERS)[number];
