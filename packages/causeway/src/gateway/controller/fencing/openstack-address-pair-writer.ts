import type { Address } from '@causeway/base/address/address';
import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { OpenStackError } from '@causeway/openstack/error';
import { formatPrefix } from '@causeway/base/address/prefix';
import type { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Port } from '@causeway/openstack/neutron/resources';
import type { AddressPairWriter, AddressPairReport } from './address-pair-writer.ts';
import {
  changedPairs,
  examine,
  neededPrefixes,
  whatLetsThrough,
  type PairRules,
} from './address-pairs.ts';

export interface OpenStackAddressPairWriterOptions extends PairRules {
  readonly neutron: Neutron;
  /** The Neutron port of each gateway's own interface; undefined if Causeway does not manage its pairs. */
  readonly ports: ReadonlyMap<string, string | undefined>;
}

/** The number of attempts if other changes conflict. */
const attempts = 5;

/**
 * The allowed address pairs of the gateways' own ports. With port security, Neutron drops packets of a server
 * with an address that is neither its own nor in a pair.
 */
export class OpenStackAddressPairWriter implements AddressPairWriter {
  readonly #options: OpenStackAddressPairWriterOptions;
  /** The gateways' ports at the last read. */
  readonly #seen = new Map<string, Port>();

  constructor(options: OpenStackAddressPairWriterOptions) {
    this.#options = options;
  }

  get grain(): 'address' | 'gateway' {
    return this.#options.mode === 'single' ? 'address' : 'gateway';
  }

  isOpen(gateway: string, address: Address): boolean {
    if (this.#options.ports.get(gateway) === undefined) return true;
    const port = this.#seen.get(gateway);
    if (port === undefined) return false;
    if (!port.portSecurityEnabled) return true;
    const present = new Set(port.allowedAddressPairs.map(({ prefix }) => formatPrefix(prefix)));
    return neededPrefixes(this.#options, [address]).every((prefix) =>
      present.has(formatPrefix(prefix)),
    );
  }

  canShut(gateway: string): boolean {
    return this.#seen.get(gateway)?.portSecurityEnabled === true;
  }

  async inspect(signal: AbortSignal): Promise<readonly AddressPairReport[]> {
    const reports: AddressPairReport[] = [];
    for (const [gateway, portId] of this.#options.ports) {
      const port = portId === undefined ? undefined : await this.#readPort(gateway, portId, signal);
      reports.push(examine(gateway, portId, port, this.#options));
    }
    return reports;
  }

  open(gateway: string, addresses: Iterable<Address>, signal: AbortSignal): Promise<void> {
    return this.#change(gateway, addresses, 'add', signal);
  }

  shut(gateway: string, addresses: Iterable<Address>, signal: AbortSignal): Promise<void> {
    return this.#change(gateway, addresses, 'remove', signal);
  }

  leftOpen(gateway: string, addresses: Iterable<Address>): string | undefined {
    const port = this.#seen.get(gateway);
    return port === undefined ? undefined : whatLetsThrough(port, addresses);
  }

  async #change(
    gateway: string,
    addresses: Iterable<Address>,
    change: 'add' | 'remove',
    signal: AbortSignal,
  ): Promise<void> {
    const portId = this.#options.ports.get(gateway);
    if (portId === undefined) return;
    const all = [...addresses];
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#changePairs(gateway, portId, all, change, signal);
      } catch (error) {
        // The port has changed since the last read, or an own answer was lost: read it again.
        const isStale = error instanceof OpenStackError && error.status === 412;
        if (!isStale || attempt === attempts) throw error;
      }
    }
  }

  /**
   * Neutron replaces the list of pairs as a whole, so concurrent changes of other programs must not be lost.
   */
  async #changePairs(
    gateway: string,
    portId: string,
    addresses: readonly Address[],
    change: 'add' | 'remove',
    signal: AbortSignal,
  ): Promise<void> {
    const { neutron, limit } = this.#options;
    const port = await this.#readPort(gateway, portId, signal);
    if (port === undefined || !port.portSecurityEnabled) return;
    const prefixes = neededPrefixes(this.#options, addresses);
    const pairs = changedPairs(port.allowedAddressPairs, prefixes, change);
    if (pairs === undefined) return;
    // New pairs are last, so as many as fit are added.
    const fitting = change === 'add' ? pairs.slice(0, limit) : pairs;
    if (change === 'remove' || fitting.length > port.allowedAddressPairs.length) {
      const allowedAddressPairs = fitting;
      const call = { signal, ifRevision: port.revision };
      this.#seen.set(gateway, await neutron.ports.update(portId, { allowedAddressPairs }, call));
    }
    if (fitting.length === pairs.length) return;
    throw new CausewayError(
      'exhausted',
      `the gateway ${gateway} would need ${pairs.length} address pairs on its port, and Neutron takes ${limit}`,
      { hint: 'Set gateway.addressPairs.mode to network: one pair then covers all addresses.' },
    );
  }

  async #readPort(gateway: string, portId: string, signal: AbortSignal): Promise<Port | undefined> {
    try {
      const port = await this.#options.neutron.ports.get(portId, { signal });
      this.#seen.set(gateway, port);
      return port;
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      this.#seen.delete(gateway);
      return undefined;
    }
  }
}
