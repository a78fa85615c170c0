import type { Address, Family } from '../../domain/address.ts';
import { CausewayError, isErrorCode } from '../../domain/error.ts';
import { prefixContains } from '../../domain/prefix.ts';
import type { Neutron } from '../../openstack/neutron/neutron.ts';
import type { FloatingIp, Port, Subnet } from '../../openstack/neutron/resources.ts';
import { isInherited, legacyTag } from './legacy-marks.ts';
import type { LostPort, PortManager, PortWish } from './port-manager.ts';
import type { L2Port } from './port-slot.ts';

export interface OpenStackPortManagerOptions {
  readonly neutron: Neutron;
  /** Tells the clusters of one project from each other. */
  readonly clusterId: string;
  /** One subnet for each family, all of one network. */
  readonly subnets: ReadonlyMap<Family, Subnet>;
  /** Marks everything so that ch-k8s-lbaas would know it as its own, too. */
  readonly keepWayBack?: boolean;
  /** Where floating IPs come from; without it the fixed addresses are what users reach. */
  readonly floating?: { readonly networkId: string; readonly subnetId?: string } | undefined;
}

/** What any Causeway writes on a floating IP: whose it is. Octavia's provider has words of its own. */
const clusterMark =
  /^(?:(?:Managed|Kept) by Causeway for the cluster |causeway\.dev\/cluster=|Causeway, (?:kept for the )?cluster )([^ ,:]+)/;

const portId = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i;

/**
 * Neutron ports that belong to no server, with floating IPs where wanted. Neutron takes no tags when
 * it creates, so whose a port is stands in its name and description from the first moment; the tag
 * follows for people to filter by.
 */
export class OpenStackPortManager implements PortManager {
  readonly families: readonly Family[];
  readonly #options: OpenStackPortManagerOptions;
  /** Ports that Services have and whose marks are not yet, or no longer, as they should be. */
  readonly #mismarked = new Set<string>();

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
        if (!this.#isOurs(port) && !(claimed.has(port.id) && isInherited(port))) continue;
        if (making.has(port.name.slice(this.#name('').length))) continue;
        const known = this.#describePort(port, floating.get(port.id));
        if (known === undefined) continue;
        ports.push(known);
        if (!this.#isMarked(port)) this.#mismarked.add(port.id);
      }
    }
    return ports;
  }

  async find(id: string, signal: AbortSignal): Promise<L2Port | undefined> {
    const { neutron } = this.#options;
    // It may come from an annotation, which users can write.
    if (!portId.test(id)) return undefined;
    const port = await neutron.ports.get(id, { signal }).catch((error: unknown) => {
      if (isErrorCode(error, 'not-found')) return undefined;
      throw error;
    });
    if (port === undefined || !(this.#isOurs(port) || isInherited(port))) return undefined;
    const floating = await neutron.floatingIps.list({ portId: id }, { signal }).next();
    return this.#describePort(port, floating.done === true ? undefined : floating.value);
  }

  async create(wish: PortWish, signal: AbortSignal): Promise<L2Port> {
    const { neutron } = this.#options;
    const port = await this.#makePort(wish, signal);
    try {
      await neutron.ports.replaceTags(port.id, this.#tags(), { signal });
      const floating = await this.#floatNew(port, wish, signal);
      if (floating !== undefined && this.#isMadeByUs(floating)) {
        await neutron.floatingIps.replaceTags(floating.id, this.#tags(), { signal });
      }
      const made = this.#describePort(port, floating);
      if (made !== undefined) return made;
      throw new CausewayError('internal', `the new port ${port.id} has no address of its subnet`);
    } catch (error) {
      // Half of it helps nobody, and each new attempt would leave another one.
      if (!signal.aborted) await neutron.ports.delete(port.id, { signal }).catch(() => undefined);
      throw error;
    }
  }

  async mark({ id }: L2Port, signal: AbortSignal): Promise<void> {
    if (this.#mismarked.has(id)) await this.#mark(id, signal);
  }

  async mend(port: L2Port, known: Address | undefined, signal: AbortSignal): Promise<L2Port> {
    if (this.#options.floating === undefined || port.family === 6) return port;
    if (port.publicAddress !== port.address) return port;
    const floating = await this.#refloat(port.id, { id: port.id, publicAddress: known }, signal);
    const kept = this.#isKept(floating) ? { keepsPublic: true } : {};
    return { ...port, publicAddress: floating.address, ...kept };
  }

  async keepPublic(port: L2Port, isKept: boolean, signal: AbortSignal): Promise<L2Port> {
    const { neutron } = this.#options;
    const { keepsPublic: _, ...rest } = port;
    for await (const floating of neutron.floatingIps.list({ portId: port.id }, { signal })) {
      if (!this.#isOurFloating(floating) && !this.#isKept(floating)) return port;
      const description = isKept ? this.#keptDescription() : this.#floatingDescription(port.id);
      await neutron.floatingIps.replaceTags(floating.id, isKept ? [] : this.#tags(), { signal });
      await neutron.floatingIps.update(floating.id, { description }, { signal });
      return isKept ? { ...rest, keepsPublic: true } : rest;
    }
    return port;
  }

  async delete(port: L2Port, signal: AbortSignal): Promise<void> {
    const { neutron } = this.#options;
    for await (const floating of neutron.floatingIps.list({ portId: port.id }, { signal })) {
      // One that is to be kept loses its port with the port, and nothing else.
      if (this.#isKept(floating) || !this.#isOurFloating(floating)) continue;
      await neutron.floatingIps.delete(floating.id, { signal });
    }
    await neutron.ports.delete(port.id, { signal });
  }

  async sweep(
    portIds: ReadonlySet<string>,
    advertised: ReadonlySet<Address>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { neutron } = this.#options;
    const removed: string[] = [];
    for await (const floating of neutron.floatingIps.list({}, { signal })) {
      // Those of ch-k8s-lbaas name no cluster: another one in the project may still use them.
      if (!this.#isMadeByUs(floating) || floating.portId !== undefined) continue;
      if (portIds.has(this.#portOf(floating)) || advertised.has(floating.address)) continue;
      await neutron.floatingIps.delete(floating.id, { signal });
      removed.push(`floating IP ${floating.address}`);
    }
    return removed;
  }

  /** With the address that was asked for, else with that of the port it replaces, else with any. */
  async #makePort(wish: PortWish, signal: AbortSignal): Promise<Port> {
    const subnet = this.#subnet(wish.family);
    const { requested, instead } = wish;
    if (requested !== undefined && prefixContains(subnet.cidr, requested)) {
      return this.#makePortAt(wish, subnet, requested, signal);
    }
    const former = [instead?.address, instead?.publicAddress].find(
      (address) => address !== undefined && prefixContains(subnet.cidr, address),
    );
    if (former !== undefined) {
      try {
        return await this.#makePortAt(wish, subnet, former, signal);
      } catch (error) {
        if (!isErrorCode(error, 'conflict')) throw error;
      }
    }
    return this.#makePortAt(wish, subnet, undefined, signal);
  }

  #makePortAt(
    { marker }: PortWish,
    subnet: Subnet,
    address: Address | undefined,
    signal: AbortSignal,
  ): Promise<Port> {
    return this.#options.neutron.ports.create(
      {
        networkId: subnet.networkId,
        name: this.#name(marker),
        description: this.#portDescription(),
        fixedIps: [{ subnetId: subnet.id, ...(address === undefined ? {} : { address }) }],
        portSecurityEnabled: false,
      },
      { signal, once: 'name' },
    );
  }

  /** The floating IP of a new port, where it is to have one. */
  async #floatNew(
    port: Port,
    { family, requested, instead }: PortWish,
    signal: AbortSignal,
  ): Promise<FloatingIp | undefined> {
    const isFixed = requested !== undefined && port.fixedIps.some((ip) => ip.address === requested);
    if (this.#options.floating === undefined || family === 6) {
      if (requested === undefined || isFixed) return undefined;
      throw new CausewayError('invalid', `${requested} is not in the subnet of the gateways`);
    }
    if (requested !== undefined && !isFixed) return this.#floatAt(port.id, requested, signal);
    if (instead !== undefined) return this.#refloat(port.id, instead, signal);
    return this.#floatAnew(port.id, undefined, signal);
  }

  /** The requested floating IP, if the project has it and it is free and no other cluster's, or can have it. */
  async #floatAt(portId: string, requested: Address, signal: AbortSignal): Promise<FloatingIp> {
    const { neutron } = this.#options;
    for await (const present of neutron.floatingIps.list({ address: requested }, { signal })) {
      if (present.portId === portId) return present;
      if (present.portId !== undefined) {
        throw new CausewayError('conflict', `the floating IP ${requested} is in use`);
      }
      const owner = this.#otherOwnerOf(present);
      if (owner !== undefined) {
        throw new CausewayError('conflict', `the floating IP ${requested} belongs to ${owner}`);
      }
      return neutron.floatingIps.associate(present.id, portId, { signal });
    }
    return this.#floatAnew(portId, requested, signal);
  }

  /** The floating IP that the lost port had, if it is still there; else the same address anew; else any. */
  async #refloat(portId: string, lost: LostPort, signal: AbortSignal): Promise<FloatingIp> {
    const { neutron } = this.#options;
    const description = this.#floatingDescription(portId);
    for await (const present of neutron.floatingIps.list({}, { signal })) {
      if (present.portId === portId) return present;
      if (present.portId !== undefined) continue;
      if (this.#isKept(present) && present.address === lost.publicAddress) {
        return neutron.floatingIps.associate(present.id, portId, { signal });
      }
      if (!this.#isOurFloating(present)) continue;
      if (this.#portOf(present) !== lost.id && present.address !== lost.publicAddress) continue;
      return neutron.floatingIps.update(present.id, { portId, description }, { signal });
    }
    if (lost.publicAddress !== undefined) {
      try {
        return await this.#floatAnew(portId, lost.publicAddress, signal);
      } catch (error) {
        // Most clouds let only administrators choose, and somebody else may have it by now.
        const { code } = CausewayError.from(error);
        if (!['forbidden', 'conflict', 'invalid'].includes(code)) throw error;
      }
    }
    return this.#floatAnew(portId, undefined, signal);
  }

  async #floatAnew(
    portId: string,
    address: Address | undefined,
    signal: AbortSignal,
  ): Promise<FloatingIp> {
    const { neutron, floating } = this.#options;
    if (floating === undefined) throw new CausewayError('internal', 'no floating IPs are used');
    try {
      return await neutron.floatingIps.create(
        {
          description: this.#floatingDescription(portId),
          floatingNetworkId: floating.networkId,
          ...(floating.subnetId === undefined ? {} : { subnetId: floating.subnetId }),
          ...(address === undefined ? {} : { address }),
          portId,
        },
        { signal, once: 'description' },
      );
    } catch (error) {
      if (address === undefined || !isErrorCode(error, 'forbidden')) throw error;
      throw new CausewayError(
        'forbidden',
        `the cloud does not let this project choose the floating address ${address}`,
        {
          cause: error,
          hint: 'Leave the address out, or have an administrator make that floating IP or allow create_floatingip:floating_ip_address.',
        },
      );
    }
  }

  #describePort(port: Port, floating: FloatingIp | undefined): L2Port | undefined {
    for (const [family, subnet] of this.#options.subnets) {
      const fixed = port.fixedIps.find(({ subnetId }) => subnetId === subnet.id);
      if (fixed === undefined) continue;
      const publicAddress = floating?.address ?? fixed.address;
      const isKept = floating !== undefined && this.#isKept(floating);
      return {
        ...{ id: port.id, family, address: fixed.address, publicAddress },
        ...(isKept ? { keepsPublic: true } : {}),
      };
    }
    return undefined;
  }

  /** Makes a port that ch-k8s-lbaas made ours, and its own again, as far as that is wanted. */
  async #mark(portId: string, signal: AbortSignal): Promise<void> {
    const { neutron, keepWayBack } = this.#options;
    await neutron.ports.replaceTags(portId, this.#tags(), { signal });
    for await (const floating of neutron.floatingIps.list({ portId }, { signal })) {
      if (!this.#isOurFloating(floating)) continue;
      await neutron.floatingIps.replaceTags(floating.id, this.#tags(), { signal });
      if (keepWayBack === true) continue;
      const description = this.#floatingDescription(portId);
      await neutron.floatingIps.update(floating.id, { description }, { signal });
    }
    // Last, so that what was cut off is done again.
    if (keepWayBack !== true) {
      await neutron.ports.update(portId, { description: this.#portDescription() }, { signal });
    }
    this.#mismarked.delete(portId);
  }

  #isMarked({ description, tags }: Port): boolean {
    if (!tags.includes(this.#clusterTag())) return false;
    if (this.#options.keepWayBack === true) return tags.includes(legacyTag);
    return description === this.#portDescription() && !tags.includes(legacyTag);
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
    return port.description === this.#portDescription() || port.tags.includes(this.#clusterTag());
  }

  #isKept({ description }: FloatingIp): boolean {
    return description === this.#keptDescription();
  }

  /** On a port of ours it is ours, whichever of the two made it. */
  #isOurFloating(floating: FloatingIp): boolean {
    return isInherited(floating) || this.#isMadeByUs(floating);
  }

  /** By its description from the first moment, by its tag if somebody has described it anew. */
  #isMadeByUs({ description, tags }: FloatingIp): boolean {
    return (
      description.startsWith(this.#floatingDescription('')) || tags.includes(this.#clusterTag())
    );
  }

  /**
   * Who else a floating IP belongs to, by what was written on it. What ch-k8s-lbaas made names no cluster
   * and may be another one's. One without marks is the project's, and free to be asked for.
   */
  #otherOwnerOf(floating: FloatingIp): string | undefined {
    if (this.#isMadeByUs(floating) || this.#isKept(floating)) return undefined;
    const marks = [floating.description, ...floating.tags];
    for (const mark of marks) {
      const [, cluster] = clusterMark.exec(mark) ?? [];
      if (cluster !== undefined) return `the cluster ${cluster}`;
    }
    return isInherited(floating) ? 'ch-k8s-lbaas' : undefined;
  }

  #portOf({ description }: FloatingIp): string {
    const start = this.#floatingDescription('');
    return description.startsWith(start) ? description.slice(start.length) : '';
  }

  #name(marker: string): string {
    return `causeway-${this.#options.clusterId}-${marker}`;
  }

  #tags(): string[] {
    return [
      'causeway.dev/managed',
      this.#clusterTag(),
      ...(this.#options.keepWayBack === true ? [legacyTag] : []),
    ];
  }

  #clusterTag(): string {
    return `causeway.dev/cluster=${this.#options.clusterId}`;
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
