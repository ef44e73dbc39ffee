import { createHash } from 'node:crypto';

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Makes the random parts of physical names; the same seed makes the same names. */
export class NameSource {
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Upper-case letters and digits, as CloudFormation appends them to names. */
  upper(length: number, ...about: string[]): string {
    return this.#pick(UPPER, length, about);
  }

  /** Lower-case letters and digits, as API Gateway uses them for ids. */
  lower(length: number, ...about: string[]): string {
    return this.#pick(LOWER, length, about);
  }

  /** A UUID that depends only on the seed and on what it is about. */
  uuid(...about: string[]): string {
    const hex = this.#digest(about).toString('hex');
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      `4${hex.slice(13, 16)}`,
      `a${hex.slice(17, 20)}`,
      hex.slice(20, 32),
    ].join('-');
  }

  #pick(alphabet: string, length: number, about: string[]): string {
    return Array.from(this.#digest(about).subarray(0, length), (byte) => alphabet[byte % alphabet.length]).join('');
  }

  #digest(about: string[]): Buffer {
    return createHash('sha256')
      .update([this.#seed, ...about].join('\u0000'))
      .digest();
  }
}

/**
 * A physical name like CloudFormation's, `<stack>-<logicalId>-<suffix>`, with its parts shortened so that it fits.
 */
export function physicalName(parts: readonly string[], suffix: string, maxLength: number): string {
  const room = maxLength - suffix.length - parts.length;
  let joined = parts.join('-');
  if (joined.length > room + parts.length - 1) {
    const share = Math.floor(room / parts.length);
    joined = parts.map((part) => part.slice(0, share)).join('-');
  }
  return `${joined}-${suffix}`;
}
