import type { TimeBudget } from '../time.ts';

/** What an API key allows. */
export const SCOPES = ['submit', 'read'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who calls, as the authorizer found out. */
export interface Caller {
  tenantId: string;
  /** Prefix of the key, which tells it apart without being secret. */
  keyId: string;
  scopes: readonly string[];
}

/** A request, independent of what brought it. */
export interface ApiRequest {
  /** Values of the placeholders in the operation's path. */
  path: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Where the paths of the API begin for this caller, without a slash at the end: `https://host/stage`. */
  baseUrl: string;
  /** Time that is left for answering. */
  budget: TimeBudget;
}

export interface ApiResponse {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body: unknown;
  /** Time that the caller asked to wait: it does not count as a slow answer. */
  waitedMs?: number;
}

/** Answers one operation. Throws ProblemError for whatever is wrong with the request. */
export type Answer = (request: ApiRequest, caller: Caller) => Promise<ApiResponse>;
/** Answers an operation that needs no key. */
export type OpenAnswer = (request: ApiRequest) => Promise<ApiResponse>;
