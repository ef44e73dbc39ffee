/**
 * API keys of tenants, in the tenants table of one stage: `npm run tenants -- create acme --name "nightly export"`.
 */
import { parseArgs } from 'node:util';
import { createApiKeyRegistry, type ApiKeyRegistry } from '../lambdas/adapters/dynamodb/api-keys.ts';
import { createDynamoClient } from '../lambdas/adapters/clients.ts';
import { generateKey, type ApiKey } from '../lambdas/domain/tenants/api-keys.ts';
import { SCOPES, type Scope } from '../lambdas/domain/api/request.ts';
import { InvalidDataError } from '../lambdas/domain/errors.ts';
import type { Clock, Random } from '../lambdas/domain/time.ts';
import { systemClock } from '../lambdas/runtime/clock.ts';
import { secureRandom } from '../lambdas/runtime/random.ts';
import { readCliEnvironment } from './environment.ts';
import { reportFailure, UsageError } from './usage.ts';

const USAGE = `Usage: npm run tenants -- <command> [--table NAME]

  create <tenantId> [--name TEXT] [--scopes ${SCOPES.join(',')}]   a new key of a tenant, shown once
  list [tenantId]                                     the keys there are, without the keys themselves
  rotate <keyId>                                      a second key like this one; both work until you revoke one
  revoke <keyId>                                      ends a key; it works until the authorizer's cache forgets it

The table is TenantsTableName among the outputs of the stage's data stack: give it as --table or in TENANTS_TABLE.
Credentials, AWS_REGION and AWS_ENDPOINT_URL are read from the environment; npm run local prints those to export.`;

export interface TenantsDeps {
  registry: ApiKeyRegistry;
  clock: Clock;
  random: Random;
  print: (line: string) => void;
}

/** Runs one command. Throws UsageError, or InvalidDataError for a tenant id or key id that cannot be. */
export async function runTenants(deps: TenantsDeps, args: readonly string[]): Promise<void> {
  const { positionals, name, scopes } = readArguments(args);
  const [command, subject, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Unexpected: ${rest.join(' ')}.`);
  if (command === 'list') return listKeys(deps, subject);
  if (subject === undefined) throw new UsageError(command === undefined ? 'Name a command.' : `${command} what?`);
  if (command === 'create') return createKey(deps, subject, name, scopes);
  if (command === 'rotate') return rotateKey(deps, subject);
  if (command === 'revoke') return revokeKey(deps, subject);
  throw new UsageError(`There is no command ${command}.`);
}

function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { name: { type: 'string' }, scopes: { type: 'string' }, table: { type: 'string' } },
  });
  return { positionals, name: values.name, table: values.table, scopes: readScopes(values.scopes) };
}

function readScopes(text: string | undefined): Scope[] | undefined {
  if (text === undefined) return undefined;
  const wanted = text.split(',').map((scope) => scope.trim());
  const unknown = wanted.filter((name) => !SCOPES.some((scope) => scope === name));
  if (unknown.length > 0)
    throw new UsageError(`No scope is called ${unknown.join(', ')}: there are ${SCOPES.join(' and ')}.`);
  return SCOPES.filter((scope) => wanted.includes(scope));
}

async function createKey(
  { registry, clock, random, print }: TenantsDeps,
  tenantId: string,
  name: string | undefined,
  scopes: readonly Scope[] | undefined,
): Promise<void> {
  const { key, stored } = generateKey({ tenantId, name, scopes }, clock.now(), random);
  await registry.add(stored);
  print(`Key ${stored.keyId} of ${tenantId} (${stored.scopes.join(', ')}). It is shown only now:`);
  print(key);
}

async function listKeys({ registry, print }: TenantsDeps, tenantId: string | undefined): Promise<void> {
  const keys = await registry.list(tenantId);
  if (keys.length === 0) return print(tenantId === undefined ? 'There are no keys.' : `${tenantId} has no keys.`);
  for (const key of keys) print(describe(key));
}

function describe({ tenantId, keyId, scopes, createdAtMs, revokedAtMs, name }: ApiKey): string {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const end = revokedAtMs === undefined ? 'works' : `revoked ${day(revokedAtMs)}`;
  return [tenantId.padEnd(20), keyId, scopes.join(',').padEnd(11), `since ${day(createdAtMs)}`, end, name ?? '']
    .join('  ')
    .trimEnd();
}

async function rotateKey(deps: TenantsDeps, given: string): Promise<void> {
  const { tenantId, keyId, name, scopes, revokedAtMs } = await keyOf(deps, given);
  if (revokedAtMs !== undefined)
    throw new InvalidDataError(`Key ${keyId} is revoked: create a new one for ${tenantId}.`);
  await createKey(deps, tenantId, name, scopes);
  deps.print(`Key ${keyId} works as well, until you revoke it: npm run tenants -- revoke ${keyId}`);
}

async function revokeKey(deps: TenantsDeps, given: string): Promise<void> {
  const { hash, tenantId, keyId } = await keyOf(deps, given);
  await deps.registry.revoke(hash, deps.clock.now());
  deps.print(`Key ${keyId} of ${tenantId} is revoked. It stops working when the authorizer's cache forgets it.`);
}

/** @param given - the eight characters, or any beginning of a key that has them */
async function keyOf({ registry }: TenantsDeps, given: string): Promise<ApiKey> {
  const keyId = /^slk_([0-9A-Za-z]{8})/.exec(given)?.[1] ?? given;
  const found = (await registry.list()).filter((key) => key.keyId === keyId);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new InvalidDataError(
    found.length === 0
      ? `There is no key ${keyId}. A key's id are the eight characters behind slk_; list shows them.`
      : `${found.length} keys are called ${keyId}: create new ones and revoke these by hand in the table.`,
  );
}

async function main(args: readonly string[]): Promise<void> {
  if (args.length === 0 || args.includes('--help')) return console.log(USAGE);
  const table = readArguments(args).table ?? readCliEnvironment().tenantsTable;
  if (table === undefined)
    throw new UsageError('Name the tenants table: --table NAME, or TENANTS_TABLE in the environment.');
  const client = createDynamoClient();
  const registry = createApiKeyRegistry(client, table, systemClock);
  try {
    await runTenants({ registry, clock: systemClock, random: secureRandom, print: console.log }, args);
  } finally {
    client.destroy();
  }
}

if (import.meta.main) await main(process.argv.slice(2)).catch((error: unknown) => reportFailure(error, USAGE));
