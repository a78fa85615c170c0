import type { Address, Family } from '@causeway/base/address/address';
import type { Orphan, OrphanReport } from '../../../services/orphan.ts';
import type { L2Port } from './port-slot.ts';

export interface PortRequest {
  readonly family: Family;
  /** Only this address. */
  readonly requested: Address | undefined;
  /** Unique for each request. It identifies the port as this cluster's from the start. */
  readonly marker: string;
  /** A lost port. The new port gets its addresses if they are available. */
  readonly instead?: LostPort | undefined;
}

/**
 * Whether new Services may get an address:
 *
 * - `listed`: they may;
 * - `retiring`: the operator retires it, so that only its present users keep it;
 * - `unlisted`: it is in no list any more, and its present users keep it.
 */
export type AddressStanding = 'listed' | 'retiring' | 'unlisted';

/** The known facts about a lost port. */
export interface LostPort {
  readonly id: string;
  /** The address on which the gateways served, and the address that clients used. */
  readonly address?: Address | undefined;
  readonly publicAddress?: Address | undefined;
}

/**
 * The source of addresses. Two implementations: Neutron ports with floating IPs, and a list of addresses. All
 * calls can be repeated; deleting a missing object is not an error.
 */
export interface PortManager {
  /** The families with addresses. */
  readonly families: readonly Family[];
  /**
   * The ports of this cluster, used or not, and the existing ports of `named`. Ports that are being created
   * are left out: their markers are in `making` during this time. Needs a constant number of requests for any
   * number of ports.
   */
  list(
    named: ReadonlySet<string>,
    making: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly L2Port[]>;
  /**
   * Reads one port by its ID, because a list can miss it. Undefined if it does not exist, or belongs neither
   * to this cluster nor to ch-k8s-lbaas.
   */
  find(id: string, signal: AbortSignal): Promise<L2Port | undefined>;
  /** Creates a port. Throws `exhausted` if no address is left, `conflict` if the requested one is in use. */
  create(request: PortRequest, signal: AbortSignal): Promise<L2Port>;
  /** Writes missing ownership marks on the port. */
  mark(port: L2Port, signal: AbortSignal): Promise<void>;
  /** Restores a lost floating IP, and returns the port with it. Prefers the address that clients used. */
  mend(port: L2Port, known: Address | undefined, signal: AbortSignal): Promise<L2Port>;
  /** Sets or removes the mark to keep the port's floating IP. The mark survives the controller. */
  keepPublic(port: L2Port, isKept: boolean, signal: AbortSignal): Promise<L2Port>;
  /** Deletes the port, and its floating IP unless it is marked to keep. */
  delete(port: L2Port, signal: AbortSignal): Promise<void>;
  standingOf(address: Address): AddressStanding;
  /** Whether the cluster's own record has the port. Only such a port is deleted without a confirmation. */
  isRecorded(port: L2Port): boolean;
  /** Adds these used ports to the cluster's own record. */
  record(ports: readonly L2Port[]): Promise<void>;
  /**
   * Objects of the last list and the last sweep with a mark of this cluster, but uncertain ownership.
   */
  orphans(): OrphanReport;
  /** Deletes an orphan after an operator's confirmation, if it still is one. */
  deleteOrphan(orphan: Orphan, signal: AbortSignal): Promise<void>;
  /**
   * Removes floating IPs that a crash left: unused, and created for a port of the cluster's record. Keeps
   * those of these ports, and addresses in the status of a Service. Returns what it removed.
   */
  sweep(
    portIds: ReadonlySet<string>,
    advertised: ReadonlySet<Address>,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}
