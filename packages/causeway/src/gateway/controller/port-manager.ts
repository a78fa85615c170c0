import type { Address, Family } from '@causeway/base/address/address';
import type { Orphan, OrphanReport } from '../../services/orphan.ts';
import type { L2Port } from './port-slot.ts';

export interface PortRequest {
  readonly family: Family;
  /** This address and no other. */
  readonly requested: Address | undefined;
  /** Unlike any other wish's: by it the port is known as ours from its first moment. */
  readonly marker: string;
  /** A port that was lost: the new one gets its addresses where they can still be had. */
  readonly instead?: LostPort | undefined;
}

/** What is known of a port that is gone. */
export interface LostPort {
  readonly id: string;
  /** The address that the gateways served on, and the one that users reached. */
  readonly address?: Address | undefined;
  readonly publicAddress?: Address | undefined;
}

/**
 * Where the addresses come from. Two implementations: Neutron ports with floating IPs, and a list of
 * addresses. Everything may be repeated; what is gone already is gone.
 */
export interface PortManager {
  /** The families it has addresses of. */
  readonly families: readonly Family[];
  /**
   * The ports that are this cluster's, used or not, and those of `claimed` that exist; but not those
   * that are being made at this moment, whose markers are in `making` as long as that lasts. A constant
   * number of requests, however many ports there are.
   */
  list(
    claimed: ReadonlySet<string>,
    making: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<readonly L2Port[]>;
  /**
   * Asks for one port by its id: a listing may miss what is there. Undefined if it is gone, or is neither
   * this cluster's nor ch-k8s-lbaas's.
   */
  find(id: string, signal: AbortSignal): Promise<L2Port | undefined>;
  /** Makes a port. Throws `exhausted` when there is none to be had, `conflict` when the requested one is taken. */
  create(request: PortRequest, signal: AbortSignal): Promise<L2Port>;
  /** Writes on the port whose it is, where that is not there yet, or no longer. */
  mark(port: L2Port, signal: AbortSignal): Promise<void>;
  /**
   * Gives a port back what it lost, its floating IP, and answers with the port as it is then. Prefers
   * the address that users knew.
   */
  mend(port: L2Port, known: Address | undefined, signal: AbortSignal): Promise<L2Port>;
  /** Marks the port's floating IP to be kept, or not any more. The mark outlives us. */
  keepPublic(port: L2Port, isKept: boolean, signal: AbortSignal): Promise<L2Port>;
  /** Deletes the port, and its floating IP unless that is to be kept. */
  delete(port: L2Port, signal: AbortSignal): Promise<void>;
  /** Whether the cluster's own record names the port. Only such a port is deleted without a confirmation. */
  isRecorded(port: L2Port): boolean;
  /** Services use these ports: they go into the cluster's own record. */
  record(ports: readonly L2Port[]): Promise<void>;
  /** What the last list and the last sweep found with a mark of this cluster, and what is not certain to be ours. */
  orphans(): OrphanReport;
  /** Deletes an orphan, as an operator has confirmed, if it is still one. */
  deleteOrphan(orphan: Orphan, signal: AbortSignal): Promise<void>;
  /**
   * Removes what a crash left that is no port: floating IPs that nothing uses and that were made for a port of the
   * cluster's record, unless the port is one of these or a Service advertises the address. Says what it removed.
   */
  sweep(
    portIds: ReadonlySet<string>,
    advertised: ReadonlySet<Address>,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
}
