import type { Address, Family } from '@causeway/base/address/address';

/** One of the networks that a gateway stands in, and how it speaks VRRP there. */
export interface VrrpNetwork {
  readonly name: 'external' | 'internal';
  readonly interface: string;
  readonly families: readonly VrrpFamily[];
}

export interface VrrpFamily {
  readonly family: Family;
  readonly virtualRouterId: number;
  /** This gateway's own address in the network; adverts come from it. */
  readonly source: Address;
  /** The other gateways' own addresses. Adverts go to them, and are taken from them alone. */
  readonly peers: readonly Address[];
  /**
   * The one address that adverts name. It never changes, because a gateway takes no advert that names
   * other addresses than its own configuration: with a served address in that place, every change would
   * make two masters until the last gateway has it.
   */
  readonly anchor: Address;
  /** Addresses beside the anchor that move with it and are no endpoint's, such as the nodes' route. */
  readonly routes: readonly Address[];
}

export interface KeepalivedSettings {
  /** The gateway's name, for keepalived's log. */
  readonly name: string;
  readonly networks: readonly VrrpNetwork[];
  readonly priority: number;
  readonly advertIntervalMs: number;
  /** How long after taking over the addresses are announced a second time, and then how often. */
  readonly announceAgainSeconds: number;
  readonly files: KeepalivedFiles;
}

export interface KeepalivedFiles {
  readonly config: string;
  readonly pid: string;
  readonly vrrpPid: string;
  /** What keepalived says, where the agent starts it. */
  readonly log: string;
  readonly notifyFifo: string;
  /** Holds 0, or 1 while the gateway must not be master. */
  readonly fault: string;
}

export function keepalivedFiles(directory: string): KeepalivedFiles {
  return {
    config: `${directory}/keepalived.conf`,
    pid: `${directory}/keepalived.pid`,
    vrrpPid: `${directory}/keepalived-vrrp.pid`,
    log: `${directory}/keepalived.log`,
    notifyFifo: `${directory}/vrrp.fifo`,
    fault: `${directory}/fault`,
  };
}

/** An IPv4 anchor where the operator names none: link-local, one for each virtual router. */
export function anchorFor(family: Family, virtualRouterId: number): string {
  return family === 4
    ? `169.254.255.${virtualRouterId}`
    : `fe80::cafe:${virtualRouterId.toString(16)}`;
}
