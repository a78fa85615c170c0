import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import type { Log } from '@causeway/base/observability/log';
import type { FrontendSpec } from './frontend-spec.ts';

/** The owner of a load balancer. The UID distinguishes a Service from a later one with the same name. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * One address as written to `status.loadBalancer.ingress`. The mode is always set (`VIP`: packets arrive with
 * the address as destination; `Proxy`: another component answers for it). Otherwise the API server would set
 * it, and the controller would find its own status changed.
 */
export type Ingress =
  | { readonly ip: string; readonly ipMode: 'VIP' | 'Proxy' }
  | { readonly hostname: string };

export function ingressAddress(entry: Ingress): string {
  return 'ip' in entry ? entry.ip : entry.hostname;
}

/**
 * Whether an owner belongs to a provider: by class or annotation (`yes`), only as the default provider
 * (`if-default`), or not at all (`no`).
 */
export type Match = 'yes' | 'if-default' | 'no';

/**
 * The result of `ensure`:
 *
 * - `ready`: the load balancer serves these addresses;
 * - `pending`: in progress; the controller reconciles again after the delay, or when the provider asks for
 *   it;
 * - `refused`: the Service can't be served as it is. `reason` is one CamelCase word for the Event, `message`
 *   states the fault and the remedy.
 */
export type EnsureOutcome =
  | {
      readonly kind: 'ready';
      readonly ingress: readonly Ingress[];
      /** What the Service requests and does not get yet, as a sentence for the condition. */
      readonly missing?: string | undefined;
      /** Reconcile again after this delay to get the missing part. */
      readonly retryAfterMs?: number | undefined;
      /** A limitation of the served Service, for its condition. */
      readonly note?: string | undefined;
    }
  | {
      readonly kind: 'pending';
      readonly message: string;
      readonly retryAfterMs?: number;
      /** Addresses that are assigned. The status gets new ones when the outcome is `ready`. */
      readonly ingress?: readonly Ingress[];
      /** The load balancer fails. The condition of a Service that was served becomes false, too. */
      readonly isFailing?: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly reason: EventReason;
      readonly message: string;
      /** Reconcile again after this delay, because no notification arrives when the obstacle is gone. */
      readonly retryAfterMs?: number;
    };

export type DeleteOutcome =
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'pending';
      readonly message: string;
      readonly retryAfterMs?: number;
      /** The status must not show the address before the provider continues. */
      readonly leavesStatus?: boolean;
    };

/** Annotations to set; null removes one. */
export type Annotations = Readonly<Record<string, string | null>>;

/** Fields of the spec to set; null removes one. */
export type SpecChange = Readonly<Partial<Record<keyof ServiceSpec, unknown>>>;

/** Further changes in one write to a Service. */
export interface AnnotateOptions {
  readonly spec?: SpecChange | undefined;
  /** Addresses that the status will show. The record has them after this write. */
  readonly ingress?: readonly Ingress[] | undefined;
}

export interface ProviderContext {
  readonly signal: AbortSignal;
  readonly log: Log;
  /**
   * Writes to the Service at once, so that a restarted controller knows the state before the next outside
   * call. Does nothing for a Service that no longer exists.
   */
  annotate(annotations: Annotations, also?: AnnotateOptions): Promise<void>;
  /** Records an Event on the Service. */
  recordEvent(reason: EventReason, message: string): void;
}

/** Read-only view of the objects that can own a load balancer, by `namespace/name`. */
export interface ObjectView<Subject> {
  /** Resolves when the view shows the state of the API server. */
  readonly synced: Promise<void>;
  get(key: string): Subject | undefined;
  values(): Iterable<Subject>;
  /** Calls the handler for each object and each later change. Returns a function that removes the handler. */
  onChange(handler: (change: { readonly key: string }) => void): () => void;
}

/** The controller's interface for a running provider. */
export interface ProviderHost<Subject = FrontendSpec> {
  /** All objects that can own a load balancer, with and without a provider. */
  readonly objects: ObjectView<Subject>;
  /** The name of the provider that serves this owner, by its class or by default. */
  providerOf(owner: Owner): string | undefined;
  /** Queues an owner (`namespace/name`) for reconciliation. */
  enqueue(key: string): void;
  /** Records an Event on an owner that may be deleted. */
  recordEvent(owner: Owner, reason: EventReason, message: string): void;
  /** Removes a finalizer from an owner. Does nothing for an owner that no longer exists. */
  removeFinalizer(owner: Owner, finalizer: string, signal: AbortSignal): Promise<void>;
}

/**
 * Load balancers on one kind of infrastructure, modeled on the cloud-provider contract of Kubernetes. Each
 * call can be repeated, can come late, and can follow a crash in the middle of the same call; it then
 * completes the work. Calls for different owners run concurrently, calls for one owner never do.
 *
 * `Subject` is the description of a load balancer: a FrontendSpec, whatever object owns the load balancer. The
 * pool provider takes the Service itself, because its announcers act on Services.
 */
export interface LoadBalancerProvider<Subject = FrontendSpec> {
  /** One word, such as `gateway`. Recorded on the Services that the provider serves. */
  readonly name: string;
  /** An additional finalizer, beside the finalizer of the Kubernetes service controller. */
  readonly finalizer?: string | undefined;
  match(subject: Subject): Match;
  /** The writer of `status.loadBalancer`: this controller, or the component that announces the address. */
  statusWriter(subject: Subject): 'controller' | 'announcer';
  /** The name of the load balancer outside of the cluster. */
  loadBalancerName(subject: Subject): string;
  /** The addresses of this owner, from the provider's own store and without an outside call. */
  get(owner: Owner): readonly Ingress[] | undefined;
  /**
   * All owners of load balancers. The controller uses it to find owners that were deleted while it did not
   * run.
   */
  owners(): Iterable<Owner>;
  /** The owners with this `namespace/name`: more than one after a Service was recreated. */
  ownersNamed(key: string): readonly Owner[];
  /** Makes the load balancer match its description. Creates it if necessary. */
  ensure(subject: Subject, context: ProviderContext): Promise<EnsureOutcome>;
  /** Called for an unchanged description when its nodes or endpoints may have changed. */
  update(subject: Subject, context: ProviderContext): Promise<EnsureOutcome>;
  /**
   * Removes everything that the provider holds for the owner. Objects that are already gone are not an error.
   */
  ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome>;
  /** Runs watches, pollers and pushes to agents until the signal fires. */
  run(host: ProviderHost<Subject>, signal: AbortSignal): Promise<void>;
  /** Resolves when the provider has read enough to decide. The controller writes nothing before. */
  readonly synced: Promise<void>;
  /** Undefined if ready, else the reason. */
  readiness(): string | undefined;
}
