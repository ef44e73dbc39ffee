import { BlockList, isIP } from 'node:net';

/**
 * Special-purpose IPv4 blocks (https://www.iana.org/assignments/iana-ipv4-special-registry): private, loopback, link-local (where
 * Lambda and EC2 answer for credentials), shared, documentation, benchmarking, multicast and reserved.
 */
const SPECIAL_IPV4: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** The only IPv6 block of public addresses, https://www.iana.org/assignments/ipv6-address-space. */
const PUBLIC_IPV6: readonly [network: string, prefix: number] = ['2000::', 3];

/**
 * Special blocks inside of it (https://www.iana.org/assignments/iana-ipv6-special-registry): protocol assignments with Teredo,
 * documentation, and 6to4, which leads to any IPv4 address.
 */
const SPECIAL_IPV6: readonly [network: string, prefix: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const refused4 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV4) refused4.addSubnet(network, prefix, 'ipv4');
const refused6 = new BlockList();
for (const [network, prefix] of SPECIAL_IPV6) refused6.addSubnet(network, prefix, 'ipv6');
const allowed6 = new BlockList();
allowed6.addSubnet(...PUBLIC_IPV6, 'ipv6');

/** True for an IP address that anyone on the internet can reach. False for everything else, names among it. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refused4.check(address, 'ipv4');
    case 6:
      return allowed6.check(address, 'ipv6') && !refused6.check(address, 'ipv6');
    default:
      return false;
  }
}
