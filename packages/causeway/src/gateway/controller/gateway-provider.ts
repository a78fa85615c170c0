import type { Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Masquerade } from '../protocol/frontend.ts';
import { ownerKey, type FrontendSpec } from '../../services/frontend-spec.ts';
import { recordOf } from '../../services/record.ts';
import type {
  Match,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  LoadBalancerProvider,
  Owner,
  ProviderContext,
  ProviderHost,
} from '../../services/provider.ts';
import type { OnceEvents } from '../../services/once-events.ts';
import type { OwnerIndex } from '../../services/owner-index.ts';
import { affinityNotKept, affinityTimeoutNotUsed } from './affinity-events.ts';
import {
  keepFloatingIpAnnotation,
  layerAnnotations,
  legacyManagedAnnotation,
  portAnnotations,
  readPortIds,
  saysLayer,
  type PortIds,
} from './ports/annotations.ts';
import type { BackendLayer } from '../../services/backend-layer.ts';
import type { ClusterView } from '../../services/cluster-view.ts';
import { gatewayProviderName } from './gateway-restore.ts';
import type { GatewayRuntime } from './gateway-runtime.ts';
import type { GatewayServing } from './gateway-serving.ts';
import {
  lostDuringPlacement,
  missingFamilyRetryMs,
  notMade,
  notPlaced,
  type Placed,
} from './ports/placement-outcomes.ts';
import { hasNewSharingGroup, releasesAddress, whyMoved } from './ports/address-change.ts';
import type { PortKeeper } from './ports/port-keeper.ts';
import { priorAllocations } from './ports/prior-allocations.ts';
import type { ReasonSink } from './reasons/reason-queue.ts';
import type { ServiceWaits } from './service-waits.ts';
import {
  differingSharingKeys,
  readLoadBalancerSpec,
  type LoadBalancerSpec,
} from '../../services/load-balancer-spec.ts';
import {
  hasMoved,
  idsOf,
  inFamilies,
  ingressOf,
  publicAddresses,
  sameIds,
} from './ports/service-ports.ts';

export const gatewayClass = 'causeway.dev/gateway';

export interface GatewaySettings {
  readonly layer: BackendLayer;
  readonly masquerade: Masquerade;
  /** Also writes the annotations of ch-k8s-lbaas, so that it can take the Services back. */
  readonly keepWayBack: boolean;
  readonly families: readonly Family[];
  /** The gateways that do not support session affinity. */
  readonly withoutAffinity: readonly string[];
}

export interface GatewayProviderOptions {
  readonly settings: GatewaySettings;
  readonly keeper: PortKeeper;
  readonly serving: GatewayServing;
  readonly view: Pick<ClusterView, 'readiness'>;
  readonly owners: OwnerIndex;
  readonly waits: ServiceWaits;
  readonly reasons: ReasonSink;
  readonly runtime: GatewayRuntime;
  readonly onceEvents: OnceEvents;
}

interface Reserved {
  readonly kind: 'reserved';
  readonly families: readonly Family[];
  readonly missing: string | undefined;
}

const exhaustedMessage = (shortage: string) =>
  `One address family is missing: ${shortage}. The Service gets the address when one is free`;

const nowhere = { held: undefined, sharingGroup: undefined };

/** Serves Services on plain gateway nodes: an address from the port manager, served by every agent. */
export class GatewayProvider implements LoadBalancerProvider {
  readonly name = gatewayProviderName;
  readonly #options: GatewayProviderOptions;
  readonly #owners: OwnerIndex;

  constructor(options: GatewayProviderOptions) {
    this.#options = options;
    this.#owners = options.owners;
  }

  get synced(): Promise<void> {
    return this.#options.runtime.synced;
  }

  readiness(): string | undefined {
    return this.#options.view.readiness();
  }

  match({ exposure, annotations, className }: FrontendSpec): Match {
    if (exposure !== 'external') return 'no';
    if (annotations[legacyManagedAnnotation] === 'false') return 'no';
    if (className === undefined) return 'if-default';
    return className === gatewayClass ? 'yes' : 'no';
  }

  statusWriter(): 'controller' {
    return 'controller';
  }

  loadBalancerName({ owner }: FrontendSpec): string {
    return ownerKey(owner);
  }

  get(owner: Owner): readonly Ingress[] | undefined {
    const ports = this.#options.keeper.portsOf(owner.uid);
    return ports.size === 0 ? undefined : ingressOf(ports);
  }

  owners(): Iterable<Owner> {
    return this.#owners.all();
  }

  ownersNamed(key: string): readonly Owner[] {
    return this.#owners.named(key);
  }

  async ensure(spec: FrontendSpec, context: ProviderContext): Promise<EnsureOutcome> {
    const { keeper, reasons, settings } = this.#options;
    this.#recordNotes(spec, context);
    const reading = readLoadBalancerSpec(spec, settings.families, 'own-and-metallb');
    if (reading.kind === 'refused') return this.#asBefore(spec, reading);
    const { needs } = reading;
    let placed: Placed | EnsureOutcome;
    try {
      placed = await this.#place(spec, needs, context);
    } catch (error) {
      this.#options.serving.serveHeld(spec);
      throw error;
    }
    if (placed.kind !== 'placed') return this.#asBefore(spec, placed);
    const { uid } = this.#owners.add(spec.owner);
    const families = [...placed.ids.keys()];
    const ports = inFamilies(keeper.portsOf(uid), families);
    if (!sameIds(placed.ids, idsOf(ports))) return this.#asBefore(spec, lostDuringPlacement);
    const outcome = this.#options.serving.serve(spec, ports, context);
    // The placement is written and in the gateways' state. Only now other Services may use what the Service
    // gave up.
    const isFreed = keeper.settle(uid, families);
    if (isFreed || hasNewSharingGroup(spec, needs)) reasons.add({ kind: 'address-freed' });
    return this.#withMissing(spec, outcome, placed.missing, context);
  }

  /** Reserves the ports of the Service and writes the placement, or returns the obstacle. */
  async #place(
    spec: FrontendSpec,
    needs: LoadBalancerSpec,
    context: ProviderContext,
  ): Promise<Placed | EnsureOutcome> {
    const { settings, keeper } = this.#options;
    const owner = this.#owners.add(spec.owner);
    if (!releasesAddress(spec)) keeper.rejoin(priorAllocations(spec, true));
    const before = this.#idsBefore(spec);
    const reserved = await this.#reserveAll(spec, needs, context);
    if (reserved.kind !== 'reserved') return reserved;
    const { families, missing } = reserved;
    await keeper.takeOver(owner.uid, context.signal);
    const ports = inFamilies(keeper.portsOf(owner.uid), families);
    if (ports.size < families.length) return lostDuringPlacement;
    const place = { held: needs.ports, sharingGroup: needs.sharingGroup };
    const annotations = {
      ...portAnnotations(idsOf(ports), place, settings.keepWayBack),
      ...layerAnnotations(idsOf(ports), settings.layer),
    };
    await context.annotate(annotations, { ingress: ingressOf(ports) });
    // Without the annotation, the mark stays unchanged: a floating IP to keep is not released unnoticed.
    const kept = spec.annotations[keepFloatingIpAnnotation];
    if (kept === 'true' || kept === 'false') {
      await keeper.keepPublic(owner.uid, kept === 'true', context.signal);
    }
    if (hasMoved(before, idsOf(ports))) {
      const why = whyMoved(spec, needs);
      context.recordEvent(
        'Remapped',
        `The Service moved to ${publicAddresses(ports).join(', ')}, ${why}`,
      );
    }
    return { kind: 'placed', ids: idsOf(ports), missing };
  }

  update(spec: FrontendSpec, context: ProviderContext): Promise<EnsureOutcome> {
    const ports = this.#options.keeper.portsOf(spec.owner.uid);
    // A lost and recreated port has another ID, which must be written.
    const isWritten =
      sameIds(idsOf(ports), readPortIds(spec)) && saysLayer(spec, this.#options.settings.layer);
    if (ports.size === 0 || !isWritten || releasesAddress(spec)) return this.ensure(spec, context);
    this.#recordNotes(spec, context);
    return Promise.resolve(this.#options.serving.serve(spec, ports, context));
  }

  async ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome> {
    const { keeper, reasons, settings, serving } = this.#options;
    // Without the annotation, the port has no owner after a restart and is cleaned up.
    await context.annotate({
      ...portAnnotations(new Map(), nowhere, settings.keepWayBack),
      ...layerAnnotations(new Map(), settings.layer),
    });
    serving.stop(ownerKey(owner));
    keeper.release(owner.uid);
    reasons.add({ kind: 'address-freed' });
    const outcome = serving.left(owner);
    if (outcome.kind === 'gone') {
      this.#options.onceEvents.forget(owner);
      this.#owners.remove(owner);
    }
    return outcome;
  }

  run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    return this.#options.runtime.run(host, signal);
  }

  /** The former ports. A Service that lost its ports at a restart has them only in its annotation. */
  #idsBefore(spec: FrontendSpec): PortIds {
    const held = this.#options.keeper.heldBy(spec.owner.uid);
    if (held.size > 0) return new Map([...held].map(([family, { port }]) => [family, port.id]));
    const reading = recordOf(spec);
    const wasServed = reading.kind === 'record' && reading.record.ingress.length > 0;
    return wasServed ? readPortIds(spec) : new Map();
  }

  /** Reserves a port of each family. An optional family may be exhausted, if another one is not. */
  async #reserveAll(
    spec: FrontendSpec,
    needs: LoadBalancerSpec,
    context: ProviderContext,
  ): Promise<Reserved | EnsureOutcome> {
    const families: Family[] = [];
    const shortages: CausewayError[] = [];
    for (const family of needs.families) {
      try {
        const refusal = await this.#reserve(spec, needs, family, context);
        if (refusal !== undefined) return refusal;
        families.push(family);
      } catch (error) {
        const shortage = CausewayError.from(error);
        // A Service that holds a port of the family keeps the port until it gets another one.
        const isHeld = this.#options.keeper.portsOf(spec.owner.uid).has(family);
        if (shortage.code !== 'exhausted' || !needs.isFamilyOptional || isHeld) throw error;
        shortages.push(shortage);
      }
    }
    const [first] = shortages;
    if (first !== undefined && families.length === 0) throw first;
    return { kind: 'reserved', families, missing: first?.message };
  }

  /** Adds to the outcome that one family is missing, and waits for an address of the family. */
  #withMissing(
    { owner }: FrontendSpec,
    outcome: EnsureOutcome,
    missing: string | undefined,
    context: ProviderContext,
  ): EnsureOutcome {
    const { waits, onceEvents } = this.#options;
    onceEvents.record(owner, 'FamilyExhausted', missing && exhaustedMessage(missing), context);
    if (missing === undefined) return outcome;
    waits.forAddress(ownerKey(owner));
    if (outcome.kind !== 'ready') return outcome;
    return { ...outcome, missing: exhaustedMessage(missing), retryAfterMs: missingFamilyRetryMs };
  }

  async #reserve(
    spec: FrontendSpec,
    needs: LoadBalancerSpec,
    family: Family,
    context: ProviderContext,
  ): Promise<EnsureOutcome | undefined> {
    const { owner } = spec;
    const requested = needs.requested.get(family);
    const { sharingGroup, ports } = needs;
    const { uid, namespace } = owner;
    const leavesRetiring = releasesAddress(spec);
    const asked = { needs: ports, sharingGroup, requested, leavesRetiring };
    const request = { owner: uid, namespace, family, ...asked };
    try {
      const reservation = await this.#options.keeper.reserve(request, context.signal);
      if (reservation.kind === 'port') return undefined;
      if (reservation.kind === 'leaving') return notPlaced(reservation, requested, undefined);
      this.#options.waits.forAddress(ownerKey(owner));
      return notPlaced(reservation, requested, this.#owners.get(reservation.by));
    } catch (error) {
      return notMade(error);
    }
  }

  /** The spec can't be satisfied now: the Service stays served as it is. */
  #asBefore(spec: FrontendSpec, outcome: EnsureOutcome): EnsureOutcome {
    this.#options.serving.serveHeld(spec);
    return outcome;
  }

  /** Records Events about changes of the port since the last reconcile, and about unsupported settings. */
  #recordNotes(spec: FrontendSpec, context: ProviderContext): void {
    const { keeper, onceEvents, settings } = this.#options;
    const note = keeper.takeNote(spec.owner.uid);
    if (note !== undefined) context.recordEvent(note.reason, note.message);
    const notKept = affinityNotKept(spec, settings.withoutAffinity);
    onceEvents.record(spec.owner, 'AffinityNotKept', notKept, context);
    const notUsed = affinityTimeoutNotUsed(spec);
    onceEvents.record(spec.owner, 'AffinityTimeoutNotUsed', notUsed, context);
    onceEvents.record(spec.owner, 'SharingKeysDiffer', differingSharingKeys(spec), context);
  }
}
