import * as v from 'valibot';
import { SluiceError } from '../lambdas/domain/errors.ts';

/** A file under `config` is not usable; the message lists every wrong field with its value and the remedy. */
export class ConfigError extends SluiceError {
  constructor(file: string, problems: readonly string[]) {
    super(`${file} is not usable:\n- ${problems.join('\n- ')}`);
  }
}

export const whole = (minimum: number, maximum: number, unit: string) => {
  const remedy = `set a whole number of ${unit} from ${minimum} to ${maximum}`;
  return v.pipe(v.number(remedy), v.integer(remedy), v.minValue(minimum, remedy), v.maxValue(maximum, remedy));
};

export const between = (minimum: number, maximum: number) => {
  const remedy = `set a number from ${minimum} to ${maximum}`;
  return v.pipe(v.number(remedy), v.minValue(minimum, remedy), v.maxValue(maximum, remedy));
};

export const matching = (pattern: RegExp, remedy: string) => v.pipe(v.string(remedy), v.regex(pattern, remedy));

export const oneOf = <const T extends readonly (string | number)[]>(values: T) =>
  v.picklist(values, `set one of ${values.join(', ')}`);

const MAX_VALUE_LENGTH = 80;

/** `limits.maxRecords is 0: set a whole number of records from 1 to 5000000` */
export function describeIssue(issue: v.BaseIssue<unknown>, owner: string): string {
  const path = v.getDotPath(issue) ?? owner;
  if (issue.type === 'strict_object') {
    return issue.expected === 'never'
      ? `${path} is not a field of ${owner}: remove it or correct its name`
      : `${path} is missing: set it`;
  }
  const value = issue.input === undefined ? 'missing' : JSON.stringify(issue.input);
  const shown = value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH)}…` : value;
  return `${path} is ${shown}: ${issue.message}`;
}
