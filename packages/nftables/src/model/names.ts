import { createHash } from 'node:crypto';
import type { Family } from '@causeway/base/address/address';

/**
 * Names inside our table. Those of the skeleton are fixed; the others carry a digest of what they
 * stand for, never text that came from outside, so any legal policy name is safe and none can be
 * taken for a chain of ours.
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
  filterListeners: 'filter-listeners',
  toListener: 'to-listener',
  filterHeld: 'filter-held',
  refusals: 'refusals',
  forgedAdverts: 'forged-adverts',
} as const;

/** Which part of a packet decides its slot. */
export type HashBy = 'connection' | 'client';

/** Whose endpoints: everybody's, or those for clients from inside where they are others. */
export type Side = 'all' | 'inside';

/** Slots for those inside are numbered from here, above every table, so that one map holds both. */
export const firstSlot: Readonly<Record<Side, number>> = { all: 0, inside: 1 << 20 };

export const slotChain = (family: Family, by: HashBy, slots: number, side: Side = 'all'): string =>
  `slots${family}-${by}-${slots}${side === 'all' ? '' : '-inside'}`;
export const nodesChain = (family: Family, by: HashBy): string => `nodes${family}-${by}`;
export const holdChain = (group: number): string => `hold-${group}`;
/** Where packets are logged that come through an interface of those inside. */
export const insideLogGroup = (group: number): number => group + 1;
export const hereChain = (port: number): string => `here-${port}`;

const perFamily = (name: string) => (family: Family) => `${name}${family}`;
export const setNames = {
  /** Where a virtual address, protocol and port goes. */
  services: perFamily('services'),
  /** Connections to each service. */
  counts: perFamily('counts'),
  /** The endpoint of each slot of each service. */
  slots: perFamily('slots'),
  /** The endpoint chain of each slot of a service that remembers its clients. */
  serialQueue: perFamily('turns'),
  /** An endpoint's way back to its virtual address. */
  reverse: perFamily('reverse'),
  reverseNodePorts: perFamily('reverse-node-ports'),
  nodes: perFamily('nodes'),
  nodeAddresses: perFamily('node-addresses'),
  nodePorts: perFamily('node-ports'),
  /** The protocols in which there are no nodes to send to: all or none. */
  nodeless: perFamily('nodeless'),
  /** Addresses that belong to services alone. */
  addresses: perFamily('addresses'),
  /** Networks of which every address belongs to a service or to nobody. */
  virtualNetworks: perFamily('virtual-networks'),
  /** Services that are routed and not rewritten. */
  routed: perFamily('routed'),
  /** Services that a listener on this machine accepts for, with its port. */
  accepted: perFamily('accepted'),
  /** Services whose packets are held. */
  held: perFamily('held'),
  /** Services that are routed, or that have an endpoint at their own address and port. */
  unchanged: perFamily('unchanged'),
  /** Services that are refused where a packet to them comes through: without endpoints, or sent on elsewhere. */
  refused: perFamily('refused'),
  /** Who was refused by which endpoint a moment ago, and was not told. */
  refusals: perFamily('refusals'),
  /** Services that masquerade always, or never. */
  masquerade: perFamily('masquerade'),
  localSources: perFamily('local-sources'),
  insiders: perFamily('insiders'),
  hairpin: perFamily('hairpin'),
  pods: perFamily('pods'),
  /** Sources of VRRP adverts that were dropped a moment ago. */
  vrrpStrangers: perFamily('vrrp-strangers'),
} as const;

/** The peers whose VRRP adverts arrive on one interface, by the interface's place in the settings. */
export const vrrpPeersSet = (link: number, family: Family): string =>
  `vrrp-peers-${link}-${family}`;

/** Counts the VRRP adverts that were dropped. */
export const droppedAdverts = 'vrrp-dropped';

/** The transport protocols that have ports. */
export const portProtocols = 'port-protocols';

/** Ports of this machine at which services are accepted for. */
export const listeners = 'listeners';

/** A name for what has no fixed one. 80 bits: nobody finds two policies that share it. */
export function derivedName(kind: string, ...identity: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 20);
  return `${kind}-${digest}`;
}
