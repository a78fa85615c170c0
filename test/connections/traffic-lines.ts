/** The way that a connection takes to a pod. */
export const paths = [
  /** From outside through the gateways. */
  'gateway',
  /** The same, to backends behind two frontends. */
  'gateway, shared backends',
  /** From the network of the nodes through the gateways, which rewrite the source. */
  'gateway, local source',
  /** To a node port of a node with the real kube-proxy; no gateway is involved. */
  'node with kube-proxy',
  /** The same with Causeway's proxy. */
  'node with causeway proxy',
] as const;
export type TrafficPath = (typeof paths)[number];

export interface TrafficTarget {
  readonly path: TrafficPath;
  readonly address: string;
  readonly port: number;
  /** Number of connections that stay open. */
  readonly count: number;
  /** Connections that begin each second, in addition. */
  readonly newPerSecond: number;
}

/** Settings of a traffic client, as JSON in its first argument. */
export interface TrafficSettings {
  readonly name: string;
  readonly targets: readonly TrafficTarget[];
  /** Each connection carries a message at this interval. */
  readonly messageMs: number;
  /** A connection without progress for this long is broken. */
  readonly stallMs: number;
}

export type Direction = 'up' | 'down';

/** A connection that did not end as its client requested. Times are those of the wall clock. */
export interface LostConnection {
  readonly kind: 'lost';
  readonly id: string;
  readonly path: TrafficPath;
  readonly family: 4 | 6;
  readonly direction: Direction;
  /** The pod that answered; undefined if the connection was never established. */
  readonly backend: string | undefined;
  readonly openedAt: number;
  /** When data last arrived at the observer of this line. */
  readonly progressAt: number;
  readonly endedAt: number;
  readonly cause: string;
}

/** Counts of a client since its start, by path. */
export interface TrafficSummary {
  readonly kind: 'summary';
  readonly at: number;
  readonly counts: Readonly<Partial<Record<TrafficPath, TrafficCounts>>>;
}

export interface TrafficCounts {
  running: number;
  established: number;
  finished: number;
  lost: number;
  unopened: number;
}

/** A server received no data on an upload for too long. */
export interface StalledUpload {
  readonly kind: 'stalled';
  readonly id: string;
  readonly backend: string;
  readonly progressAt: number;
}

export type TrafficLine = LostConnection | TrafficSummary | StalledUpload;
