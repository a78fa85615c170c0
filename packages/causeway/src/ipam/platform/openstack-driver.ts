import { tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { prefixContains } from '@causeway/base/address/prefix';
import type { Neutron } from '@causeway/openstack/neutron/neutron';
import type { FloatingIp, Port, Subnet } from '@causeway/openstack/neutron/resources';
import type { PlatformAddress, PlatformDriver } from './platform-driver.ts';

export interface OpenStackDriverOptions {
  readonly neutron: Neutron;
  /** The id of the ledger: other ledgers may use the same project. */
  readonly ledger: string;
  /** The subnets of the addresses in this platform's pools. */
  readonly subnets: readonly Subnet[];
  /** Source of floating IPs; without it the addresses are used directly. */
  readonly floating?: { readonly networkId: string; readonly subnetId?: string } | undefined;
}

const namePrefix = 'causeway-pool/';

/**
 * Creates a Neutron port with the address, so that Neutron assigns it to no other port, and a floating IP on
 * it. Their name and description contain the owner from creation. The port belongs to no server: the
 * announcer answers for its address, from a node. The port of that node allows the address.
 */
export class OpenStackDriver implements PlatformDriver {
  readonly #options: OpenStackDriverOptions;

  constructor(options: OpenStackDriverOptions) {
    this.#options = options;
  }

  async ensure(
    address: PlatformAddress,
    note: string,
    signal: AbortSignal,
  ): Promise<Address | undefined> {
    const port =
      (await this.#findPort(address, signal)) ?? (await this.#create(address, note, signal));
    if (!port.fixedIps.some((fixed) => fixed.address === address.address)) {
      throw new CausewayError('conflict', `the port ${port.id} does not have ${address.address}`, {
        hint: 'It was changed outside of Causeway. Delete it, and it is created again.',
      });
    }
    return (await this.#float(port, address, signal))?.address;
  }

  async delete(address: PlatformAddress, signal: AbortSignal): Promise<void> {
    const { neutron } = this.#options;
    // The floating IP is deleted first: without its port it can still be found by its description.
    const floating = await this.#findFloating(address, signal);
    if (floating !== undefined) await neutron.floatingIps.delete(floating.id, { signal });
    const port = await this.#findPort(address, signal);
    if (port !== undefined) await neutron.ports.delete(port.id, { signal });
  }

  async list(signal: AbortSignal): Promise<readonly PlatformAddress[]> {
    const { neutron } = this.#options;
    const found = new Map<string, PlatformAddress>();
    const note = (name: string) => {
      const address = this.#addressOfName(name);
      if (address !== undefined) found.set(name, address);
    };
    for await (const floating of neutron.floatingIps.list({}, { signal })) {
      note(floating.description);
    }
    for (const networkId of new Set(this.#options.subnets.map((subnet) => subnet.networkId))) {
      for await (const port of neutron.ports.list({ networkId }, { signal })) note(port.name);
    }
    return [...found.values()];
  }

  async #float(
    port: Port,
    address: PlatformAddress,
    signal: AbortSignal,
  ): Promise<FloatingIp | undefined> {
    const { neutron, floating } = this.#options;
    if (floating === undefined || address.address.includes(':')) return undefined;
    const present = await this.#findFloating(address, signal);
    if (present?.portId === port.id) return present;
    if (present !== undefined) {
      return neutron.floatingIps.associate(present.id, port.id, { signal });
    }
    const { networkId, subnetId } = floating;
    return neutron.floatingIps.create(
      {
        description: this.#nameOf(address),
        floatingNetworkId: networkId,
        ...(subnetId === undefined ? {} : { subnetId }),
        portId: port.id,
      },
      { signal, once: 'description' },
    );
  }

  async #create(address: PlatformAddress, note: string, signal: AbortSignal): Promise<Port> {
    const subnet = this.#subnetOf(address.address);
    return this.#options.neutron.ports.create(
      {
        networkId: subnet.networkId,
        name: this.#nameOf(address),
        description: `${note}; managed by causeway ipam`.slice(0, 255),
        fixedIps: [{ subnetId: subnet.id, address: address.address }],
      },
      { signal, once: 'name' },
    );
  }

  async #findPort(address: PlatformAddress, signal: AbortSignal): Promise<Port | undefined> {
    const { networkId } = this.#subnetOf(address.address);
    const wanted = { networkId, name: this.#nameOf(address) };
    for await (const port of this.#options.neutron.ports.list(wanted, { signal })) return port;
    return undefined;
  }

  async #findFloating(
    address: PlatformAddress,
    signal: AbortSignal,
  ): Promise<FloatingIp | undefined> {
    const wanted = { description: this.#nameOf(address) };
    for await (const floating of this.#options.neutron.floatingIps.list(wanted, { signal })) {
      return floating;
    }
    return undefined;
  }

  #subnetOf(address: Address): Subnet {
    const subnet = this.#options.subnets.find(({ cidr }) => prefixContains(cidr, address));
    if (subnet !== undefined) return subnet;
    throw new CausewayError('unavailable', `${address} is in no subnet of its platform`, {
      hint: 'The pool and the subnets of the platform in the server’s settings must agree.',
    });
  }

  #nameOf({ site, address }: PlatformAddress): string {
    return `${namePrefix}${this.#options.ledger}/${site}/${address}`;
  }

  /** Undefined for names of another ledger, or of another platform in the same project. */
  #addressOfName(name: string): PlatformAddress | undefined {
    if (!name.startsWith(namePrefix)) return undefined;
    const [ledger, site = '', text = ''] = name.slice(namePrefix.length).split('/');
    const address = tryParseAddress(text);
    if (address === undefined || ledger !== this.#options.ledger) return undefined;
    const isHere = this.#options.subnets.some(({ cidr }) => prefixContains(cidr, address));
    return isHere ? { site, address } : undefined;
  }
}
