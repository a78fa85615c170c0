import type { Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { Prefix } from '@causeway/base/address/prefix';

export interface Backend {
  readonly address: Address;
  readonly port: Port;
  /** The backend's share of new connections relative to the others; at least 1. Defaults to 1. */
  readonly weight?: number;
}

/**
 * How a client's connections find the same backend.
 * - `none`: the client's address and port select the backend
 * - `client-hash`: the client's address alone selects it; needs no state, so it is the same on every gateway
 * - `client-timeout`: the kernel stores the backend for this time after the last connection. For nodes that
 *   services share it equals `client-hash`. Services of the same `group` and family share the stored clients:
 *   a client finds its backend on all their addresses
 */
export type Affinity =
  | { readonly kind: 'none' }
  | { readonly kind: 'client-hash' }
  | { readonly kind: 'client-timeout'; readonly seconds: number; readonly group?: string };

/**
 * Destination of a connection to the virtual address.
 * - `slots`: one of the service's own backends
 * - `node-ports`: one of the nodes that all such services share, on this service's node port
 * - `route-unchanged`: nothing is rewritten; the packet follows the routes
 * - `nodes-unchanged`: nothing is rewritten; the packet goes to one of these nodes, or of those that all
 *   services share. Needs a {@link RoutedWriter} beside the layout
 * - `here`: a listener on this machine
 * - `hold`: a copy goes to an NFLOG group and the packet is dropped; the listener of the group can replay it
 */
export type Dispatch =
  | { readonly kind: 'slots'; readonly backends: readonly Backend[] }
  | { readonly kind: 'node-ports'; readonly nodePort: Port }
  | { readonly kind: 'route-unchanged' }
  | { readonly kind: 'nodes-unchanged'; readonly nodes?: readonly Address[] }
  | { readonly kind: 'here'; readonly port: Port }
  | { readonly kind: 'hold'; readonly logGroup: number };

/** One address, protocol and port that clients connect to, and its policy. */
export interface VirtualService {
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
  readonly dispatch: Dispatch;
  /**
   * With `slots`, the backends for clients from inside (`LayoutSettings.insiders`, and this machine itself),
   * if they differ. At least one.
   */
  readonly insideBackends?: readonly Backend[];
  /**
   * Backends that still serve but are in no slot: they get no new connections, and keep those that they have
   * answered, also after a failover to this machine.
   */
  readonly draining?: readonly Backend[];
  /** Defaults to `none`. */
  readonly affinity?: Affinity;
  /** Clients that may connect; all by default. An empty list admits no client. */
  readonly sourceRanges?: readonly Prefix[];
  /**
   * Clients with a source that is rewritten to the machine's own address. `needed` (default): only clients if
   * their answers would not return through this machine, see `LayoutSettings.localSources`. `outsiders`: all except
   * `LayoutSettings.insiders`. `machine`: only this machine's own connections.
   */
  readonly masquerade?: Masquerade;
  /**
   * Whether only services use the address, so that anything else on it is rejected. Defaults to true. False
   * for a port on an address that the machine itself uses, such as a node port.
   */
  readonly exclusiveAddress?: boolean;
  /** Reaction while there is no backend. Defaults to `reject`. */
  readonly withoutBackends?: 'reject' | 'drop';
}

export type Masquerade = 'never' | 'needed' | 'always' | 'outsiders' | 'machine';

/** Key of a service: `192.0.2.1 . TCP . 80`. */
export type ServiceKey = string & { readonly __serviceKey: true };

export function serviceKey(
  service: Pick<VirtualService, 'address' | 'protocol' | 'port'>,
): ServiceKey {
  return `${service.address} . ${service.protocol} . ${service.port}` as ServiceKey;
}

/** Every backend that a new connection to the service may be sent to. */
export function serviceBackends(service: VirtualService | undefined): readonly Backend[] {
  if (service?.dispatch.kind !== 'slots') return [];
  return [...service.dispatch.backends, ...(service.insideBackends ?? [])];
}

/** Every backend that a connection to the service may use. */
export function servingBackends(service: VirtualService): readonly Backend[] {
  return [...serviceBackends(service), ...(service.draining ?? [])];
}

/** Ingress rules for pods: a NetworkPolicy with its names resolved. */
export interface IngressPolicy {
  readonly namespace: string;
  readonly name: string;
  /** A connection is admitted if one of these allows it. */
  readonly allow: readonly IngressRule[];
}

export interface IngressRule {
  /** Allowed sources; all by default. An empty list allows none. */
  readonly from?: readonly IpBlock[];
  /** Allowed ports of the pod; all by default. */
  readonly ports?: readonly PortRange[];
}

export interface IpBlock {
  readonly cidr: Prefix;
  readonly except: readonly Prefix[];
}

export interface PortRange {
  readonly protocol: Protocol;
  /** Defaults to any port of the protocol. */
  readonly first?: Port;
  /** Defaults to `first`. */
  readonly last?: Port;
}

/**
 * The policies that select a pod. A selected pod accepts only connections that one of its policies allows.
 */
export interface PodPolicies {
  readonly address: Address;
  /** `namespace/name` of each policy. */
  readonly policies: readonly string[];
}

/** Settings for all services. */
export interface LayoutSettings {
  /** The name of the `inet` table. */
  readonly table: string;
  /** A secret of the cluster, the same on every gateway, so that clients can't target one backend. */
  readonly hashSeed: number;
  /** Clients in these networks would be answered directly; `masquerade: needed` rewrites their source. */
  readonly localSources: readonly Prefix[];
  /**
   * Masquerade a pod that connects to itself through a service. A node proxy needs it; on a gateway
   * `localSources` already covers it.
   */
  readonly hairpin: boolean;
  /**
   * Restore the virtual address in a server's packet of an unknown connection, so that connections survive a
   * failover to this gateway. A node proxy does not need it.
   */
  readonly resumeConnections: boolean;
  /** Clients inside the cluster, for services that distinguish them. A node proxy needs it. */
  readonly insiders?: Insiders;
  /** Drop every forwarded packet that conntrack can't assign, not only those from `localSources`. */
  readonly dropsUnplaced?: boolean;
  /** Drop packets to an unused address of `LayoutInput.virtualNetworks`. */
  readonly dropsUnallocated?: boolean;
  /**
   * Drop a backend's first refusal, so that the client tries again: a terminating pod closes its port
   * before the proxy learns of it. A node proxy needs it.
   */
  readonly retriesRefused?: boolean;
  /** Which VRRP packets (protocol 112) this machine accepts. Without it, no VRRP packet is dropped. */
  readonly vrrp?: VrrpFilter;
}

/**
 * VRRP packets are accepted from a peer, on the interface of that peer, with the TTL 255 that only a sender
 * on the same link can have. All others are dropped.
 */
export interface VrrpFilter {
  readonly links: readonly VrrpLink[];
  /** Router IDs of this gateway. Dropped packets with one of them are counted as forged adverts. */
  readonly routerIds: readonly number[];
}

export interface VrrpLink {
  readonly interface: string;
  readonly peers: readonly Address[];
}

/** A client is inside if it comes from one of these networks or through one of these interfaces. */
export interface Insiders {
  readonly networks: readonly Prefix[];
  /** A name, or a prefix of names followed by `*`. */
  readonly interfaces: readonly string[];
}

/** The complete input of the ruleset. */
export interface LayoutInput {
  readonly settings: LayoutSettings;
  readonly services: readonly VirtualService[];
  /** The nodes of `node-ports` services. */
  readonly nodes?: readonly Address[];
  /** Nodes that get no new connections. They keep those that they have answered. */
  readonly drainingNodes?: readonly Address[];
  readonly policies?: readonly IngressPolicy[];
  readonly pods?: readonly PodPolicies[];
  /** Networks in which every address belongs to a service or is unused. */
  readonly virtualNetworks?: readonly Prefix[];
}
