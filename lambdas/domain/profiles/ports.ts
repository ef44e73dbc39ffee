import type { Profile } from './profile.ts';

/** A version of a profile. It never changes. */
export interface StoredProfile {
  name: string;
  /** 1 for the first one. */
  version: number;
  profile: Profile;
  createdAtMs: number;
}

/** The profiles of tenants. All methods throw DependencyUnavailableError. */
export interface ProfileStore {
  /** Adds a version; the newest one where it says the same. Versions of a deleted profile go on counting. */
  put(tenantId: string, name: string, profile: Profile, nowMs: number): Promise<StoredProfile>;
  /** A version, or the newest one; undefined where there is none, or the profile was deleted. */
  get(tenantId: string, name: string, version?: number): Promise<StoredProfile | undefined>;
  /** The newest version of each, by name. */
  list(tenantId: string): Promise<{ name: string; version: number; updatedAtMs: number }[]>;
  /** Answers whether there was one. */
  remove(tenantId: string, name: string): Promise<boolean>;
}
