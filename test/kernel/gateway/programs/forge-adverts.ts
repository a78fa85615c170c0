// Sends VRRP adverts with forged headers every 50 ms until it is ended. Run as:
//
// node forge-adverts.ts TTL SOURCE DESTINATION ROUTER-ID NAMED-ADDRESS [SOURCE DESTINATION ...]
//
// Each group of four makes one stream of adverts. Prints "sending" after the first round.

import { isIPv6 } from 'node:net';
import koffi from 'koffi';
import { addressBytes, parseAddress } from '../../../../packages/base/src/address/address.ts';

const libc = koffi.load(null);
const socketCall = libc.func('int socket(int domain, int type, int protocol)') as (
  domain: number,
  type: number,
  protocol: number,
) => number;
const sendCall = libc.func(
  'int64_t sendto(int fd, void *data, size_t length, int flags, void *address, int addressLength)',
) as (
  fd: number,
  data: Buffer,
  length: number,
  flags: number,
  address: Buffer,
  addressLength: number,
) => number;

const inet = 2;
const inet6 = 10;
const rawSocket = 3;
/** The sender writes the IP header itself. */
const headerIncluded = 255;
const vrrpProtocol = 112;
/** Higher than any priority that a gateway can have. */
const highestPriority = 255;
const everyMs = 50;

const [ttl = '255', ...words] = process.argv.slice(2);
const sockets = {
  4: socketCall(inet, rawSocket, headerIncluded),
  6: socketCall(inet6, rawSocket, headerIncluded),
};
if (sockets[4] < 0 || sockets[6] < 0) throw new Error("a raw socket can't be opened");

const streams = Array.from({ length: words.length / 4 }, (_, index) => {
  const [source = '', destination = '', routerId = '', named = ''] = words.slice(index * 4);
  const packet = advert(source, destination, Number(routerId), named);
  return { packet, family: isIPv6(destination) ? 6 : 4, to: socketAddress(destination) } as const;
});

function send(): void {
  for (const { packet, family, to } of streams) {
    sendCall(sockets[family], packet, packet.length, 0, to, to.length);
  }
}

function advert(source: string, destination: string, routerId: number, named: string): Buffer {
  const ends = Buffer.concat([source, destination].map((each) => addressBytes(parseAddress(each))));
  const body = Buffer.concat([
    Buffer.of(0x31, routerId, highestPriority, 1, 0, 10, 0, 0),
    addressBytes(parseAddress(named)),
  ]);
  const pseudoHeader = isIPv6(source)
    ? Buffer.concat([ends, Buffer.of(0, 0, 0, body.length, 0, 0, 0, vrrpProtocol)])
    : Buffer.concat([ends, Buffer.of(0, vrrpProtocol, 0, body.length)]);
  body.writeUInt16BE(checksum(Buffer.concat([pseudoHeader, body])), 6);
  // The kernel fills in the length and the checksum of an IPv4 header.
  const header = isIPv6(source)
    ? Buffer.of(0x60, 0, 0, 0, 0, body.length, vrrpProtocol, Number(ttl))
    : Buffer.of(0x45, 0xc0, 0, 0, 0, 0, 0, 0, Number(ttl), vrrpProtocol, 0, 0);
  return Buffer.concat([header, ends, body]);
}

function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function socketAddress(text: string): Buffer {
  const bytes = addressBytes(parseAddress(text));
  const family = Buffer.alloc(2);
  family.writeUInt16LE(isIPv6(text) ? inet6 : inet);
  return isIPv6(text)
    ? Buffer.concat([family, Buffer.alloc(6), bytes, Buffer.alloc(4)])
    : Buffer.concat([family, Buffer.alloc(2), bytes, Buffer.alloc(8)]);
}

send();
process.stdout.write('sending\n');
setInterval(send, everyMs);
