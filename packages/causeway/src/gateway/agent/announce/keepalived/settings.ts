import type { Address, Family } from '@causeway/base/address/address';

/** A network of the gateway and its VRRP parameters there. */
export interface VrrpNetwork {
  readonly name: 'external' | 'internal';
  readonly interface: string;
  readonly families: readonly VrrpFamily[];
}

export interface VrrpFamily {
  readonly family: Family;
  readonly virtualRouterId: number;
  /** This gateway's own address in the network, and the source of its adverts. */
  readonly source: Address;
  /** The other gateways' own addresses. Adverts are sent to them and accepted only from them. */
  readonly peers: readonly Address[];
  /**
   * The only address in adverts. It never changes, because a gateway ignores adverts with other addresses
   * than its own configuration has. With a served address here, every change would cause two masters until
   * the last gateway has applied it.
   */
  readonly anchor: Address;
  /** Addresses beside the anchor that move with it and belong to no frontend, such as the nodes' route. */
  readonly routes: readonly Address[];
}

export interface KeepalivedSettings {
  /** The gateway's name, for keepalived's log. */
  readonly name: string;
  readonly networks: readonly VrrpNetwork[];
  readonly priority: number;
  readonly advertIntervalMs: number;
  /** Seconds after a failover until the addresses are announced again. Later, ten times this interval. */
  readonly announceAgainSeconds: number;
  readonly files: KeepalivedFiles;
}

export interface KeepalivedFiles {
  readonly config: string;
  readonly pid: string;
  readonly vrrpPid: string;
  /** keepalived's output, if the agent starts it. */
  readonly log: string;
  readonly notifyFifo: string;
  /** Contains 0, or 1 while the gateway must not be master. */
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

/** The default IPv4 anchor: link-local, a different one for each virtual router. */
export function anchorFor(family: Family, virtualRouterId: number): string {
  return family === 4
    ? `169.254.255.${virtualRouterId}`
    : `fe80::cafe:${virtualRouterId.toString(16)}`;
}
