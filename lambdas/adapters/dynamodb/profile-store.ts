import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { DependencyUnavailableError } from '../../domain/errors.ts';
import type { ProfileStore, StoredProfile } from '../../domain/profiles/ports.ts';
import { profileSchema } from '../../domain/profiles/profile.ts';
import type { Clock } from '../../domain/time.ts';
import { DynamoTable, parseItem, type Key } from './dynamo.ts';
import { expr } from './expression.ts';

const HEAD = 'profile#';
/** Versions that others may have added meanwhile before a caller is told to come back. */
const MAX_ROUNDS = 10;

const partition = (tenantId: string): string => `profiles#${tenantId}`;
const headKey = (tenantId: string, name: string): Key => ({
  submissionId: partition(tenantId),
  part: `${HEAD}${name}`,
});
const versionKey = (tenantId: string, name: string, version: number): Key => ({
  submissionId: partition(tenantId),
  part: `version#${name}#${version}`,
});

const headSchema = v.object({
  part: v.pipe(v.string(), v.startsWith(HEAD)),
  version: v.number(),
  updatedAtMs: v.number(),
  deleted: v.optional(v.boolean(), false),
});
const versionSchema = v.object({
  profile: v.pipe(v.string(), v.parseJson(), profileSchema),
  createdAtMs: v.number(),
});

/** Profiles in the submissions table: an item for each version, and one by name that has the number of the newest. */
export function createProfileStore(client: DynamoDBDocumentClient, tableName: string, clock: Clock): ProfileStore {
  const table = new DynamoTable(client, tableName, clock);

  const headOf = async (tenantId: string, name: string) => {
    const item = await table.get(headKey(tenantId, name));
    return item && parseItem(headSchema, item, `profile ${name}`);
  };
  const versionOf = async (tenantId: string, name: string, version: number): Promise<StoredProfile | undefined> => {
    const item = await table.get(versionKey(tenantId, name, version));
    if (item === undefined) return undefined;
    return { name, version, ...parseItem(versionSchema, item, `version ${version} of profile ${name}`) };
  };

  return {
    async put(tenantId, name, profile, nowMs) {
      const head = await headOf(tenantId, name);
      const newest = head && !head.deleted ? await versionOf(tenantId, name, head.version) : undefined;
      if (newest && isDeepStrictEqual(newest.profile, profile)) return newest;
      const first = (head?.version ?? 0) + 1;
      // A version that is there already is of another caller, or of one that died before it had changed the head.
      for (let version = first; version < first + MAX_ROUNDS; version++) {
        const item = { profile: JSON.stringify(profile), createdAtMs: nowMs };
        const added = await table.put(versionKey(tenantId, name, version), item, expr`attribute_not_exists(#part)`);
        if (!added.applied) continue;
        await table.update(
          headKey(tenantId, name),
          expr`SET #version = ${version}, #updatedAtMs = ${nowMs}, #deleted = ${false}`,
          expr`attribute_not_exists(#version) OR #version < ${version}`,
        );
        return { name, version, profile, createdAtMs: nowMs };
      }
      throw new DependencyUnavailableError(`${MAX_ROUNDS} versions of profile ${name} were added meanwhile.`);
    },

    async get(tenantId, name, version) {
      const head = await headOf(tenantId, name);
      if (head === undefined || head.deleted || (version ?? 0) > head.version) return undefined;
      return versionOf(tenantId, name, version ?? head.version);
    },

    async list(tenantId) {
      const where = expr`#submissionId = ${partition(tenantId)} AND begins_with(#part, ${HEAD})`;
      const heads = (await table.queryAll({ where })).map((item) => parseItem(headSchema, item, 'profile'));
      return heads
        .filter(({ deleted }) => !deleted)
        .map(({ part, version, updatedAtMs }) => ({ name: part.slice(HEAD.length), version, updatedAtMs }));
    },

    async remove(tenantId, name) {
      const isThere = expr`attribute_exists(#version) AND #deleted = ${false}`;
      const { applied } = await table.update(headKey(tenantId, name), expr`SET #deleted = ${true}`, isThere);
      return applied;
    },
  };
}
