import { tryParseAddress } from '@causeway/base/address/address';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { ownerKey, type FrontendSpec } from '../services/frontend-spec.ts';
import type { Clock } from '@causeway/base/time/clock';
import type {
  Match,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  LoadBalancerProvider,
  Owner,
  ProviderContext,
  ProviderHost,
} from '../services/provider.ts';
import type { BalancerKeeper, Kept } from './balancer-keeper.ts';
import { matchOf } from './match.ts';
import { ingressOf } from './ingress.ts';
import { translate } from './klb-spec.ts';
import { statusOf, type Readiness } from './klb-status.ts';
import { conflictMs, isConflict, klbOwner } from './klb-store.ts';
import {
  ownerUid,
  serviceFinalizer,
  statusVersion,
  type KlbPublicIp,
  type KuryrLoadBalancer,
} from './kuryr-load-balancer.ts';
import { convertLegacyState, isLegacy } from './legacy-conversion.ts';
import type { ObservedBalancer } from './observed.ts';
import type { Release } from './release.ts';
import type { OctaviaSettings } from './settings.ts';
import type { OctaviaMaintenance } from './maintenance.ts';
import type { OctaviaState } from './state.ts';

export interface OctaviaProviderOptions extends OctaviaState {
  readonly settings: OctaviaSettings;
  readonly client: KubeClient;
  readonly keeper: BalancerKeeper;
  readonly release: Release;
  readonly maintenance: OctaviaMaintenance;
  readonly clock: Clock;
}

const pendingMs = 30_000;

/**
 * Serves Services with Octavia. The Service and its endpoints become the spec of a KuryrLoadBalancer. The
 * provider makes Octavia match the spec and writes the result into the status.
 */
export class OctaviaProvider implements LoadBalancerProvider {
  readonly name = 'octavia';
  readonly finalizer = serviceFinalizer;
  readonly #options: OctaviaProviderOptions;
  #host: ProviderHost | undefined;

  constructor(options: OctaviaProviderOptions) {
    this.#options = options;
  }

  get synced(): Promise<void> {
    return this.#options.maintenance.synced;
  }

  readiness(): string | undefined {
    return this.#options.maintenance.readiness();
  }

  match(frontend: FrontendSpec): Match {
    const { settings, klbs } = this.#options;
    const isServed = () =>
      frontend.finalizers.includes(serviceFinalizer) ||
      klbs.get(ownerKey(frontend.owner))?.status?.loadbalancer !== undefined;
    return matchOf(frontend, settings.clusterIP, isServed);
  }

  statusWriter(): 'controller' {
    return 'controller';
  }

  loadBalancerName({ owner }: FrontendSpec): string {
    return ownerKey(owner);
  }

  get(owner: Owner): readonly Ingress[] | undefined {
    const key = ownerKey(owner);
    const klb = this.#options.klbs.get(key);
    const frontend = this.#host?.objects.get(key);
    // An older Kuryr left no resource, but its load balancers have its name and address.
    if (klb === undefined && frontend !== undefined && isLegacy(frontend)) {
      return frontend.published.flatMap((text) =>
        tryParseAddress(text) === undefined ? [] : [{ ip: text, ipMode: 'VIP' as const }],
      );
    }
    if (klb?.status === undefined || (ownerUid(klb) ?? owner.uid) !== owner.uid) return undefined;
    return ingressOf(
      klb.spec ?? {},
      klb.status.loadbalancer?.ip,
      [],
      klb.status.service_pub_ip_info,
    );
  }

  owners(): Iterable<Owner> {
    return this.#options.klbs.owners();
  }

  ownersNamed(key: string): readonly Owner[] {
    const klb = this.#options.klbs.get(key);
    const owner = klb === undefined ? undefined : klbOwner(klb);
    return owner === undefined ? [] : [owner];
  }

  async ensure(frontend: FrontendSpec, context: ProviderContext): Promise<EnsureOutcome> {
    const { settings, client, klbs, cluster } = this.#options;
    const subnets = new Map([...this.#options.subnets].map(([family, { id }]) => [family, id]));
    const { owner } = frontend;
    const key = ownerKey(owner);
    const present = klbs.get(key);
    if (present?.metadata?.deletionTimestamp !== undefined) {
      return this.#startOver(owner, context);
    }
    const version = present?.status?.version ?? 0;
    if (version > statusVersion) {
      const message = `A newer version of Causeway wrote the status of the KuryrLoadBalancer (version ${version}). Run the newer version, or empty the status.`;
      return { kind: 'refused', reason: 'NewerState', message };
    }
    const slices = cluster.slicesOf(frontend.backends.service);
    const translation = translate({ frontend, slices, settings, subnets });
    if (translation.kind === 'refused') return this.#refuse(present, owner, translation, context);
    for (const { reason, message } of translation.notes) context.recordEvent(reason, message);
    try {
      const written = await klbs.writeSpec(owner, translation.spec, context.signal);
      const klb = await convertLegacyState(client, klbs, frontend, written, context);
      if (slices.length === 0 && klb.status?.loadbalancer === undefined) {
        const message =
          'Waiting for endpoints: the controller creates nothing before the first endpoint';
        await this.#writeStatus(
          klb,
          undefined,
          klb.status?.service_pub_ip_info,
          pending(message),
          context,
        );
        return { kind: 'pending', message };
      }
      return await this.#balance(klb, owner, context);
    } catch (error) {
      // Another client wrote to the same object. The watch delivers its change.
      if (isConflict(error)) {
        return {
          kind: 'pending',
          message: 'Trying again: another client changed the object',
          retryAfterMs: conflictMs,
        };
      }
      throw error;
    }
  }

  /**
   * A Service over the budget is closed: its load balancer may allow sources that the Service no longer
   * requests. In other cases the load balancer stays unchanged.
   */
  async #refuse(
    present: KuryrLoadBalancer | undefined,
    owner: Owner,
    refusal: Extract<Kept, { kind: 'refused' }>,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    if (refusal.reason !== 'OverBudget' || present === undefined) return refusal;
    const kept = await this.#options.keeper.close(present, owner, refusal, context);
    if (kept.kind !== 'refused') return { ...refusal, retryAfterMs: pendingMs };
    const { reason, message } = refusal;
    await this.#writeReady(present, { status: 'False', reason, message }, context);
    return refusal;
  }

  /** Endpoints and nodes are also written to the spec. */
  update(frontend: FrontendSpec, context: ProviderContext): Promise<EnsureOutcome> {
    return this.ensure(frontend, context);
  }

  ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome> {
    const frontend = this.#host?.objects.get(ownerKey(owner));
    return this.#options.release.ensureDeleted(owner, frontend, context);
  }

  run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    this.#host = host;
    return this.#options.maintenance.run(host, signal);
  }

  /**
   * The KuryrLoadBalancer was deleted. Its load balancer is deleted with it, and the Service gets a new one.
   */
  async #startOver(owner: Owner, context: ProviderContext): Promise<EnsureOutcome> {
    const outcome = await this.#options.release.release(owner, 'stays', context);
    const message =
      'The KuryrLoadBalancer was deleted; the controller creates the load balancer again';
    return {
      kind: 'pending',
      message,
      retryAfterMs: outcome.kind === 'gone' ? conflictMs : pendingMs,
      ingress: [],
    };
  }

  async #balance(
    klb: KuryrLoadBalancer,
    owner: Owner,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const { keeper } = this.#options;
    const present = klb.status?.service_pub_ip_info;
    let kept: Kept;
    try {
      kept = await keeper.ensure(klb, owner, context);
    } catch (error) {
      context.recordEvent('KuryrEnsureLBError', describe(error));
      throw error;
    }
    if (kept.kind === 'refused') {
      const ready = { status: 'False', reason: kept.reason, message: kept.message } as const;
      await this.#writeReady(klb, ready, context);
      return kept;
    }
    if (kept.kind === 'pending') {
      const { observed, message, retryAfterMs = pendingMs } = kept;
      const isLeaving = observed?.balancer.provisioningStatus === 'PENDING_DELETE';
      if (observed !== undefined) {
        await this.#writeStatus(
          klb,
          isLeaving ? undefined : observed,
          present,
          pending(message),
          context,
        );
      }
      return { kind: 'pending', message, retryAfterMs };
    }
    return this.#publish(klb, owner, kept.observed, context);
  }

  async #publish(
    klb: KuryrLoadBalancer,
    owner: Owner,
    observed: ObservedBalancer,
    context: ProviderContext,
  ): Promise<EnsureOutcome> {
    const { floating } = this.#options;
    const spec = klb.spec ?? {};
    const { vipAddress, vipPortId, additionalVips } = observed.balancer;
    const publicIp = await floating.ensure(
      {
        owner,
        spec,
        present: klb.status?.service_pub_ip_info,
        portId: vipPortId ?? '',
        formerPortId: klb.status?.loadbalancer?.port_id,
        events: context,
      },
      context,
    );
    const wasReady = klb.status?.conditions?.some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    );
    const others = additionalVips.flatMap(({ address }) => address ?? []);
    const ingress = ingressOf(spec, vipAddress, others, publicIp);
    const message = `The load balancer serves ${observed.listeners.length} ports`;
    const ready: Readiness = { status: 'True', reason: 'Serving', message };
    await this.#writeStatus(klb, observed, publicIp, ready, context);
    if (wasReady !== true) context.recordEvent('KuryrEnsuredLB', 'Load balancer provisioned');
    return { kind: 'ready', ingress };
  }

  async #writeStatus(
    klb: KuryrLoadBalancer,
    observed: ObservedBalancer | undefined,
    publicIp: KlbPublicIp | undefined,
    ready: Readiness,
    context: ProviderContext,
  ): Promise<void> {
    const { klbs, clock } = this.#options;
    const now = new Date(clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
    const status = statusOf(klb, observed, publicIp, ready, now);
    await klbs.writeStatus(klb, status, context.signal);
  }

  /** Writes only the conditions. The rest of the status stays. */
  async #writeReady(
    klb: KuryrLoadBalancer,
    ready: Readiness,
    context: ProviderContext,
  ): Promise<void> {
    const { klbs, clock } = this.#options;
    const now = new Date(clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
    const { conditions } = statusOf(klb, undefined, undefined, ready, now);
    await klbs.writeStatus(
      klb,
      { ...klb.status, ...(conditions === undefined ? {} : { conditions }) },
      context.signal,
    );
  }
}

function pending(message: string): Readiness {
  return { status: 'False', reason: 'Pending', message };
}

function describe(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return `Error when provisioning the load balancer: ${words}`;
}
