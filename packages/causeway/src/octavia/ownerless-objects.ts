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
import type { FrontendSpec } from '../services/frontend-spec.ts';
import type { DeleteOutcome, ProviderContext, ProviderHost } from '../services/provider.ts';
import { recordOf } from '../services/record.ts';
import { toKlbSlices } from './endpoint-slices.ts';
import { ownerUid, serviceFinalizer, type KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { Release } from './release.ts';
import type { OctaviaState } from './state.ts';

export interface OwnerlessObjectsOptions extends Pick<OctaviaState, 'klbs' | 'cluster'> {
  readonly release: Release;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long endpoints are kept without their Service. */
  readonly patienceMs: number;
}

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

  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { klbs, clock, log, metrics } = this.#options;
    const stops = [
      klbs.onChange(({ key }) => this.consider(key)),
      host.objects.onChange(({ key }) => this.consider(key)),
    ];
    const reconcile = (key: string, context: ReconcileContext) =>
      this.#reconcile(key, host, context);
    const common = { workers: 2, deadlineMs: 300_000, clock, log, metrics };
    try {
      await runController(
        { name: 'orphaned load balancers', queue: this.#queue, reconcile, ...common },
        signal,
      );
    } finally {
      for (const stop of stops) stop();
    }
  }

  async #reconcile(
    key: string,
    host: ProviderHost,
    { signal, log }: ReconcileContext,
  ): Promise<Outcome> {
    const frontend = host.objects.get(key);
    const klb = this.#options.klbs.get(key);
    const context = { signal, log, annotate: () => Promise.resolve(), recordEvent: () => {} };
    if (frontend !== undefined) {
      this.#givenUp.set(key, marksOf(this.#slices(key)));
      if (isAbandoned(frontend)) return this.#letGo(frontend, host, context);
      return klb === undefined || isOwnedOrHeld(klb) ? done : this.#giveTime(klb, signal);
    }
    // The Service controller releases an object with an owner.
    if (klb !== undefined && ownerUid(klb) !== undefined) return done;
    if (klb?.status?.loadbalancer !== undefined) {
      const [namespace = '', name = ''] = key.split('/');
      return toOutcome(
        await this.#options.release.ensureDeleted({ namespace, name, uid: '' }, undefined, context),
      );
    }
    return this.#keepEndpoints(key, klb, signal);
  }

  #slices(key: string): EndpointSlice[] {
    return this.#options.cluster.currentSlicesOf(key).filter(isOnItsOwn);
  }

  /** Endpoints created it, and its Service belongs to another provider or was not reconciled yet. */
  async #giveTime(klb: KuryrLoadBalancer, signal: AbortSignal): Promise<Outcome> {
    const restMs = this.#restOf(klb);
    if (restMs > 0) return retryAfter(restMs + 1_000, 'waiting for the adoption of the Service');
    await this.#options.klbs.remove(klb, signal);
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
    const { klbs } = this.#options;
    const slices = this.#slices(key);
    const marks = marksOf(slices);
    const restMs = this.#restOf(klb);
    if (slices.length === 0 || restMs <= 0) {
      if (slices.length > 0) this.#givenUp.set(key, marks);
      else this.#givenUp.delete(key);
      if (klb !== undefined) await klbs.remove(klb, signal);
      return done;
    }
    if (this.#givenUp.get(key) === marks) return done;
    await klbs.writeEndpointsOnly(key, { endpointSlices: toKlbSlices(slices) }, signal);
    return retryAfter(restMs + 1_000, 'waiting for the Service of these endpoints');
  }

  /** A Service of Kuryr that was deleted before its adoption: the controller removes Kuryr's finalizer. */
  async #letGo(
    frontend: FrontendSpec,
    host: ProviderHost,
    context: ProviderContext,
  ): Promise<Outcome> {
    const { owner } = frontend;
    const outcome = await this.#options.release.ensureDeleted(owner, frontend, context);
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
