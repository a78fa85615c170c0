import type { Port, Protocol } from '@causeway/base/address/port';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';

/**
 * What a service proxy is told: levels, not events. Whatever the order, only the last thing said about
 * an object counts. Wrappers take this and hand on what they let through, so they can be put around
 * each other: egress firewall around idle switch around base proxy.
 *
 * Calls are synchronous and cheap. What is said in one turn of the event loop takes effect together.
 */
export interface ServiceProxy {
  setService(service: Service): void;
  /** `namespace/name`. */
  removeService(key: string): void;
  setSlice(slice: EndpointSlice): void;
  /** `namespace/name` of the slice. */
  removeSlice(key: string): void;
  /** All that was there at the start has been told. Nothing is written before. */
  synced(): void;
}

/**
 * Where the connections to a Service go instead of to its endpoints.
 * - `park`: each packet goes to an NFLOG group and is dropped; the holder may replay it
 * - `accept`: to a listener on this machine, by `portId` of the Service's ports; what has none is parked
 * - `replay`: to its endpoints, but from outside only where the client's address can be kept: what was
 *   parked is put back now, and gateways that lead straight to pods take the rest
 */
export type Diversion = Holding | { readonly kind: 'replay' };

/** The ways in which connections wait for a Service that sleeps. */
export type Holding =
  | { readonly kind: 'park'; readonly logGroup: number }
  | {
      readonly kind: 'accept';
      readonly listeners: ReadonlyMap<string, Port>;
      readonly logGroup: number;
    };

/** The way in which connections wait; undefined when endpoints are served. */
export function holdingOf(diversion: Diversion | undefined): Holding | undefined {
  return diversion?.kind === 'replay' ? undefined : diversion;
}

/** The base proxy as the idle switch sees it: both sides of the switch are one ruleset. */
export interface DivertibleProxy extends ServiceProxy {
  /**
   * Diverts all addresses and ports of a Service, or serves it again (undefined). Takes effect in the
   * same transaction as whatever else is said in this turn of the event loop, so that no instant lies
   * between. Kept for a Service that is not known yet.
   */
  divert(service: string, diversion: Diversion | undefined): void;
  /** Told after each transaction, in order. Answers with a way to stop. */
  onCommit(listener: (served: readonly ServedService[]) => void): () => void;
}

/** What the kernel does for a Service from now on. */
export interface ServedService {
  /** `namespace/name`. */
  readonly service: string;
  /** Undefined when its endpoints are served to everybody alike. */
  readonly diversion: Diversion | undefined;
  /** Empty when the Service is gone. */
  readonly targets: readonly ServedTarget[];
  /** Where external load balancers ask whether this node has endpoints. */
  readonly healthCheck: HealthCheck | undefined;
}

/** What a healthCheckNodePort answers with. An idle Service answers well: its node can wake it. */
export interface HealthCheck {
  readonly port: Port;
  readonly localEndpoints: number;
}

/** One address, protocol and port of a Service, as the kernel has it. */
export interface ServedTarget {
  /** `portId` of the Service's port that it belongs to. */
  readonly port: string;
  readonly virtual: VirtualService;
}

/** Names a port within its Service: `TCP/80`. */
export function portId(protocol: Protocol, port: number): string {
  return `${protocol}/${port}`;
}
