import { readFile, writeFile } from 'node:fs/promises';
import type { ApiClient, Preview, Profile } from '../client/client.ts';
import { bodyOf } from './api.ts';
import { CommandError, EXIT, usageError, type ExitCode } from './errors.ts';

/** A name, and perhaps a version: everything else is the path of a file. */
const PROFILE_REFERENCE = /^[a-z0-9][a-z0-9_-]{0,63}(?:@\d+)?$/;

/**
 * The profile that `--profile` means: the name of a stored one, or what a JSON file says.
 *
 * @throws CommandError for a file that cannot be read or is no JSON object
 */
export async function profileOf(reference: string): Promise<Profile | string> {
  return PROFILE_REFERENCE.test(reference) ? reference : readProfile(reference);
}

async function readProfile(path: string): Promise<Profile> {
  const content = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CommandError(EXIT.failed, `${path} cannot be read: ${String(cause)}.`, { cause });
  });
  const parsed = parseJson(content);
  // What is in it is for the API to check.
  if (isObject(parsed)) return parsed;
  throw usageError(`${path} holds no profile: a JSON object is expected, as sluice preview --save writes it.`);
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Profile =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface ProfilesContext {
  client: ApiClient;
  print: (line: string) => void;
}

/** `profiles`, `profiles NAME`, `profiles put NAME FILE`, `profiles delete NAME`. */
export async function profiles({ client, print }: ProfilesContext, operands: readonly string[]): Promise<ExitCode> {
  const [verb, name, file] = operands;
  if (verb === undefined) {
    const { items } = bodyOf(await client.GET('/v1/profiles'));
    for (const item of items) print(`${item.name}@${item.version}  ${item.updatedAt}`);
    return EXIT.done;
  }
  if (verb === 'put' && name !== undefined && file !== undefined) {
    const body = await readProfile(file);
    const stored = bodyOf(await client.PUT('/v1/profiles/{name}', { params: { path: { name } }, body }));
    print(`${stored.name}@${stored.version}`);
    return EXIT.done;
  }
  if (verb === 'delete' && name !== undefined && file === undefined) {
    const last = bodyOf(await client.DELETE('/v1/profiles/{name}', { params: { path: { name } } }));
    print(`${last.name}@${last.version} is deleted; submissions that were accepted with it keep what it said.`);
    return EXIT.done;
  }
  if (name !== undefined) throw usageError('Usage: sluice profiles [NAME | put NAME FILE | delete NAME]');
  const found = bodyOf(await client.GET('/v1/profiles/{name}', { params: { path: { name: verb } } }));
  print(JSON.stringify(found.profile, null, 2));
  return EXIT.done;
}

const SHOWN_LINES = 3;
const SHOWN_RECORDS = 5;

/** A preview in words: what happens as it is, what helps, what is to be decided. */
export function tellPreview(print: (line: string) => void, preview: Preview): void {
  const { format, delimiter, headerLine, columns, asGiven, asProposed, suggestions, questions, estimate } = preview;
  const dialect =
    delimiter === undefined ? '' : `, delimited by ${JSON.stringify(delimiter)}, header on line ${headerLine}`;
  print(`${format}${dialect}; columns: ${columns.join(', ')}`);
  print(`\nAs it is: ${outcomeOf(asGiven)}`);
  tellFaults(print, asGiven);
  if (asProposed) {
    print(`\nWith the proposed profile: ${outcomeOf(asProposed)}`);
    tellFaults(print, asProposed);
    for (const { detail } of suggestions) print(`  + ${detail}`);
  }
  for (const { detail, candidates } of questions) {
    print(
      `  ? ${detail}${candidates === undefined ? '' : ` ${candidates.map((name) => JSON.stringify(name)).join(', ')}`}`,
    );
  }
  const records = (asProposed ?? asGiven).records ?? [];
  if (records.length > 0) print('\nThe first records, as they are looked up:');
  for (const { line, record, used, problems } of records.slice(0, SHOWN_RECORDS)) {
    print(`  ${line}  ${JSON.stringify(used ?? record ?? null)}${problems ? `  ✗ ${problems.join(' ')}` : ''}`);
  }
  if (!estimate) return;
  const calls = Object.entries(estimate.calls).map(([provider, count]) => `${count} of ${provider}`);
  print(
    `\n${estimate.isCounted ? '' : 'About '}${estimate.records} records; calls: ${calls.join(', ')}${estimate.cost === undefined ? '' : `; cost: ${estimate.cost}`}`,
  );
}

type Forecast = Preview['asGiven'];

function outcomeOf({ refused, examined = 0, valid = 0 }: Forecast): string {
  if (refused) return `rejected, ${refused.code}: ${refused.detail}`;
  return `${valid} of the first ${examined} records are valid`;
}

function tellFaults(print: (line: string) => void, { faults = [], warnings = [] }: Forecast): void {
  for (const { detail, count, lines } of [...faults, ...warnings].slice(0, SHOWN_LINES)) {
    print(`  ${count} × ${detail} (line ${lines.join(', ')})`);
  }
}

/** Writes the proposed profile where `--save` says. */
export async function saveProposal(path: string, { asProposed }: Preview): Promise<string> {
  if (!asProposed) return 'Nothing is proposed, so nothing was saved.';
  await writeFile(path, `${JSON.stringify(asProposed.profile, null, 2)}\n`);
  return `The proposed profile is in ${path}: sluice submit FILE --profile ${path}`;
}
