import { addressBytes, parseAddress } from '@causeway/base/address/address';

export interface PacketParts {
  readonly from: string;
  readonly fromPort: number;
  readonly to: string;
  readonly toPort: number;
}

/** The first packet of a connection, without checksums. */
export function syn4(parts: PacketParts): Buffer {
  const packet = header4(parts, 6, 20);
  ports(packet, 20, parts);
  packet[32] = 5 << 4;
  packet[33] = 2;
  return packet;
}

export function datagram4(parts: PacketParts, text: string): Buffer {
  const packet = header4(parts, 17, 8 + text.length);
  ports(packet, 20, parts);
  packet.writeUInt16BE(8 + text.length, 24);
  packet.write(text, 28);
  return packet;
}

export function syn6(parts: PacketParts, hasOptions = false): Buffer {
  const optionsLength = hasOptions ? 8 : 0;
  const packet = Buffer.alloc(40 + optionsLength + 20);
  packet[0] = 6 << 4;
  packet.writeUInt16BE(packet.length - 40, 4);
  packet[6] = hasOptions ? 60 : 6;
  if (hasOptions) packet[40] = 6;
  packet.set(addressBytes(parseAddress(parts.from)), 8);
  packet.set(addressBytes(parseAddress(parts.to)), 24);
  ports(packet, 40 + optionsLength, parts);
  return packet;
}

function header4(parts: PacketParts, protocol: number, length: number): Buffer {
  const packet = Buffer.alloc(20 + length);
  packet[0] = 0x45;
  packet.writeUInt16BE(packet.length, 2);
  packet[8] = 64;
  packet[9] = protocol;
  packet.set(addressBytes(parseAddress(parts.from)), 12);
  packet.set(addressBytes(parseAddress(parts.to)), 16);
  return packet;
}

function ports(packet: Buffer, at: number, { fromPort, toPort }: PacketParts): void {
  packet.writeUInt16BE(fromPort, at);
  packet.writeUInt16BE(toPort, at + 2);
}
