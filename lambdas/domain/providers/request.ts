import { InvalidDataError } from '../errors.ts';
import type { ProviderConfig } from './config.ts';

/** The request to a provider for one record, or why there is none. */
export type PreparedRequest =
  | { kind: 'request'; url: string }
  /** The record lacks a lookup field: no call is made. */
  | { kind: 'not_applicable' }
  /** A lookup field holds what no request can be made from. */
  | { kind: 'unusable'; field: string };

export type RequestBuilder = (fields: Readonly<Record<string, unknown>>) => PreparedRequest;

/** Servers and proxies commonly refuse request lines beyond 8 KiB; no lookup key comes near this. */
const MAX_ENCODED_LENGTH = 2_000;
const PLACEHOLDER = /\{([^{}]*)\}/g;

/**
 * Prepares the requests of a provider: its path, filled from a record's lookup fields.
 *
 * @throws InvalidDataError when the path uses a field that `lookup` does not list: it could be empty in a request.
 */
export function createRequestBuilder({ name, baseUrl, path, lookup }: ProviderConfig): RequestBuilder {
  for (const [, field = ''] of path.matchAll(PLACEHOLDER)) {
    if (!lookup.includes(field)) {
      throw new InvalidDataError(
        `The path of provider "${name}" uses {${field}}: add "${field}" to its lookup fields.`,
      );
    }
  }
  const base = baseUrl.replace(/\/+$/, '');
  return (fields) => {
    const values = new Map(lookup.map((field) => [field, textOf(fields[field])]));
    if ([...values.values()].includes('')) return { kind: 'not_applicable' };
    const encoded = new Map([...values].map(([field, value]) => [field, encode(value)]));
    const unusable = [...encoded].find(([, value]) => value === undefined);
    if (unusable) return { kind: 'unusable', field: unusable[0] };
    return {
      kind: 'request',
      url: base + path.replaceAll(PLACEHOLDER, (_, field: string) => encoded.get(field) ?? ''),
    };
  };
}

/** The text of a field as a lookup key: nothing but text and numbers can be one. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

/** One path segment; `undefined` for one that URLs cannot hold: a dot segment changes the path, encoded or not. */
function encode(value: string): string | undefined {
  if (value === '.' || value === '..') return undefined;
  const encoded = encodeURIComponent(value.toWellFormed());
  return encoded.length > MAX_ENCODED_LENGTH ? undefined : encoded;
}
