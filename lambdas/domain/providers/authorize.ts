import type { Auth } from './config.ts';
import type { ProviderRequest } from './request.ts';

/** A request with its credential in place. */
export function authorize(request: ProviderRequest, auth: Auth, credential: string): ProviderRequest {
  if ('query' in auth) {
    const separator = request.url.includes('?') ? '&' : '?';
    const parameter = `${encodeURIComponent(auth.query)}=${encodeURIComponent(credential)}`;
    return { ...request, url: `${request.url}${separator}${parameter}` };
  }
  const header = headerOf(auth, credential);
  return header === undefined ? request : { ...request, headers: { ...request.headers, ...header } };
}

function headerOf(auth: Exclude<Auth, { query: string }>, credential: string): Record<string, string> | undefined {
  if ('header' in auth) return { [auth.header]: `${auth.prefix}${credential}` };
  if ('basic' in auth) return { authorization: basic(credential) };
  return 'oauth2' in auth ? { authorization: `Bearer ${credential}` } : undefined;
}

/** `user:password` by the Basic scheme (RFC 7617). */
export const basic = (credential: string): string => `Basic ${Buffer.from(credential, 'utf8').toString('base64')}`;
