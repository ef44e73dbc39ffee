import { createHash, timingSafeEqual } from 'node:crypto';
import { SCOPES, type Scope } from '../api/request.ts';
import { InvalidDataError } from '../errors.ts';
import type { Random } from '../time.ts';

/** An API key as it is stored: never the key itself. Times in epoch milliseconds. */
export interface ApiKey {
  /** SHA-256 (hex) of the whole key. */
  hash: string;
  /** The key's first part, which names it for support without giving it away. */
  keyId: string;
  tenantId: string;
  scopes: readonly Scope[];
  createdAtMs: number;
  revokedAtMs?: number;
  /** What it is for, in the tenant's words. */
  name?: string;
}

/** Where keys are kept. Methods may throw DependencyUnavailableError. */
export interface ApiKeyStore {
  /** Consistent read by hash. */
  find(hash: string): Promise<ApiKey | undefined>;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 8;
/** 43 of 62 characters: 256 bits. */
const SECRET_LENGTH = 43;
const KEY = /^slk_([0-9A-Za-z]{8})_[0-9A-Za-z]{32,64}$/;
const BEARER = /^bearer +(\S+)$/i;

/** Tenant ids become parts of object keys and of names in tables. */
const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const isTenantId = (text: string): boolean => TENANT_ID.test(text);

export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex');

const randomText = (length: number, random: Random): string =>
  Array.from({ length }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('');

export interface NewKey {
  tenantId: string;
  scopes?: readonly Scope[] | undefined;
  name?: string | undefined;
}

/**
 * Makes a key. It is shown once; `stored` cannot give it back.
 *
 * @param random - must be a cryptographic source
 * @throws InvalidDataError for a tenant id that is not usable
 */
export function generateKey(
  { tenantId, scopes = SCOPES, name }: NewKey,
  nowMs: number,
  random: Random,
): { key: string; stored: ApiKey } {
  if (!isTenantId(tenantId)) {
    throw new InvalidDataError(
      `${JSON.stringify(tenantId)} cannot be a tenant's id: use up to 63 lower-case letters, digits and hyphens, a letter or digit first.`,
    );
  }
  const keyId = randomText(ID_LENGTH, random);
  const key = `slk_${keyId}_${randomText(SECRET_LENGTH, random)}`;
  const stored = { hash: hashOfKey(key), keyId, tenantId, scopes, createdAtMs: nowMs };
  return { key, stored: name === undefined ? stored : { ...stored, name } };
}

/** The key in an `Authorization` header; undefined for what cannot be one of ours, which is not worth a look-up. */
export function keyOfHeader(authorization: string): string | undefined {
  const key = BEARER.exec(authorization.trim())?.[1];
  return key !== undefined && KEY.test(key) ? key : undefined;
}

/** The stored key behind an `Authorization` header; undefined when nobody may come in by it. */
export async function authenticate(store: ApiKeyStore, authorization: string): Promise<ApiKey | undefined> {
  const key = keyOfHeader(authorization);
  if (key === undefined) return undefined;
  const hash = hashOfKey(key);
  const stored = await store.find(hash);
  // The look-up is by hash; the comparison makes sure that it was exact, in a time that tells nothing.
  if (stored === undefined || !isSame(stored.hash, hash)) return undefined;
  return stored.revokedAtMs === undefined ? stored : undefined;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
