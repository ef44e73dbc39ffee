import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only IPv6 block of public addresses, https://www.iana.org/assignments/ipv6-address-space. */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** IPv6 blocks for documentation and protocol assignments that ipaddr.js calls by another name, or not at all. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '3fff::/20'].map((block) => ipaddr.IPv6.parseCIDR(block));

/** True for an IP address that anyone on the internet can reach. False for everything else, names among it. */
export function isPublicAddress(text: string): boolean {
  // ipaddr.js also reads octal, hexadecimal and shortened forms: those are no addresses here.
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return true;
  return address.match(GLOBAL_UNICAST_IPV6) && !SPECIAL_IPV6.some((block) => address.match(block));
}
