import { InvalidDataError } from '../errors.ts';
import type { JsonTemplate, ProviderConfig } from './config.ts';

/** What is sent to a provider for one record, without the credential. */
export interface ProviderRequest {
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** JSON. */
  body?: string;
}

/** The request to a provider for one record, or why there is none. */
export type PreparedRequest =
  | ({ kind: 'request' } & ProviderRequest)
  /** The record lacks a lookup field: no call is made. */
  | { kind: 'not_applicable' }
  /** A lookup field holds what no request can be made from. */
  | { kind: 'unusable'; field: string };

export type RequestBuilder = (fields: Readonly<Record<string, unknown>>) => PreparedRequest;

/** Servers and proxies commonly refuse request lines beyond 8 KiB; no lookup key comes near this. */
const MAX_ENCODED_LENGTH = 2_000;
const PLACEHOLDER = /\{([^{}]*)\}/g;
/** RFC 9110, 5.5: what a header can carry unharmed. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;

/** Fields of the record that a template names. */
export function placeholdersOf(template: JsonTemplate | undefined): string[] {
  if (typeof template === 'string') return [...template.matchAll(PLACEHOLDER)].map(([, field = '']) => field);
  if (typeof template !== 'object' || template === null) return [];
  return Object.values(template).flatMap((part: JsonTemplate) => placeholdersOf(part));
}

/**
 * Prepares the requests of a provider: its templates, filled from a record's lookup fields.
 *
 * @throws InvalidDataError when a template uses a field that `lookup` does not list: it could be empty in a request.
 */
export function createRequestBuilder(config: ProviderConfig): RequestBuilder {
  const { name, baseUrl, path, query = {}, headers, body, lookup } = config;
  for (const [part, template] of Object.entries({ path, query, headers, body })) {
    const unknown = placeholdersOf(template).find((field) => !lookup.includes(field));
    if (unknown === undefined) continue;
    throw new InvalidDataError(
      `The ${part} of provider "${name}" uses {${unknown}}: add "${unknown}" to its lookup fields.`,
    );
  }
  const base = baseUrl.replace(/\/+$/, '');
  const inHeaders = placeholdersOf(headers);
  return (fields) => {
    const values = new Map(lookup.map((field) => [field, textOf(fields[field])]));
    if ([...values.values()].includes('')) return { kind: 'not_applicable' };
    const encoded = new Map([...values].map(([field, value]) => [field, encode(value)]));
    const unusable =
      [...encoded].find(([, value]) => value === undefined)?.[0] ??
      inHeaders.find((field) => !HEADER_VALUE.test(values.get(field) ?? ''));
    if (unusable !== undefined) return { kind: 'unusable', field: unusable };
    const inUrl = (template: string): string => fill(template, (field) => encoded.get(field) ?? '');
    const asIs = (template: string): string => fill(template, (field) => values.get(field) ?? '');
    const parameters = Object.entries(query).map(([key, value]) => `${encodeURIComponent(key)}=${inUrl(value)}`);
    return {
      kind: 'request',
      url: base + inUrl(path) + (parameters.length > 0 ? `?${parameters.join('&')}` : ''),
      ...(headers && { headers: Object.fromEntries(Object.entries(headers).map(([key, text]) => [key, asIs(text)])) }),
      ...(body !== undefined && { body: JSON.stringify(fillJson(body, asIs)) }),
    };
  };
}

const fill = (template: string, valueOf: (field: string) => string): string =>
  template.replaceAll(PLACEHOLDER, (_, field: string) => valueOf(field));

function fillJson(template: JsonTemplate, asIs: (text: string) => string): unknown {
  if (typeof template === 'string') return asIs(template);
  if (Array.isArray(template)) return template.map((part: JsonTemplate) => fillJson(part, asIs));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, part]: [string, JsonTemplate]) => [key, fillJson(part, asIs)]),
  );
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
