const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

/**
 * True for a URL that a credential may be sent to: https, or http to this very machine (the stand-ins of the local cloud).
 * It carries no user, query or fragment: paths are appended to it.
 */
export function isSafeBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname));
}
