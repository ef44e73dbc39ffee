import { isDeepStrictEqual } from 'node:util';
import type { ProfileStore, StoredProfile } from '../../../lambdas/domain/profiles/ports.ts';

/** {@link ProfileStore} in memory. */
export function createMemoryProfiles(): ProfileStore {
  const versions = new Map<string, StoredProfile[]>();
  const deleted = new Set<string>();
  const keyOf = (tenantId: string, name: string): string => `${tenantId}/${name}`;
  return {
    async put(tenantId, name, profile, nowMs) {
      const key = keyOf(tenantId, name);
      const known = versions.get(key) ?? [];
      const newest = known.at(-1);
      if (newest && !deleted.has(key) && isDeepStrictEqual(newest.profile, profile)) return newest;
      const added = { name, version: known.length + 1, profile, createdAtMs: nowMs };
      versions.set(key, [...known, added]);
      deleted.delete(key);
      return added;
    },
    async get(tenantId, name, version) {
      const key = keyOf(tenantId, name);
      return deleted.has(key) ? undefined : versions.get(key)?.at(version === undefined ? -1 : version - 1);
    },
    async list(tenantId) {
      const own = [...versions].filter(([key]) => key.startsWith(`${tenantId}/`) && !deleted.has(key));
      return own
        .flatMap(([, all]) => all.slice(-1))
        .map(({ name, version, createdAtMs }) => ({ name, version, updatedAtMs: createdAtMs }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
    async remove(tenantId, name) {
      const key = keyOf(tenantId, name);
      const isThere = versions.has(key) && !deleted.has(key);
      deleted.add(key);
      return isThere;
    },
  };
}
