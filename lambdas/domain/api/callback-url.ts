/** Names that lead into a network instead of out of it. */
const INTERNAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|arpa)\.?$/;

/** An IPv4 address as URL parsers write it, whatever form it came in. */
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/**
 * True for an https URL of a host that may be public: a name, not an address. What the name leads to is checked again when the
 * callback connects, since only that counts.
 */
export function isCallbackUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  const { hostname } = url;
  if (IPV4.test(hostname) || hostname.startsWith('[')) return false;
  return hostname.includes('.') && !INTERNAL_NAMES.test(hostname);
}
