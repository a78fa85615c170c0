import { createHash } from 'node:crypto';
import type { Family } from '@causeway/base/address/address';

/**
 * Names inside our table. Those of the skeleton are fixed. The others contain a digest of their identity,
 * never external text, so any legal policy name is safe and none can collide with a fixed name.
 */
export const chainNames = {
  natPrerouting: 'nat-prerouting',
  natOutput: 'nat-output',
  natPostrouting: 'nat-postrouting',
  filterInput: 'filter-input',
  filterForward: 'filter-forward',
  filterOutput: 'filter-output',
  services: 'services',
  rewriteSource: 'rewrite-source',
  masqueradeAlways: 'masquerade-always',
  masqueradeOutsiders: 'masquerade-outsiders',
  masqueradeMachine: 'masquerade-machine',
  virtualAddress: 'virtual-address',
  refuse: 'refuse',
  unplaced: 'unplaced',
  rawPrerouting: 'raw-prerouting',
  filterListeners: 'filter-listeners',
  toListener: 'to-listener',
  filterHeld: 'filter-held',
  refusals: 'refusals',
  forgedAdverts: 'forged-adverts',
} as const;

/** The part of a packet that decides its slot. */
export type HashBy = 'connection' | 'client';

/** Selects the backends: those of all clients, or those for clients from inside where they differ. */
export type Side = 'all' | 'inside';

/** Slots for clients from inside start here, above every table, so that one map holds both. */
export const firstSlot: Readonly<Record<Side, number>> = { all: 0, inside: 1 << 20 };

export const slotChain = (family: Family, by: HashBy, slots: number, side: Side = 'all'): string =>
  `slots${family}-${by}-${slots}${side === 'all' ? '' : '-inside'}`;
export const nodesChain = (family: Family, by: HashBy): string => `nodes${family}-${by}`;
export const holdChain = (group: number): string => `hold-${group}`;
/** Log group for packets that arrive through an inside interface. */
export const insideLogGroup = (group: number): number => group + 1;
export const hereChain = (port: number): string => `here-${port}`;

const perFamily = (name: string) => (family: Family) => `${name}${family}`;
export const setNames = {
  /** Verdict of a virtual address, protocol and port. */
  services: perFamily('services'),
  /** Connection counters of each service. */
  counts: perFamily('counts'),
  /** The backend of each slot of each service. */
  slots: perFamily('slots'),
  /** The backend chain of each slot of a service with stored clients. */
  stickySlots: perFamily('sticky-slots'),
  /** The backend of a running connection whose slot has moved. */
  pins: perFamily('pins'),
  /** The virtual address of a running connection, by its backend and client. */
  reversePins: perFamily('reverse-pins'),
  /** Running connections of which this machine has dropped a FIN. */
  closing: perFamily('closing'),
  /** Virtual address of a backend, for its answers. */
  reverse: perFamily('reverse'),
  reverseNodePorts: perFamily('reverse-node-ports'),
  nodes: perFamily('nodes'),
  nodeAddresses: perFamily('node-addresses'),
  nodePorts: perFamily('node-ports'),
  /** The protocols without nodes to dispatch to: all or none. */
  nodeless: perFamily('nodeless'),
  /** Addresses that only services use. */
  addresses: perFamily('addresses'),
  /** Networks in which every address belongs to a service or is unused. */
  virtualNetworks: perFamily('virtual-networks'),
  /** Services that are routed and not rewritten. */
  routed: perFamily('routed'),
  /** Services with a listener on this machine, and its port. */
  accepted: perFamily('accepted'),
  /** Services with held packets. */
  held: perFamily('held'),
  /** Services that are routed, or that have a backend at their own address and port. */
  unchanged: perFamily('unchanged'),
  /** Services with rejected packets in the forward hook: without backends, or forwarded to another machine. */
  refused: perFamily('refused'),
  /** Clients and the backends that recently refused them, where the refusal was dropped. */
  refusals: perFamily('refusals'),
  /** Services that masquerade always, or never. */
  masquerade: perFamily('masquerade'),
  localSources: perFamily('local-sources'),
  insiders: perFamily('insiders'),
  hairpin: perFamily('hairpin'),
  pods: perFamily('pods'),
  /** Sources of recently dropped VRRP adverts. */
  vrrpStrangers: perFamily('vrrp-strangers'),
} as const;

/** The peers that send VRRP adverts on one interface, by the interface's index in the settings. */
export const vrrpPeersSet = (link: number, family: Family): string =>
  `vrrp-peers-${link}-${family}`;

/** Counts the VRRP adverts that were dropped. */
export const droppedAdverts = 'vrrp-dropped';

/** The transport protocols that have ports. */
export const portProtocols = 'port-protocols';

/** Ports of this machine on which listeners accept for services. */
export const listeners = 'listeners';

/** A name for an object without a fixed one. 80 bits: collisions of two policies are infeasible. */
export function derivedName(kind: string, ...identity: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 20);
  return `${kind}-${digest}`;
}
