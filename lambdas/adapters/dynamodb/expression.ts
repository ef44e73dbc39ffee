/**
 * DynamoDB expressions as tagged templates: `#name` stands for an attribute (so that no reserved word gets in the way), an
 * interpolated value becomes a parameter, and an interpolated expression becomes part of the text.
 *
 * @example
 * expr`SET #state = ${'processing'}, #fanOut.#leaseOwner = ${owner}`
 */
export class Expression {
  readonly #strings: readonly string[];
  readonly #parts: readonly unknown[];

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.#strings = strings;
    this.#parts = parts;
  }

  /** Writes the text and collects its names and values in `placeholders`. */
  compile(placeholders: Placeholders): string {
    return this.#strings
      .map((text, index) => {
        placeholders.addNames(text);
        return index === 0 ? text : compilePart(this.#parts[index - 1], placeholders) + text;
      })
      .join('');
  }
}

const compilePart = (part: unknown, placeholders: Placeholders): string =>
  part instanceof Expression ? part.compile(placeholders) : placeholders.addValue(part);

/** Names and values of one request, as DynamoDB wants them. */
export class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, unknown> = {};
  #count = 0;

  addNames(text: string): void {
    for (const [placeholder] of text.matchAll(/#\w+/g)) this.names[placeholder] = placeholder.slice(1);
  }

  addValue(value: unknown): string {
    const placeholder = `:v${this.#count++}`;
    this.values[placeholder] = value;
    return placeholder;
  }

  /** The parts of a request that hold the placeholders; DynamoDB refuses empty ones. */
  request(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, unknown>;
  } {
    return {
      ...(Object.keys(this.names).length > 0 ? { ExpressionAttributeNames: this.names } : {}),
      ...(Object.keys(this.values).length > 0 ? { ExpressionAttributeValues: this.values } : {}),
    };
  }
}

export const expr = (strings: TemplateStringsArray, ...parts: unknown[]): Expression => new Expression(strings, parts);

/** Several expressions with `separator` between them; empty for none. */
export function join(parts: readonly Expression[], separator: string): Expression {
  if (parts.length === 0) return new Expression([''], []);
  const between = Array.from({ length: parts.length - 1 }, () => separator);
  return new Expression(['', ...between, ''], parts);
}

/** `#attribute IN (…)`. */
export const isIn = (attribute: string, values: readonly unknown[]): Expression =>
  expr`${named(attribute)} IN (${join(
    values.map((value) => expr`${value}`),
    ', ',
  )})`;

/** An attribute whose name is computed: letters, digits and underscores only, or it throws TypeError. */
export function named(attribute: string): Expression {
  if (!/^\w+$/.test(attribute)) throw new TypeError(`${attribute} cannot be an attribute's name in an expression.`);
  return new Expression([`#${attribute}`], []);
}
