import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { Clock } from '@causeway/base/time/clock';
import {
  done,
  retryAfter,
  runController,
  type Outcome,
  type ReconcileContext,
} from '@causeway/base/work/controller';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { WorkQueue } from '@causeway/base/work/work-queue';
import type { ClusterView } from '../services/cluster-view.ts';
import type { FrontendSpec } from '../services/frontend-spec.ts';
import type { DeleteOutcome, Owner, ProviderContext, ProviderHost } from '../services/provider.ts';
import { recordOf } from '../services/record.ts';
import { toKlbSlices } from './endpoint-slices.ts';
import type { KlbView } from './klb-view.ts';
import type { KlbWriter } from './klb-writer.ts';
import { ownerUid, serviceFinalizer, type KuryrLoadBalancer } from './kuryr-load-balancer.ts';

export interface OwnerlessObjectsOptions {
  readonly view: KlbView;
  readonly cluster: ClusterView;
  readonly writer: KlbWriter;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long endpoints are kept without their Service. */
  readonly patienceMs: number;
}

export type EnsureDeleted = (owner: Owner, context: ProviderContext) => Promise<DeleteOutcome>;

/**
 * Objects without a Service of this provider: endpoints that exist before their Service, KuryrLoadBalancers
 * without an owner, and Services of Kuryr that were deleted before their adoption.
 */
export class OwnerlessObjects {
  readonly #options: OwnerlessObjectsOptions;
  readonly #queue: WorkQueue<string>;
  /** Endpoints whose Service did not appear in time or was deleted, with their slices. */
  readonly #givenUp = new Map<string, string>();

  constructor(options: OwnerlessObjectsOptions) {
    this.#options = options;
    this.#queue = new WorkQueue<string>({ clock: options.clock });
  }

  consider(key: string): void {
    this.#queue.add(key);
  }

  run(host: ProviderHost, ensureDeleted: EnsureDeleted, signal: AbortSignal): Promise<void> {
    const { clock, log, metrics } = this.#options;
    const reconcile = (key: string, context: ReconcileContext) =>
      this.#reconcile(key, host, ensureDeleted, context);
    const common = { workers: 2, deadlineMs: 300_000, clock, log, metrics };
    return runController(
      { name: 'orphaned load balancers', queue: this.#queue, reconcile, ...common },
      signal,
    );
  }

  async #reconcile(
    key: string,
    host: ProviderHost,
    ensureDeleted: EnsureDeleted,
    { signal, log }: ReconcileContext,
  ): Promise<Outcome> {
    const frontend = host.objects.get(key);
    const klb = this.#options.view.get(key);
    const context = { signal, log, annotate: () => Promise.resolve(), recordEvent: () => {} };
    if (frontend !== undefined) {
      this.#givenUp.set(key, marksOf(this.#slices(key)));
      if (isAbandoned(frontend)) return this.#letGo(frontend.owner, host, ensureDeleted, context);
      return klb === undefined || isOwnedOrHeld(klb) ? done : this.#giveTime(klb, signal);
    }
    // The Service controller releases an object with an owner.
    if (klb !== undefined && ownerUid(klb) !== undefined) return done;
    if (klb?.status?.loadbalancer !== undefined) {
      const [namespace = '', name = ''] = key.split('/');
      return toOutcome(await ensureDeleted({ namespace, name, uid: '' }, context));
    }
    return this.#keepEndpoints(key, klb, signal);
  }

  #slices(key: string): EndpointSlice[] {
    return this.#options.cluster.slicesOf(key).filter(isOnItsOwn);
  }

  /** Endpoints created it, and its Service belongs to another provider or was not reconciled yet. */
  async #giveTime(klb: KuryrLoadBalancer, signal: AbortSignal): Promise<Outcome> {
    const restMs = this.#restOf(klb);
    if (restMs > 0) return retryAfter(restMs + 1_000, 'waiting for the adoption of the Service');
    await this.#options.writer.remove(klb, signal);
    return done;
  }

  #restOf(klb: KuryrLoadBalancer | undefined): number {
    const { clock, patienceMs } = this.#options;
    const createdAt = Date.parse(klb?.metadata?.creationTimestamp ?? '');
    return Number.isNaN(createdAt) ? patienceMs : createdAt + patienceMs - clock.wallTime();
  }

  async #keepEndpoints(
    key: string,
    klb: KuryrLoadBalancer | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { writer } = this.#options;
    const slices = this.#slices(key);
    const marks = marksOf(slices);
    const restMs = this.#restOf(klb);
    if (slices.length === 0 || restMs <= 0) {
      if (slices.length > 0) this.#givenUp.set(key, marks);
      else this.#givenUp.delete(key);
      if (klb !== undefined) await writer.remove(klb, signal);
      return done;
    }
    if (this.#givenUp.get(key) === marks) return done;
    await writer.writeEndpointsOnly(key, { endpointSlices: toKlbSlices(slices) }, signal);
    return retryAfter(restMs + 1_000, 'waiting for the Service of these endpoints');
  }

  /** A Service of Kuryr that was deleted before its adoption: the controller removes Kuryr's finalizer. */
  async #letGo(
    owner: Owner,
    host: ProviderHost,
    ensureDeleted: EnsureDeleted,
    context: ProviderContext,
  ): Promise<Outcome> {
    const outcome = await ensureDeleted(owner, context);
    if (outcome.kind === 'pending') return toOutcome(outcome);
    await host.removeFinalizer(owner, serviceFinalizer, context.signal);
    return done;
  }
}

function isOwnedOrHeld(klb: KuryrLoadBalancer): boolean {
  const isHeld = (klb.metadata?.finalizers ?? []).length > 0;
  return isHeld || ownerUid(klb) !== undefined || klb.status?.loadbalancer !== undefined;
}

function isAbandoned(frontend: FrontendSpec): boolean {
  return (
    frontend.isDeleted &&
    frontend.finalizers.includes(serviceFinalizer) &&
    recordOf(frontend).kind === 'none'
  );
}

/** Slices that a Service or its Endpoints own are deleted with it, or the Service will appear soon. */
function isOnItsOwn({ metadata }: EndpointSlice): boolean {
  return (
    metadata?.deletionTimestamp === undefined && (metadata?.ownerReferences ?? []).length === 0
  );
}

function marksOf(slices: readonly EndpointSlice[]): string {
  return slices
    .map(({ metadata }) => metadata?.uid ?? '')
    .sort()
    .join();
}

function toOutcome(outcome: DeleteOutcome): Outcome {
  if (outcome.kind === 'gone') return done;
  return retryAfter(outcome.retryAfterMs ?? 5_000, outcome.message);
}
