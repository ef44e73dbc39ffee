import createFetchClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

export type Submission = components['schemas']['Submission'];
export type Results = components['schemas']['Results'];
export type Preview = components['schemas']['Preview'];
/** As `PUT /v1/profiles/{name}` takes it. */
export type Profile = components['schemas']['StoredProfile']['profile'];
export type Upload = components['schemas']['Upload'];

/** Every call of the API, typed by its OpenAPI document: `client.GET('/v1/submissions/{id}', …)`. */
export type ApiClient = Client<paths>;

/**
 * A client of the API.
 *
 * @param baseUrl - Where the paths begin: `https://host/stage`
 * @param apiKey - Sent with every call; never part of an error
 * @param send - Sends a request in the place of the built-in `fetch`
 */
export const createApiClient = (
  baseUrl: string,
  apiKey: string,
  send: (request: Request) => Promise<Response> = fetch,
): ApiClient => createFetchClient<paths>({ baseUrl, fetch: send, headers: { authorization: `Bearer ${apiKey}` } });
