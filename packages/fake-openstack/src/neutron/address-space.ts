import {
  addressFromInteger,
  addressToInteger,
  parseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import {
  lastAddress,
  parsePrefix,
  prefixContains,
  prefixFamily,
  type Prefix,
} from '@causeway/base/address/prefix';
import type { AllocationPool } from './rows.ts';

/** The allocated addresses of a subnet. */
export class AddressSpace {
  readonly prefix: Prefix;
  private readonly family: Family;
  private readonly taken = new Set<Address>();
  private pools: readonly { first: bigint; last: bigint }[] = [];
  /** All pool addresses below this one are allocated. */
  private lowest = 0n;

  constructor(cidr: string, pools: readonly AllocationPool[]) {
    this.prefix = parsePrefix(cidr);
    this.family = prefixFamily(this.prefix);
    this.setPools(pools);
  }

  setPools(pools: readonly AllocationPool[]): void {
    this.pools = pools
      .map((pool) => ({
        first: addressToInteger(parseAddress(pool.start)),
        last: addressToInteger(parseAddress(pool.end)),
      }))
      .sort((left, right) => (left.first < right.first ? -1 : 1));
    this.lowest = this.pools[0]?.first ?? 0n;
  }

  /** Allocates the lowest free address of the pools. */
  takeNext(): Address | undefined {
    for (const { first, last } of this.pools) {
      for (let value = this.lowest > first ? this.lowest : first; value <= last; value += 1n) {
        const candidate = addressFromInteger(value, this.family);
        if (this.taken.has(candidate)) continue;
        this.taken.add(candidate);
        this.lowest = value + 1n;
        return candidate;
      }
    }
    return undefined;
  }

  /** Allocates this address, inside or outside of the pools. Returns false if it is already allocated. */
  take(address: Address): boolean {
    if (this.taken.has(address)) return false;
    this.taken.add(address);
    return true;
  }

  release(address: Address): void {
    if (!this.taken.delete(address)) return;
    const value = addressToInteger(address);
    if (value < this.lowest) this.lowest = value;
  }

  /**
   * Whether a Neutron port can use the address: within the network, and neither its broadcast nor its network
   * address.
   */
  isUsable(address: Address): boolean {
    if (!prefixContains(this.prefix, address)) return false;
    if (this.family === 6 || this.prefix.length >= 31) return true;
    return address !== this.prefix.address && address !== lastAddress(this.prefix);
  }

  get used(): number {
    return this.taken.size;
  }
}

/** The address that a host derives from its MAC address (RFC 4291, appendix A). */
export function slaacAddress(prefix: Prefix, mac: string): Address {
  const bytes = mac.split(':').map((part) => Number.parseInt(part, 16));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = bytes;
  const identifier = [a ^ 2, b, c, 0xff, 0xfe, d, e, f].reduce(
    (value, byte) => (value << 8n) | BigInt(byte),
    0n,
  );
  return addressFromInteger(addressToInteger(prefix.address) | identifier, 6);
}

/** The default pools of a subnet: all addresses except the gateway. */
export function defaultPools(prefix: Prefix, gateway: string | null): AllocationPool[] {
  const family = prefixFamily(prefix);
  const network = addressToInteger(prefix.address);
  const end = addressToInteger(lastAddress(prefix));
  const hasBroadcast = family === 4 && prefix.length < 31;
  const first = family === 4 && prefix.length >= 31 ? network : network + 1n;
  const last = hasBroadcast ? end - 1n : end;
  const format = (value: bigint) => addressFromInteger(value, family);
  const skip = gateway === null ? undefined : addressToInteger(parseAddress(gateway));
  if (skip === undefined || skip < first || skip > last) {
    return [{ start: format(first), end: format(last) }];
  }
  return [
    { start: first, end: skip - 1n },
    { start: skip + 1n, end: last },
  ]
    .filter(({ start, end: poolEnd }) => start <= poolEnd)
    .map(({ start, end: poolEnd }) => ({ start: format(start), end: format(poolEnd) }));
}
