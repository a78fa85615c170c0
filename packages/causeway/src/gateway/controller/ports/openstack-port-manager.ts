import type { Address, Family } from '@causeway/base/address/address';
import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { prefixContains } from '@causeway/base/address/prefix';
import type { Neutron } from '@causeway/openstack/neutron/neutron';
import type { FloatingIp, Port, Subnet } from '@causeway/openstack/neutron/resources';
import type { ClusterIdentity } from '../../../services/cluster-identity.ts';
import type { Orphan, OrphanReport } from '../../../services/orphan.ts';
import { describePort } from './describe-port.ts';
import { isInherited } from './legacy-marks.ts';
import { OwnershipMarks } from './ownership-marks.ts';
import type { PortRecords } from './port-records.ts';
import { PortRecordCache } from './port-record-cache.ts';
import type { LostPort, PortManager, PortRequest } from './port-manager.ts';
import type { L2Port } from './port-slot.ts';

export interface OpenStackPortManagerOptions {
  readonly neutron: Neutron;
  readonly cluster: ClusterIdentity;
  /** The cluster's own record of its ports. */
  readonly records: PortRecords;
  /** One subnet for each family, all of one network. */
  readonly subnets: ReadonlyMap<Family, Subnet>;
  /** Adds the marks of ch-k8s-lbaas, so that it also recognizes the objects as its own. */
  readonly keepWayBack?: boolean;
  /** The source of floating IPs. Without it, clients use the fixed addresses. */
  readonly floating?: { readonly networkId: string; readonly subnetId?: string } | undefined;
}

const portId = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i;

/**
 * Neutron ports without a server, with floating IPs if configured. Neutron accepts no tags at creation, so
 * the name and description have the ownership mark from the start. The tag follows, for filters of operators.
 */
export class OpenStackPortManager implements PortManager {
  readonly families: readonly Family[];
  readonly #options: OpenStackPortManagerOptions;
  readonly #marks: OwnershipMarks;
  readonly #record: PortRecordCache;
  /** Ports of Services with missing or wrong marks. */
  readonly #mismarked = new Set<string>();
  /** Objects of the last list that are not certain to belong to this cluster. */
  #unproven: readonly Orphan[] = [];
  #heldAddresses: readonly Orphan[] = [];
  #otherClusters: readonly string[] = [];

  constructor(options: OpenStackPortManagerOptions) {
    this.#options = options;
    this.families = [...options.subnets.keys()];
    this.#marks = new OwnershipMarks(options.cluster, options.keepWayBack ?? false);
    this.#record = new PortRecordCache(options.records);
  }

  async list(
    named: ReadonlySet<string>,
    making: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly L2Port[]> {
    const { neutron } = this.#options;
    await this.#record.read(signal);
    const floating = new Map<string, FloatingIp>();
    const others = new Set<string | undefined>();
    for await (const address of neutron.floatingIps.list({}, { signal })) {
      others.add(this.#marks.otherClusterOf(address));
      if (address.portId !== undefined) floating.set(address.portId, address);
    }
    const ports: L2Port[] = [];
    const unproven: Orphan[] = [];
    const entries = new Set<string>(making);
    for (const networkId of this.#networks()) {
      for await (const port of neutron.ports.list({ networkId }, { signal })) {
        others.add(this.#marks.otherClusterOf(port));
        const standing = this.#marks.standing(port);
        const entry = this.#marks.entryOf(port);
        const isProven = named.has(port.id) || this.#record.hasEntry(entry);
        const known = this.#describePort(port, floating.get(port.id));
        if (known === undefined || making.has(entry)) continue;
        if (standing === 'own' || (isProven && (standing === 'old' || isInherited(port)))) {
          ports.push(known);
          entries.add(this.#record.know(port.id, entry));
          if (!this.#marks.isComplete(port)) this.#mismarked.add(port.id);
        } else if (standing === 'old') {
          unproven.push({ kind: 'port', id: port.id, address: known.publicAddress, mark: 'old' });
        }
      }
    }
    await this.#record.refresh(ports, signal);
    await this.#record.strikeStale(entries);
    this.#unproven = unproven;
    this.#otherClusters = [...others].filter((uid) => uid !== undefined);
    return ports;
  }

  standingOf(): 'listed' {
    return 'listed';
  }

  isRecorded({ id }: L2Port): boolean {
    return this.#record.has(id);
  }

  async record(ports: readonly L2Port[]): Promise<void> {
    await this.#record.enter(ports.map(({ id }) => id));
  }

  orphans(): OrphanReport {
    const orphans = [...this.#unproven, ...this.#heldAddresses];
    return { orphans, otherClusters: this.#otherClusters };
  }

  async deleteOrphan({ kind, id }: Orphan, signal: AbortSignal): Promise<void> {
    const { neutron } = this.#options;
    // The list may be outdated: the object can have an owner now.
    try {
      if (kind === 'floating-ip') {
        const floating = await neutron.floatingIps.get(id, { signal });
        const isFree = floating.portId === undefined && this.#marks.isMadeByUs(floating);
        if (isFree) await neutron.floatingIps.delete(id, { signal });
      } else if (this.#marks.isOurs(await neutron.ports.get(id, { signal }))) {
        await this.#deletePort(id, signal);
      }
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
    }
  }

  async find(id: string, signal: AbortSignal): Promise<L2Port | undefined> {
    const { neutron } = this.#options;
    // The ID can come from an annotation, which users can write.
    if (!portId.test(id)) return undefined;
    const port = await neutron.ports.get(id, { signal }).catch((error: unknown) => {
      if (isErrorCode(error, 'not-found')) return undefined;
      throw error;
    });
    if (port === undefined) return undefined;
    if (!isInherited(port) && !this.#marks.isOurs(port)) return undefined;
    this.#record.know(id, this.#marks.entryOf(port));
    if (!this.#marks.isComplete(port)) this.#mismarked.add(id);
    const floating = await neutron.floatingIps.list({ portId: id }, { signal }).next();
    return this.#describePort(port, floating.done === true ? undefined : floating.value);
  }

  async create(request: PortRequest, signal: AbortSignal): Promise<L2Port> {
    const { neutron } = this.#options;
    await this.#record.enterMarker(request.marker);
    const port = await this.#makePort(request, signal);
    this.#record.know(port.id, request.marker);
    try {
      await neutron.ports.replaceTags(port.id, this.#marks.tags, { signal });
      const floating = await this.#floatNew(port, request, signal);
      if (floating !== undefined && this.#marks.isMadeByUs(floating)) {
        await neutron.floatingIps.replaceTags(floating.id, this.#marks.tags, { signal });
      }
      const made = this.#describePort(port, floating);
      if (made !== undefined) return made;
      throw new CausewayError('internal', `the new port ${port.id} has no address of its subnet`);
    } catch (error) {
      // A partial result is useless, and each attempt would leave another one.
      if (!signal.aborted) await this.#deletePort(port.id, signal).catch(() => undefined);
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
    const kept = this.#marks.isKept(floating) ? { keepsPublic: true } : {};
    return { ...port, publicAddress: floating.address, ...kept };
  }

  async keepPublic(port: L2Port, isKept: boolean, signal: AbortSignal): Promise<L2Port> {
    const { neutron } = this.#options;
    const { keepsPublic: _, ...rest } = port;
    for await (const floating of neutron.floatingIps.list({ portId: port.id }, { signal })) {
      if (!this.#marks.isOurFloating(floating) && !this.#marks.isKept(floating)) return port;
      const description = isKept
        ? this.#marks.keptDescription
        : this.#marks.floatingDescription(port.id);
      await neutron.floatingIps.replaceTags(floating.id, isKept ? [] : this.#marks.tags, {
        signal,
      });
      await neutron.floatingIps.update(floating.id, { description }, { signal });
      return isKept ? { ...rest, keepsPublic: true } : rest;
    }
    return port;
  }

  delete({ id }: L2Port, signal: AbortSignal): Promise<void> {
    return this.#deletePort(id, signal);
  }

  async #deletePort(id: string, signal: AbortSignal): Promise<void> {
    const { neutron } = this.#options;
    for await (const floating of neutron.floatingIps.list({ portId: id }, { signal })) {
      // A floating IP to keep is only detached from the port.
      if (this.#marks.isKept(floating) || !this.#marks.isOurFloating(floating)) continue;
      await neutron.floatingIps.delete(floating.id, { signal });
    }
    await neutron.ports.delete(id, { signal });
    await this.#record.strike(id);
  }

  async sweep(
    portIds: ReadonlySet<string>,
    advertised: ReadonlySet<Address>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { neutron } = this.#options;
    const removed: string[] = [];
    const held: Orphan[] = [];
    for await (const floating of neutron.floatingIps.list({}, { signal })) {
      // Floating IPs of ch-k8s-lbaas name no cluster: another cluster in the project may use them.
      if (!this.#marks.isMadeByUs(floating) || floating.portId !== undefined) continue;
      const { id, address } = floating;
      const portId = this.#marks.portOf(floating);
      if (portIds.has(portId) || advertised.has(address)) continue;
      const mark = this.#marks.standing(floating) === 'own' ? 'own' : 'old';
      if (mark === 'own' && this.#record.wasOurs(portId)) {
        await neutron.floatingIps.delete(id, { signal });
        removed.push(`floating IP ${address}`);
      } else held.push({ kind: 'floating-ip', id, address, mark });
    }
    this.#heldAddresses = held;
    return removed;
  }

  /**
   * Creates a port with the requested address, else with the address of the port it replaces, else with any.
   */
  async #makePort(request: PortRequest, signal: AbortSignal): Promise<Port> {
    const subnet = this.#subnet(request.family);
    const { requested, instead } = request;
    if (requested !== undefined && prefixContains(subnet.cidr, requested)) {
      return this.#makePortAt(request, subnet, requested, signal);
    }
    const former = [instead?.address, instead?.publicAddress].find(
      (address) => address !== undefined && prefixContains(subnet.cidr, address),
    );
    if (former !== undefined) {
      try {
        return await this.#makePortAt(request, subnet, former, signal);
      } catch (error) {
        if (!isErrorCode(error, 'conflict')) throw error;
      }
    }
    return this.#makePortAt(request, subnet, undefined, signal);
  }

  #makePortAt(
    { marker }: PortRequest,
    subnet: Subnet,
    address: Address | undefined,
    signal: AbortSignal,
  ): Promise<Port> {
    return this.#options.neutron.ports.create(
      {
        networkId: subnet.networkId,
        name: this.#marks.name(marker),
        description: this.#marks.portDescription,
        fixedIps: [{ subnetId: subnet.id, ...(address === undefined ? {} : { address }) }],
        portSecurityEnabled: false,
      },
      { signal, once: 'name' },
    );
  }

  /** The floating IP of a new port, if configured. */
  async #floatNew(
    port: Port,
    { family, requested, instead }: PortRequest,
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

  /**
   * The requested floating IP, if the project has it and it is free and of no other cluster, or if it can be
   * created.
   */
  async #floatAt(portId: string, requested: Address, signal: AbortSignal): Promise<FloatingIp> {
    const { neutron } = this.#options;
    for await (const present of neutron.floatingIps.list({ address: requested }, { signal })) {
      if (present.portId === portId) return present;
      if (present.portId !== undefined) {
        throw new CausewayError('conflict', `the floating IP ${requested} is in use`);
      }
      const owner = this.#marks.otherOwnerOf(present);
      if (owner !== undefined) {
        throw new CausewayError('conflict', `the floating IP ${requested} belongs to ${owner}`);
      }
      return neutron.floatingIps.associate(present.id, portId, { signal });
    }
    return this.#floatAnew(portId, requested, signal);
  }

  /** The floating IP of the lost port if it still exists, else a new one with the same address, else any. */
  async #refloat(portId: string, lost: LostPort, signal: AbortSignal): Promise<FloatingIp> {
    const { neutron } = this.#options;
    const description = this.#marks.floatingDescription(portId);
    for await (const present of neutron.floatingIps.list({}, { signal })) {
      if (present.portId === portId) return present;
      if (present.portId !== undefined) continue;
      if (this.#marks.isKept(present) && present.address === lost.publicAddress) {
        return neutron.floatingIps.associate(present.id, portId, { signal });
      }
      if (!this.#marks.isOurFloating(present)) continue;
      if (this.#marks.portOf(present) !== lost.id && present.address !== lost.publicAddress)
        continue;
      return neutron.floatingIps.update(present.id, { portId, description }, { signal });
    }
    if (lost.publicAddress !== undefined) {
      try {
        return await this.#floatAnew(portId, lost.publicAddress, signal);
      } catch (error) {
        // Most clouds let only administrators choose an address, and it may be in use now.
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
          description: this.#marks.floatingDescription(portId),
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
    return describePort(port, floating, this.#options.subnets, this.#marks);
  }

  /** Adds Causeway's marks to a port of ch-k8s-lbaas, and restores missing marks, as configured. */
  async #mark(portId: string, signal: AbortSignal): Promise<void> {
    const { neutron, keepWayBack } = this.#options;
    await neutron.ports.replaceTags(portId, this.#marks.tags, { signal });
    for await (const floating of neutron.floatingIps.list({ portId }, { signal })) {
      if (!this.#marks.isOurFloating(floating)) continue;
      await neutron.floatingIps.replaceTags(floating.id, this.#marks.tags, { signal });
      if (keepWayBack === true) continue;
      const description = this.#marks.floatingDescription(portId);
      await neutron.floatingIps.update(floating.id, { description }, { signal });
    }
    // Last, so that an interrupted change is repeated.
    if (keepWayBack !== true) {
      await neutron.ports.update(portId, { description: this.#marks.portDescription }, { signal });
    }
    this.#mismarked.delete(portId);
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
}
