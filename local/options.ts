import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { LocalError } from './errors.ts';

/** Values of the command line by option name. */
export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Parses the command line.
 *
 * @param usage shown with every error
 * @throws LocalError naming the option that is not known or lacks its value
 */
export function parseOptions(args: readonly string[], options: ParseArgsOptionsConfig, usage: string): OptionValues {
  try {
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false });
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
    );
  } catch (error) {
    throw new LocalError(`${error instanceof Error ? error.message : String(error)}\n${usage}`, { cause: error });
  }
}

/** A whole number from the command line; undefined when the option was not given. */
export function wholeNumber(values: OptionValues, name: string, min: number, max: number): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new LocalError(`--${name} must be a whole number from ${min} to ${max}; it was ${String(text)}.`);
}

/** A text from the command line; undefined when the option was not given. */
export function textOption(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}
