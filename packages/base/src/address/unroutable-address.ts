import { addressBytes, type Address } from './address.ts';

/**
 * Whether packets to this address never reach exactly one host: unspecified, loopback, link-local, multicast,
 * broadcast and mapped addresses.
 */
export function isUnroutable(address: Address): boolean {
  const bytes = addressBytes(address);
  return bytes.length === 4 ? isUnroutable4(bytes) : isUnroutable6(bytes);
}

function isUnroutable4(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (
    first === 0 ||
    first === 127 ||
    (first === 169 && second === 254) ||
    (first >= 224 && first < 240) ||
    bytes.every((byte) => byte === 255)
  );
}

function isUnroutable6(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  if (first === 0xff) return true;
  if (first === 0xfe && (second & 0xc0) === 0x80) return true;
  if (bytes.subarray(0, 10).some((byte) => byte !== 0)) return false;
  const isMapped = bytes[10] === 0xff && bytes[11] === 0xff;
  const isUnspecifiedOrLoopback =
    bytes.subarray(10, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1;
  return isMapped || isUnspecifiedOrLoopback;
}
