import { addressBytes } from '@causeway/base/address/address';
import type { Protocol } from '@causeway/base/address/port';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';

/**
 * The properties of a packet that the holder uses. Keys consist of the packet's bytes and are only compared.
 */
export interface PacketSummary {
  /** The same for all packets to one address, protocol and port. */
  readonly target: string;
  /** The same for all packets of one connection or exchange. */
  readonly flow: string;
  /** Of a stream only the newest first packet is kept; of datagrams each. */
  readonly isStream: boolean;
}

const tcp = 6;
const udp = 17;
const protocolNumbers: Readonly<Record<Protocol, number>> = { TCP: tcp, UDP: udp, SCTP: 132 };
/** IPv6 extension headers before the transport header: hop by hop, routing, destination options. */
const skippedHeaders = new Set([0, 43, 60]);

interface Layout {
  readonly version: 4 | 6;
  readonly protocol: number;
  readonly addressesAt: number;
  readonly addressLength: number;
  readonly transportAt: number;
}

/** Undefined for anything but a complete TCP or UDP packet; only those can be held. */
export function summarize(packet: Buffer): PacketSummary | undefined {
  const layout = layoutOf(packet);
  if (layout === undefined) return undefined;
  const { protocol, addressesAt, addressLength, transportAt } = layout;
  const destinationAt = addressesAt + addressLength;
  const target = targetKey(
    packet.toString('latin1', destinationAt, destinationAt + addressLength),
    protocol,
    packet.toString('latin1', transportAt + 2, transportAt + 4),
  );
  const source = packet.toString('latin1', addressesAt, destinationAt);
  const sourcePort = packet.toString('latin1', transportAt, transportAt + 2);
  return { target, flow: `${source}${sourcePort}${target}`, isStream: protocol === tcp };
}

/** The `target` of packets to this service. */
export function targetOf({ address, protocol, port }: VirtualService): string {
  const destination = Buffer.from(addressBytes(address)).toString('latin1');
  const number = String.fromCharCode(port >> 8, port & 0xff);
  return targetKey(destination, protocolNumbers[protocol], number);
}

function targetKey(destination: string, protocol: number, port: string): string {
  return `${destination}${String.fromCharCode(protocol)}${port}`;
}

function layoutOf(packet: Buffer): Layout | undefined {
  const version = (packet[0] ?? 0) >> 4;
  if (version === 4) return layoutOf4(packet);
  return version === 6 ? layoutOf6(packet) : undefined;
}

function layoutOf4(packet: Buffer): Layout | undefined {
  if (packet.length < 20) return undefined;
  const headerLength = ((packet[0] ?? 0) & 0xf) * 4;
  const isFragment = (packet.readUInt16BE(6) & 0x3fff) !== 0;
  if (headerLength < 20 || isFragment) return undefined;
  const protocol = packet[9] ?? 0;
  const layout = { version: 4, protocol, addressesAt: 12, addressLength: 4 } as const;
  return whole(packet, { ...layout, transportAt: headerLength });
}

function layoutOf6(packet: Buffer): Layout | undefined {
  if (packet.length < 40) return undefined;
  let protocol = packet[6] ?? 0;
  let at = 40;
  for (let steps = 0; skippedHeaders.has(protocol) && steps < 8; steps += 1) {
    if (at + 8 > packet.length) return undefined;
    protocol = packet[at] ?? 0;
    at += ((packet[at + 1] ?? 0) + 1) * 8;
  }
  const layout = { version: 6, protocol, addressesAt: 8, addressLength: 16 } as const;
  return whole(packet, { ...layout, transportAt: at });
}

function whole(packet: Buffer, layout: Layout): Layout | undefined {
  const least = layout.protocol === tcp ? 20 : layout.protocol === udp ? 8 : undefined;
  if (least === undefined || packet.length < layout.transportAt + least) return undefined;
  return layout;
}

/**
 * Recomputes the checksums in place. Packets of local programs are logged before the network card fills them
 * in.
 */
export function fillChecksums(packet: Buffer): void {
  const layout = layoutOf(packet);
  if (layout === undefined) return;
  const { version, protocol, addressesAt, addressLength, transportAt } = layout;
  if (version === 4) {
    packet.writeUInt16BE(0, 10);
    packet.writeUInt16BE(complement(sum(packet, 0, transportAt, 0)), 10);
  }
  const checksumAt = transportAt + (protocol === tcp ? 16 : 6);
  // The UDP checksum is optional over IPv4.
  if (protocol === udp && version === 4 && packet.readUInt16BE(checksumAt) === 0) return;
  packet.writeUInt16BE(0, checksumAt);
  const pseudo = sum(
    packet,
    addressesAt,
    addressesAt + 2 * addressLength,
    protocol + packet.length - transportAt,
  );
  const checksum = complement(sum(packet, transportAt, packet.length, pseudo));
  packet.writeUInt16BE(checksum === 0 && protocol === udp ? 0xffff : checksum, checksumAt);
}

function sum(packet: Buffer, from: number, to: number, start: number): number {
  let total = start;
  let at = from;
  for (; at + 1 < to; at += 2) total += packet.readUInt16BE(at);
  if (at < to) total += (packet[at] ?? 0) << 8;
  return total;
}

function complement(total: number): number {
  let folded = total;
  while (folded > 0xffff) folded = (folded & 0xffff) + Math.floor(folded / 0x10000);
  return ~folded & 0xffff;
}
