import type { Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import type { Prefix } from '@causeway/base/address/prefix';

export interface Endpoint {
  readonly address: Address;
  readonly port: Port;
  /** The endpoint's share of new connections relative to the others'; 1 when left out. At least 1. */
  readonly weight?: number;
}

/**
 * How a client finds the same endpoint again.
 * - `none`: each connection is placed by the client's address and port
 * - `client-hash`: by the client's address alone; needs no state, so it is the same on every gateway
 * - `client-timeout`: the endpoint is remembered in the kernel, for so long after the last connection;
 *   nodes that services share are not remembered, there it is the same as `client-hash`. Services of
 *   the same `group` and family remember together: a client finds its endpoint on all their addresses
 */
export type Affinity =
  | { readonly kind: 'none' }
  | { readonly kind: 'client-hash' }
  | { readonly kind: 'client-timeout'; readonly seconds: number; readonly group?: string };

/**
 * What becomes of a connection to the virtual address.
 * - `slots`: to one of the service's own endpoints
 * - `node-ports`: to one of the nodes that all such services share, on this service's node port
 * - `route-unchanged`: nothing is rewritten; the packet goes where the routes say
 * - `nodes-unchanged`: nothing is rewritten; the packet goes to one of these nodes, or of those that all
 *   services share. Needs a {@link RoutedWriter} beside the layout
 * - `here`: to a listener on this machine
 * - `hold`: a copy goes to an NFLOG group and the packet is dropped; whoever listens can replay it
 */
export type Dispatch =
  | { readonly kind: 'slots'; readonly endpoints: readonly Endpoint[] }
  | { readonly kind: 'node-ports'; readonly nodePort: Port }
  | { readonly kind: 'route-unchanged' }
  | { readonly kind: 'nodes-unchanged'; readonly nodes?: readonly Address[] }
  | { readonly kind: 'here'; readonly port: Port }
  | { readonly kind: 'hold'; readonly logGroup: number };

/** One address, protocol and port that clients connect to, and what happens then. */
export interface VirtualService {
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
  readonly dispatch: Dispatch;
  /**
   * With `slots`, the endpoints for clients from inside (`LayoutSettings.insiders`, and this machine
   * itself), where they are others. At least one.
   */
  readonly insideEndpoints?: readonly Endpoint[];
  /** `none` when left out. */
  readonly affinity?: Affinity;
  /** Who may connect; anyone when left out. An empty list lets nobody in. */
  readonly sourceRanges?: readonly Prefix[];
  /**
   * Whose source is rewritten to the machine's own. `needed` (when left out): only clients whose
   * answers would not come back this way, see `LayoutSettings.localSources`. `outsiders`: all but
   * `LayoutSettings.insiders`. `machine`: only this machine's own connections.
   */
  readonly masquerade?: Masquerade;
  /**
   * Whether the address belongs to services alone, so that anything else on it is refused; true when
   * left out. False for a port on an address that the machine uses itself, such as a node port.
   */
  readonly exclusiveAddress?: boolean;
  /** What a client gets while there is no endpoint; `reject` when left out. */
  readonly withoutEndpoints?: 'reject' | 'drop';
}

export type Masquerade = 'never' | 'needed' | 'always' | 'outsiders' | 'machine';

/** Identifies a service among all: `192.0.2.1 . TCP . 80`. */
export type ServiceKey = string & { readonly __serviceKey: true };

export function serviceKey(
  service: Pick<VirtualService, 'address' | 'protocol' | 'port'>,
): ServiceKey {
  return `${service.address} . ${service.protocol} . ${service.port}` as ServiceKey;
}

/** Every endpoint that a connection to the service may be sent to. */
export function serviceEndpoints(service: VirtualService | undefined): readonly Endpoint[] {
  if (service?.dispatch.kind !== 'slots') return [];
  return [...service.dispatch.endpoints, ...(service.insideEndpoints ?? [])];
}

/** Ingress rules for pods, as a NetworkPolicy states them with names already resolved. */
export interface IngressPolicy {
  readonly namespace: string;
  readonly name: string;
  /** A connection that any of these allows is let in. */
  readonly allow: readonly IngressRule[];
}

export interface IngressRule {
  /** From these blocks; from anywhere when left out. An empty list allows nobody. */
  readonly from?: readonly IpBlock[];
  /** To these ports of the pod; to any when left out. */
  readonly ports?: readonly PortRange[];
}

export interface IpBlock {
  readonly cidr: Prefix;
  readonly except: readonly Prefix[];
}

export interface PortRange {
  readonly protocol: Protocol;
  /** Any port of the protocol when left out. */
  readonly first?: Port;
  /** The same as `first` when left out. */
  readonly last?: Port;
}

/** Which policies select a pod. A selected pod accepts only what one of its policies allows. */
export interface PodPolicies {
  readonly address: Address;
  /** `namespace/name` of each. */
  readonly policies: readonly string[];
}

/** What is the same for all services. */
export interface LayoutSettings {
  /** The name of the `inet` table. */
  readonly table: string;
  /** A secret of the cluster, the same on every gateway, so that nobody can aim at one endpoint. */
  readonly hashSeed: number;
  /** Clients in these networks would be answered directly; `masquerade: needed` rewrites their source. */
  readonly localSources: readonly Prefix[];
  /**
   * Masquerade a pod that reaches itself through a service. A node proxy needs it; on a gateway
   * `localSources` already covers it.
   */
  readonly hairpin: boolean;
  /**
   * Give back the virtual address to a server's packet that arrives in mid-stream, so that connections
   * survive a move to this gateway. A node proxy does not need it.
   */
  readonly resumeConnections: boolean;
  /** Who is inside the cluster, for services that tell insiders from others. A node proxy needs it. */
  readonly insiders?: Insiders;
  /** Drop every forwarded packet that conntrack cannot place, not only those from `localSources`. */
  readonly dropsUnplaced?: boolean;
  /** Drop what goes to an address of `LayoutInput.virtualNetworks` that no service has. */
  readonly dropsUnallocated?: boolean;
  /**
   * Drop an endpoint's first refusal, so that the client tries again: a pod that ends closes its port
   * before anybody hears of it. A node proxy needs it.
   */
  readonly retriesRefused?: boolean;
  /** Which VRRP packets (protocol 112) this machine accepts. Without it, no VRRP packet is dropped. */
  readonly vrrp?: VrrpFilter;
}

/**
 * VRRP packets are accepted from a peer, on the interface that the peer is on, with the TTL 255 that only
 * a sender on the same link can have. All others are dropped.
 */
export interface VrrpFilter {
  readonly links: readonly VrrpLink[];
  /** Router ids of this gateway. Dropped packets with one of them are counted as forged adverts. */
  readonly routerIds: readonly number[];
}

export interface VrrpLink {
  readonly interface: string;
  readonly peers: readonly Address[];
}

/** A client is inside when it comes from one of these networks or through one of these interfaces. */
export interface Insiders {
  readonly networks: readonly Prefix[];
  /** A name, or the beginning of names with `*` behind it. */
  readonly interfaces: readonly string[];
}

/** Everything the ruleset is a function of. */
export interface LayoutInput {
  readonly settings: LayoutSettings;
  readonly services: readonly VirtualService[];
  /** The nodes that `node-ports` services are spread over. */
  readonly nodes?: readonly Address[];
  readonly policies?: readonly IngressPolicy[];
  readonly pods?: readonly PodPolicies[];
  /** Networks of which every address belongs to a service or to nobody. */
  readonly virtualNetworks?: readonly Prefix[];
}
