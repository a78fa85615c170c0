import type { Port, Protocol } from '@causeway/base/address/port';
import type { Backend, VirtualService } from '@causeway/nftables/compile/virtual-service';

/**
 * Where the connections to a Service go instead of to its endpoints.
 * - `park`: each packet goes to an NFLOG group and is dropped; the holder may replay it
 * - `accept`: to a listener on this machine, by `portId` of the Service's ports; ports without a listener are
 *   parked
 * - `replay`: to its endpoints, but from outside only where the client's address can be kept. Parked packets
 *   are replayed now; gateways that send directly to pods take the rest
 */
export type Diversion = Holding | { readonly kind: 'replay' };

/** The ways in which connections wait for an idle Service. */
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

/** Publishes the state of the kernel. */
export interface CommitSource {
  /** Calls the listener after each transaction, in order. Returns a function that unsubscribes. */
  onCommit(listener: (served: readonly ServedService[]) => void): () => void;
}

/** State of a Service in the kernel. */
export interface ServedService {
  /** `namespace/name`. */
  readonly service: string;
  /** Undefined when its endpoints are served to all clients. */
  readonly diversion: Diversion | undefined;
  /** Empty when the Service was deleted. */
  readonly targets: readonly ServedTarget[];
  /** Health check that external load balancers use to select nodes with endpoints. */
  readonly healthCheck: HealthCheck | undefined;
}

/** Answer of a healthCheckNodePort. An idle Service is healthy: its node can wake it. */
export interface HealthCheck {
  readonly port: Port;
  readonly localEndpoints: number;
}

/** One address, protocol and port of a Service in the kernel. */
export interface ServedTarget {
  /** `portId` of the Service's port. */
  readonly port: string;
  readonly virtual: VirtualService;
  /** With UDP, the endpoints that keep their flows: all that serve. */
  readonly serving?: readonly Backend[];
}

/** Identifies a port within its Service: `TCP/80`. */
export function portId(protocol: Protocol, port: number): string {
  return `${protocol}/${port}`;
}
