import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CommandError, EXIT, usageError } from './errors.ts';

/** Where the API is, and the key for it. */
export interface Settings {
  url: string;
  key: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `$XDG_CONFIG_HOME/sluice/config.json`, usually below `~/.config`. */
export const defaultConfigFile = (environment: Environment): string =>
  join(environment['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'sluice', 'config.json');

/**
 * Reads URL and key: an option goes before the environment (`SLUICE_URL`, `SLUICE_KEY`), the environment before the configuration file.
 *
 * @throws CommandError that names what is missing, and where it can be set; the key is never part of it
 */
export async function readSettings(
  options: { url: string | undefined; config: string | undefined },
  environment: Environment,
): Promise<Settings> {
  const path = options.config ?? defaultConfigFile(environment);
  const file = await readConfigFile(path, options.config !== undefined);
  const url = options.url ?? (environment['SLUICE_URL'] || file.url);
  const key = (environment['SLUICE_KEY'] || file.key)?.trim();
  const places = (variable: string, member: string): string =>
    `set the variable ${variable}, or "${member}" in ${path}`;
  if (url === undefined) throw usageError(`The URL of the API is missing: give --url, ${places('SLUICE_URL', 'url')}.`);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw usageError(`The URL of the API is "${url}": give it like https://host/stage.`);
  }
  if (!key) throw new CommandError(EXIT.unauthorized, `The API key is missing: ${places('SLUICE_KEY', 'key')}.`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandError(
      EXIT.unauthorized,
      `The API key has characters that no key has: ${places('SLUICE_KEY', 'key')}.`,
    );
  }
  return { url: url.replace(/\/+$/, ''), key };
}

async function readConfigFile(path: string, isRequired: boolean): Promise<Partial<Settings>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (isRequired) throw usageError(`The configuration file ${path} cannot be read: ${reasonOf(cause)}.`);
    return {};
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own sentence quotes what it read: the key may be part of it.
    throw usageError(`The configuration file ${path} is not JSON: write {"url": "https://…", "key": "slk_…"}.`);
  }
  const member = (name: string): string | undefined => {
    const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    return typeof found === 'string' ? found : undefined;
  };
  const [url, key] = [member('url'), member('key')];
  return { ...(url !== undefined && { url }), ...(key !== undefined && { key }) };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
