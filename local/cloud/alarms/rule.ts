import { LocalCloudError } from '../errors.ts';
import type { AlarmState } from './definitions.ts';

/** The rule of a composite alarm, parsed. Alarms are named by their name or their ARN. */
export type Rule =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'state'; readonly state: AlarmState; readonly alarm: string }
  | { readonly kind: 'not'; readonly operand: Rule }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Rule[] };

const TOKEN =
  /\s*(?:(ALARM|OK|INSUFFICIENT_DATA)\s*\(\s*(?:"([^"]*)"|([^()"]*?))\s*\)|(AND|OR|NOT|TRUE|FALSE)\b|([()]))/y;

type Token =
  | { readonly kind: 'state'; readonly state: AlarmState; readonly alarm: string }
  | { readonly kind: 'word'; readonly text: string };

/**
 * Parses the rule of a composite alarm,
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
 *
 * @throws LocalCloudError with what cannot be read
 */
export function parseRule(text: string): Rule {
  const tokens = tokensOf(text);
  let at = 0;
  const takes = (word: string): boolean => {
    const token = tokens[at];
    if (token?.kind !== 'word' || token.text !== word) return false;
    at++;
    return true;
  };
  const broken = (): LocalCloudError => new LocalCloudError(`the rule ${text} cannot be read at its ${at + 1}. part.`);
  const joined = (word: 'AND' | 'OR', operand: () => Rule): Rule => {
    const operands = [operand()];
    while (takes(word)) operands.push(operand());
    const [only] = operands;
    return only !== undefined && operands.length === 1 ? only : { kind: word === 'AND' ? 'and' : 'or', operands };
  };
  const either = (): Rule => joined('OR', () => joined('AND', single));
  const single = (): Rule => {
    if (takes('NOT')) return { kind: 'not', operand: single() };
    if (takes('TRUE')) return { kind: 'constant', value: true };
    if (takes('FALSE')) return { kind: 'constant', value: false };
    if (takes('(')) {
      const inner = either();
      if (takes(')')) return inner;
      throw broken();
    }
    const token = tokens[at];
    if (token?.kind !== 'state') throw broken();
    at++;
    return token;
  };
  const rule = either();
  if (at < tokens.length) throw broken();
  return rule;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  while (text.slice(pattern.lastIndex).trim() !== '') {
    const from = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) throw new LocalCloudError(`the rule cannot be read from ${text.slice(from)} on.`);
    const [, state, quoted, bare, word, sign] = match;
    if (state === undefined) tokens.push({ kind: 'word', text: word ?? sign ?? '' });
    else tokens.push({ kind: 'state', state: stateOf(state), alarm: quoted ?? bare ?? '' });
  }
  return tokens;
}

const stateOf = (text: string): AlarmState => (text === 'ALARM' || text === 'OK' ? text : 'INSUFFICIENT_DATA');

/** Whether the rule holds. */
export function holds(rule: Rule, stateOfAlarm: (alarm: string) => AlarmState): boolean {
  switch (rule.kind) {
    case 'constant':
      return rule.value;
    case 'state':
      return stateOfAlarm(rule.alarm) === rule.state;
    case 'not':
      return !holds(rule.operand, stateOfAlarm);
    case 'and':
      return rule.operands.every((operand) => holds(operand, stateOfAlarm));
    default:
      return rule.operands.some((operand) => holds(operand, stateOfAlarm));
  }
}

/** Names or ARNs of the alarms in a rule. */
export function alarmsIn(rule: Rule): string[] {
  switch (rule.kind) {
    case 'constant':
      return [];
    case 'state':
      return [rule.alarm];
    case 'not':
      return alarmsIn(rule.operand);
    default:
      return rule.operands.flatMap(alarmsIn);
  }
}
