import createFetchClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

export type Submission = components['schemas']['Submission'];

/** Every call of the API, typed by its OpenAPI document: `client.GET('/v1/submissions/{id}', …)`. */
export type ApiClient = Client<paths>;

/**
 * A client of the API.
 *
 * @param baseUrl - Where the paths begin: `https://host/stage`
 * @param apiKey - Sent with every call; never part of an error
 */
export const createApiClient = (baseUrl: string, apiKey: string): ApiClient =>
  createFetchClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });
