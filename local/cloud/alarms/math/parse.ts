import { LocalCloudError } from '../../errors.ts';

/** An expression of metric math, parsed. */
export type MathNode =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  /** An id of another query, or a keyword such as REPEAT. */
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly MathNode[] }
  | { readonly kind: 'negation'; readonly operand: MathNode }
  | { readonly kind: 'operation'; readonly operator: Operator; readonly left: MathNode; readonly right: MathNode }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly MathNode[] };

export type Operator = '+' | '-' | '*' | '/' | '^' | '<' | '<=' | '>' | '>=' | '==' | '!=' | 'AND' | 'OR';

/** From the loosest to the tightest, as the operators bind. */
const LEVELS: readonly (readonly Operator[])[] = [
  ['OR'],
  ['AND'],
  ['<', '<=', '>', '>=', '==', '!='],
  ['+', '-'],
  ['*', '/'],
  ['^'],
];
const SPELLINGS: Readonly<Record<string, Operator>> = { '&&': 'AND', '||': 'OR' };

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|"([^"]*)"|'([^']*)'|(&&|\|\||[<>=!]=|[-+*/^<>()[\],]))/y;

interface Token {
  readonly kind: 'number' | 'word' | 'text' | 'sign';
  readonly text: string;
}

/**
 * Parses an expression of metric math,
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html#metric-math-syntax
 *
 * @throws LocalCloudError with the place in the expression where it cannot be read
 */
export function parseMath(expression: string): MathNode {
  const parser = new Parser(expression);
  return parser.whole();
}

class Parser {
  readonly #expression: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(expression: string) {
    this.#expression = expression;
    this.#tokens = tokensOf(expression);
  }

  whole(): MathNode {
    const node = this.#operation(0);
    const rest = this.#tokens[this.#at];
    if (rest !== undefined) throw this.#unexpected(rest);
    return node;
  }

  #operation(level: number): MathNode {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#operation(level + 1);
    for (;;) {
      const operator = this.#operatorOf(this.#tokens[this.#at]);
      if (operator === undefined || !operators.includes(operator)) return left;
      this.#at++;
      left = { kind: 'operation', operator, left, right: this.#operation(level + 1) };
    }
  }

  #operatorOf(token: Token | undefined): Operator | undefined {
    if (token === undefined || token.kind === 'number' || token.kind === 'text') return undefined;
    const spelled = SPELLINGS[token.text] ?? token.text;
    return LEVELS.flat().find((operator) => operator === spelled);
  }

  #unary(): MathNode {
    if (!this.#takes('-')) return this.#primary();
    return { kind: 'negation', operand: this.#unary() };
  }

  #primary(): MathNode {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new LocalCloudError(`The expression ${this.#expression} ends too early.`);
    if (token.kind === 'number') return { kind: 'number', value: Number(token.text) };
    if (token.kind === 'text') return { kind: 'text', value: token.text };
    if (token.text === '(') return this.#closed(this.#operation(0), ')');
    if (token.text === '[') return this.#closed({ kind: 'list', items: this.#items(']') }, ']');
    if (token.kind === 'sign') throw this.#unexpected(token);
    if (!this.#takes('(')) return { kind: 'name', name: token.text };
    return this.#closed({ kind: 'call', name: token.text, args: this.#items(')') }, ')');
  }

  #items(end: string): MathNode[] {
    const items: MathNode[] = [];
    if (this.#tokens[this.#at]?.text === end) return items;
    do items.push(this.#operation(0));
    while (this.#takes(','));
    return items;
  }

  #closed<T extends MathNode>(node: T, end: string): T {
    if (this.#takes(end)) return node;
    const token = this.#tokens[this.#at];
    throw token === undefined
      ? new LocalCloudError(`The expression ${this.#expression} lacks a ${end}.`)
      : this.#unexpected(token);
  }

  #takes(sign: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'sign' || token.text !== sign) return false;
    this.#at++;
    return true;
  }

  #unexpected({ text }: Token): LocalCloudError {
    return new LocalCloudError(`The expression ${this.#expression} cannot be read at ${JSON.stringify(text)}.`);
  }
}

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  while (expression.slice(pattern.lastIndex).trim() !== '') {
    const from = pattern.lastIndex;
    const match = pattern.exec(expression);
    if (match === null) {
      throw new LocalCloudError(`The expression ${expression} cannot be read from ${expression.slice(from)} on.`);
    }
    const [, number, word, double, single, sign = ''] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if ((double ?? single) !== undefined) tokens.push({ kind: 'text', text: double ?? single ?? '' });
    else tokens.push({ kind: 'sign', text: sign });
  }
  return tokens;
}
