import { addressFromBytes, type Address } from '@causeway/base/address/address';

/** The hardware address that a machine on the link announces for an IP address. */
export interface NeighbourBinding {
  readonly address: Address;
  readonly hardware: string;
}

const arp = { ethernet: 1, ipv4: 0x0800, size: 28, sender: 8, senderAddress: 14 } as const;

/** The sender's binding in an ARP request or reply. Undefined if the sender has no address yet. */
export function parseArp(bytes: Buffer): NeighbourBinding | undefined {
  if (bytes.length < arp.size) return undefined;
  if (bytes.readUInt16BE(0) !== arp.ethernet || bytes.readUInt16BE(2) !== arp.ipv4)
    return undefined;
  const address = bytes.subarray(arp.senderAddress, arp.senderAddress + 4);
  if (address.every((byte) => byte === 0)) return undefined;
  return {
    address: addressFromBytes(address),
    hardware: formatHardware(bytes.subarray(arp.sender, arp.sender + 6)),
  };
}

const advertisement = { type: 136, target: 8, options: 24, linkLayer: 2 } as const;

/** The binding in an IPv6 neighbor advertisement. Undefined if it has no hardware address. */
export function parseAdvertisement(bytes: Buffer): NeighbourBinding | undefined {
  if (bytes.length < advertisement.options || bytes[0] !== advertisement.type) return undefined;
  const address = addressFromBytes(bytes.subarray(advertisement.target, advertisement.options));
  for (let at = advertisement.options; at + 8 <= bytes.length; ) {
    const size = (bytes[at + 1] ?? 0) * 8;
    if (size === 0) return undefined;
    if (bytes[at] === advertisement.linkLayer) {
      return { address, hardware: formatHardware(bytes.subarray(at + 2, at + 8)) };
    }
    at += size;
  }
  return undefined;
}

function formatHardware(bytes: Buffer): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}
