import {
  addressFromInteger,
  addressToInteger,
  tryParseAddress,
  type Address,
} from '@causeway/base/address/address';
import {
  formatPrefix,
  prefixContains,
  prefixFamily,
  prefixSize,
  type Prefix,
} from '@causeway/base/address/prefix';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Random } from '@causeway/base/simulation/random';
import type { ObjectStore } from '../../store.ts';
import { chooseFree } from './choose-free.ts';
import { heldClusterIps, heldNodePorts, type IpFamily, type Service } from './service-type.ts';

export interface ServiceNetwork {
  /** One or two prefixes of different families. The first prefix determines the default family. */
  readonly clusterIpRanges: readonly Prefix[];
  readonly nodePorts: { readonly first: number; readonly last: number };
}

/** Maximum number of addresses used from a range, so that the choice of an address stays fast. */
const mostAddresses = 2 ** 20;

/**
 * Cluster addresses and node ports that Services have allocated. It follows the store, so a write that is
 * dropped after validation leaves no allocation. Within one write, `PendingAllocations` also tracks the write's own
 * allocations.
 */
export class ServiceAllocations {
  readonly families: readonly IpFamily[];
  readonly #network: ServiceNetwork;
  readonly #random: Random;
  readonly #holders = new Map<string, number>();

  constructor(store: ObjectStore, network: ServiceNetwork, random: Random) {
    this.#network = network;
    this.#random = random;
    this.families = network.clusterIpRanges.map((range) =>
      prefixFamily(range) === 4 ? 'IPv4' : 'IPv6',
    );
    for (const service of store.list('services')) this.#count(service as Service, 1);
    store.watch('services', store.version, ({ type, object, previous }) => {
      if (previous !== undefined) this.#count(previous as Service, -1);
      if (type !== 'DELETED') this.#count(object as Service, 1);
    });
  }

  begin(): PendingAllocations {
    return new PendingAllocations(this.#network, this.#random, this.#holders);
  }

  #count({ spec }: Service, difference: number): void {
    for (const key of [...heldClusterIps(spec), ...heldNodePorts(spec).map(String)]) {
      const count = (this.#holders.get(key) ?? 0) + difference;
      if (count === 0) this.#holders.delete(key);
      else this.#holders.set(key, count);
    }
  }
}

/** Allocations of one write, in addition to existing ones. Refusals are messages without a subject. */
export class PendingAllocations {
  readonly #network: ServiceNetwork;
  readonly #random: Random;
  readonly #held: ReadonlyMap<string, number>;
  readonly #taken = new Set<string>();

  constructor(network: ServiceNetwork, random: Random, held: ReadonlyMap<string, number>) {
    this.#network = network;
    this.#random = random;
    this.#held = held;
  }

  /** Allocates the requested address. */
  takeAddress(text: string): { readonly refusal?: string } {
    const address = tryParseAddress(text);
    const range = this.#network.clusterIpRanges.find(
      (one) => address !== undefined && isUsable(one, address),
    );
    if (range === undefined) {
      return { refusal: 'the provided network does not match the current range' };
    }
    if (this.#isTaken(text)) return { refusal: 'provided IP is already allocated' };
    this.#taken.add(text);
    return {};
  }

  /** Allocates any free address of the family. */
  chooseAddress(family: IpFamily): string {
    const range = this.#network.clusterIpRanges.find(
      (one) => prefixFamily(one) === (family === 'IPv4' ? 4 : 6),
    );
    if (range === undefined) throw new CausewayError('internal', `no ${family} range`);
    const base = addressToInteger(range.address);
    const size = Math.min(Number(prefixSize(range)), mostAddresses);
    const at = (offset: number) => addressFromInteger(base + BigInt(offset), prefixFamily(range));
    const isTaken = (offset: number) => !isUsable(range, at(offset)) || this.#isTaken(at(offset));
    const offset = chooseFree({ size, isTaken }, reservedAddresses(size), this.#random);
    if (offset === undefined) {
      throw new CausewayError('exhausted', `range ${formatPrefix(range)} is full`);
    }
    const address = at(offset);
    this.#taken.add(address);
    return address;
  }

  takePort(port: number): { readonly refusal?: string } {
    const { first, last } = this.#network.nodePorts;
    if (port < first || port > last) {
      const range = `${first}-${last}`;
      return {
        refusal: `provided port is not in the valid range. The range of valid ports is ${range}`,
      };
    }
    if (this.#isTaken(String(port))) return { refusal: 'provided port is already allocated' };
    this.#taken.add(String(port));
    return {};
  }

  choosePort(): number | undefined {
    const { first, last } = this.#network.nodePorts;
    const size = last - first + 1;
    const isTaken = (offset: number) => this.#isTaken(String(first + offset));
    const offset = chooseFree({ size, isTaken }, reservedPorts(size), this.#random);
    if (offset === undefined) return undefined;
    this.#taken.add(String(first + offset));
    return first + offset;
  }

  #isTaken(key: string): boolean {
    return this.#held.has(key) || this.#taken.has(key);
  }
}

/**
 * The first address of a range is the network address, and the last IPv4 address is the broadcast address.
 */
function isUsable(range: Prefix, address: Address): boolean {
  if (!prefixContains(range, address) || address === range.address) return false;
  const offset = addressToInteger(address) - addressToInteger(range.address);
  return prefixFamily(range) === 6 || offset < prefixSize(range) - 1n;
}

const reservedAddresses = (size: number) =>
  Math.min(Math.max(16, Math.floor(size / 16)), 256, size);

const reservedPorts = (size: number) =>
  size < 32 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
