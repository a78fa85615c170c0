import type { Address, Family } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import { prefixContains } from '../../domain/prefix.ts';
import type { Neutron } from '../../openstack/neutron/neutron.ts';
import type { FloatingIp, Port, Subnet } from '../../openstack/neutron/resources.ts';
import type { PortManager, PortWish } from './port-manager.ts';
import type { L2Port } from './port-mapper.ts';

export interface OpenStackPortManagerOptions {
  readonly neutron: Neutron;
  /** Tells the clusters of one project from each other. */
  readonly clusterId: string;
  /** One subnet for each family, all of one network. */
  readonly subnets: ReadonlyMap<Family, Subnet>;
  /** Where floating IPs come from; without it the fixed addresses are what users reach. */
  readonly floating?: { readonly networkId: string; readonly subnetId?: string } | undefined;
}

/** What ch-k8s-lbaas wrote on its ports and floating IPs. */
const legacyDescription = 'Managed by cah-loadbalancer';

/**
 * Neutron ports that belong to no server, with floating IPs where wanted. Neutron takes no tags when
 * it creates, so whose a port is stands in its name and description from the first moment; the tag
 * follows for people to filter by.
 */
export class OpenStackPortManager implements PortManager {
  readonly families: readonly Family[];
  readonly #options: OpenStackPortManagerOptions;

  constructor(options: OpenStackPortManagerOptions) {
    this.#options = options;
    this.families = [...options.subnets.keys()];
  }

  async list(
    claimed: ReadonlySet<string>,
    making: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly L2Port[]> {
    const { neutron } = this.#options;
    const floating = new Map<string, FloatingIp>();
    for await (const address of neutron.floatingIps.list({}, { signal })) {
      if (address.portId !== undefined) floating.set(address.portId, address);
    }
    const ports: L2Port[] = [];
    for (const networkId of this.#networks()) {
      for await (const port of neutron.ports.list({ networkId }, { signal })) {
        if (!this.#isOurs(port) && !claimed.has(port.id)) continue;
        if (making.has(port.name.slice(this.#name('').length))) continue;
        const known = this.#describePort(port, floating.get(port.id));
        if (known !== undefined) ports.push(known);
      }
    }
    return ports;
  }

  async create(wish: PortWish, signal: AbortSignal): Promise<L2Port> {
    const { neutron } = this.#options;
    const subnet = this.#subnet(wish.family);
    const isFixed = wish.requested !== undefined && prefixContains(subnet.cidr, wish.requested);
    const address = isFixed && wish.requested !== undefined ? { address: wish.requested } : {};
    const port = await neutron.ports.create(
      {
        networkId: subnet.networkId,
        name: this.#name(wish.marker),
        description: this.#portDescription(),
        fixedIps: [{ subnetId: subnet.id, ...address }],
        portSecurityEnabled: false,
      },
      { signal, once: 'name' },
    );
    await neutron.ports.replaceTags(port.id, this.#tags(), { signal });
    const floating = await this.#float(port, isFixed ? undefined : wish.requested, signal);
    const made = this.#describePort(port, floating);
    if (made === undefined) {
      throw new CausewayError('internal', `the new port ${port.id} has no address of its subnet`);
    }
    return made;
  }

  async delete(port: L2Port, keepPublic: boolean, signal: AbortSignal): Promise<void> {
    const { neutron } = this.#options;
    for await (const floating of neutron.floatingIps.list({ portId: port.id }, { signal })) {
      if (!this.#isOurFloating(floating)) continue;
      if (keepPublic) {
        const description = this.#keptDescription();
        await neutron.floatingIps.update(floating.id, { description, portId: null }, { signal });
      } else {
        await neutron.floatingIps.delete(floating.id, { signal });
      }
    }
    await neutron.ports.delete(port.id, { signal });
  }

  async sweep(portIds: ReadonlySet<string>, signal: AbortSignal): Promise<readonly string[]> {
    const { neutron } = this.#options;
    const removed: string[] = [];
    for await (const floating of neutron.floatingIps.list({}, { signal })) {
      if (!this.#isOurFloating(floating) || floating.portId !== undefined) continue;
      if (portIds.has(this.#portOf(floating))) continue;
      await neutron.floatingIps.delete(floating.id, { signal });
      removed.push(`floating IP ${floating.address}`);
    }
    return removed;
  }

  /** A floating IP for the port: the requested one if the project has it and it is free, else a new one. */
  async #float(
    port: Port,
    requested: Address | undefined,
    signal: AbortSignal,
  ): Promise<FloatingIp | undefined> {
    const { neutron, floating } = this.#options;
    if (floating === undefined) {
      if (requested === undefined) return undefined;
      throw new CausewayError('invalid', `${requested} is not in the subnet of the gateways`);
    }
    if (requested !== undefined) {
      for await (const present of neutron.floatingIps.list({ address: requested }, { signal })) {
        if (present.portId === port.id) return present;
        if (present.portId !== undefined) {
          throw new CausewayError('conflict', `the floating IP ${requested} is in use`);
        }
        return neutron.floatingIps.associate(present.id, port.id, { signal });
      }
    }
    return neutron.floatingIps.create(
      {
        description: this.#floatingDescription(port.id),
        floatingNetworkId: floating.networkId,
        ...(floating.subnetId === undefined ? {} : { subnetId: floating.subnetId }),
        ...(requested === undefined ? {} : { address: requested }),
        portId: port.id,
      },
      { signal, once: 'description' },
    );
  }

  #describePort(port: Port, floating: FloatingIp | undefined): L2Port | undefined {
    for (const [family, subnet] of this.#options.subnets) {
      const fixed = port.fixedIps.find(({ subnetId }) => subnetId === subnet.id);
      if (fixed === undefined) continue;
      const publicAddress = floating?.address ?? fixed.address;
      return { id: port.id, family, address: fixed.address, publicAddress };
    }
    return undefined;
  }

  #networks(): ReadonlySet<string> {
    return new Set([...this.#options.subnets.values()].map(({ networkId }) => networkId));
  }

  #subnet(family: Family): Subnet {
    const subnet = this.#options.subnets.get(family);
    if (subnet === undefined) {
      throw new CausewayError('unsupported', `the gateways have no subnet for IPv${family}`);
    }
    return subnet;
  }

  #isOurs(port: Port): boolean {
    return port.description === this.#portDescription();
  }

  #isOurFloating({ description }: FloatingIp): boolean {
    return (
      description === legacyDescription || description.startsWith(this.#floatingDescription(''))
    );
  }

  #portOf({ description }: FloatingIp): string {
    return description.slice(this.#floatingDescription('').length);
  }

  #name(marker: string): string {
    return `causeway-${this.#options.clusterId}-${marker}`;
  }

  #tags(): string[] {
    return ['causeway.dev/managed', `causeway.dev/cluster=${this.#options.clusterId}`.slice(0, 60)];
  }

  #portDescription(): string {
    return `Managed by Causeway for the cluster ${this.#options.clusterId}`;
  }

  #floatingDescription(portId: string): string {
    return `Managed by Causeway for the cluster ${this.#options.clusterId}, port ${portId}`;
  }

  #keptDescription(): string {
    return `Kept by Causeway for the cluster ${this.#options.clusterId}`;
  }
}
