import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Service, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import type { Store } from '@causeway/kubernetes/cache/store';
import type { Log } from '@causeway/base/observability/log';

/** Whose load balancer it is. The UID tells a Service from another one of the same name. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * One address as it goes into `status.loadBalancer.ingress`. The mode is always said (`VIP`: packets
 * arrive with the address as destination; `Proxy`: something answers for it), because the API server
 * would fill it in and we would find our own status changed.
 */
export type Ingress =
  | { readonly ip: string; readonly ipMode: 'VIP' | 'Proxy' }
  | { readonly hostname: string };

export function ingressAddress(entry: Ingress): string {
  return 'ip' in entry ? entry.ip : entry.hostname;
}

/**
 * Whether a provider wants a Service: it is meant for it (`yes`: its class, or an annotation), it
 * would serve it where it is the default provider (`if-default`), or neither (`no`).
 */
export type Claim = 'yes' | 'if-default' | 'no';

/**
 * How far a provider has come:
 *
 * - `ready`: it serves, on these addresses;
 * - `pending`: under way; look again after the delay, or when the provider asks for it;
 * - `refused`: the Service can't be served as it is. `reason` is one CamelCase word for the Event,
 *   `message` says what is wrong and what to do.
 */
export type EnsureOutcome =
  | { readonly kind: 'ready'; readonly ingress: readonly Ingress[] }
  | {
      readonly kind: 'pending';
      readonly message: string;
      readonly retryAfterMs?: number;
      /** Addresses that are known and promised already. */
      readonly ingress?: readonly Ingress[];
    }
  | {
      readonly kind: 'refused';
      readonly reason: EventReason;
      readonly message: string;
      /** Look again then, because nobody will say when what stands in the way is gone. */
      readonly retryAfterMs?: number;
    };

export type DeleteOutcome =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'pending';
      readonly message: string;
      readonly retryAfterMs?: number;
      /** It must not be shown in the status before the provider goes on. */
      readonly leavesStatus?: boolean;
    };

/** Annotations to set; null removes one. */
export type Annotations = Readonly<Record<string, string | null>>;

/** Fields of the spec to set; null removes one. */
export type SpecChange = Readonly<Partial<Record<keyof ServiceSpec, unknown>>>;

/** What else one write to a Service changes. */
export interface AnnotateOptions {
  readonly spec?: SpecChange | undefined;
  /** Addresses that the status is going to show: the record has them after this write. */
  readonly ingress?: readonly Ingress[] | undefined;
}

export interface ProviderContext {
  readonly signal: AbortSignal;
  readonly log: Log;
  /**
   * Writes to the Service at once, so that a restarted controller knows the state before the next
   * outside call. Does nothing for a Service that no longer exists.
   */
  annotate(annotations: Annotations, also?: AnnotateOptions): Promise<void>;
  /** Records an Event on the Service. */
  recordEvent(type: 'Normal' | 'Warning', reason: EventReason, message: string): void;
}

/** What the controller gives to a provider while it runs. */
export interface ProviderHost {
  /** All Services, of every provider and of none. */
  readonly services: Store<Service>;
  /** The name of the provider that takes this Service, by its class or by default. */
  claimedBy(service: Service): string | undefined;
  /** Brings a Service (`namespace/name`) back to the controller. */
  enqueue(key: string): void;
  /** Records an Event on a Service that may be deleted already. */
  recordEvent(owner: Owner, type: 'Normal' | 'Warning', reason: EventReason, message: string): void;
}

/**
 * What a kind of infrastructure does for Services, modelled on Kubernetes' cloud-provider contract.
 * Every call may be repeated, may come late, and may come after a crash in the middle of the same
 * call; it then finishes the job. Calls for different Services run side by side, calls for one never.
 */
export interface LoadBalancerProvider {
  /** One word: `gateway`. Recorded on the Services it serves. */
  readonly name: string;
  /** A finalizer of its own beside the one that Kubernetes' service controller uses. */
  readonly finalizer?: string;
  claims(service: Service): Claim;
  /** Who writes `status.loadBalancer`: we, or whoever announces the address. */
  statusWriter(service: Service): 'controller' | 'announcer';
  /** What the load balancer is called outside of the cluster. */
  loadBalancerName(service: Service): string;
  /** What it holds for this owner, from its own store and without asking anybody. */
  get(owner: Owner): readonly Ingress[] | undefined;
  /** Everyone it holds something for, so that owners that vanished while nobody looked are noticed. */
  owners(): Iterable<Owner>;
  /** Those of them that are called `namespace/name`: more than one when a Service was made anew. */
  ownersNamed(key: string): readonly Owner[];
  /** Makes the load balancer match the Service, from nothing if need be. */
  ensure(service: Service, context: ProviderContext): Promise<EnsureOutcome>;
  /** The Service is as it was, but the nodes or endpoints behind it may have changed. */
  update(service: Service, context: ProviderContext): Promise<EnsureOutcome>;
  /** Takes everything away that it holds for the owner. What is gone already is gone. */
  ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome>;
  /** Runs what it needs until the signal fires: watches, pollers, pushes to agents. */
  run(host: ProviderHost, signal: AbortSignal): Promise<void>;
  /** Resolves when it knows enough to decide: nothing is written before. */
  readonly synced: Promise<void>;
  /** Undefined when it is ready, else why not. */
  readiness(): string | undefined;
}
