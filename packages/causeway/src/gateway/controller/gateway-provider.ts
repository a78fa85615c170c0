import type { Family } from '@causeway/base/address/address';
import type { FrontendId, Masquerade } from '../protocol/frontend.ts';
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
import { OwnerIndex } from '../../services/owner-index.ts';
import type { AffinityEvents } from './affinity-events.ts';
import type { AgentFleet } from './agent-fleet.ts';
import {
  keepFloatingIpAnnotation,
  layerAnnotations,
  legacyManagedAnnotation,
  portAnnotations,
  readPortIds,
  saysLayer,
  type PortIds,
} from './annotations.ts';
import { backendsOf, type BackendLayer } from './backends.ts';
import type { ClusterView } from '../../services/cluster-view.ts';
import type { Fencing } from './fencing.ts';
import type { GatewayHousekeeping } from './housekeeping.ts';
import {
  lostAddress,
  lostDuringPlacement,
  notMade,
  notPlaced,
  type Placed,
  waitMs,
} from './placement-outcomes.ts';
import { hasNewSharingGroup, whyMoved } from './address-change.ts';
import type { PortKeeper } from './port-keeper.ts';
import { priorAllocations } from './prior-allocations.ts';
import type { ServedPolicies } from './served-policies.ts';
import { readLoadBalancerSpec, type LoadBalancerSpec } from '../../services/load-balancer-spec.ts';
import {
  hasMoved,
  idsOf,
  inFamilies,
  ingressOf,
  publicAddresses,
  routableFamilies,
  sameIds,
  type ServicePorts,
} from './service-ports.ts';

export const gatewayClass = 'causeway.dev/gateway';

export interface GatewaySettings {
  readonly layer: BackendLayer;
  readonly masquerade: Masquerade;
  /** Also writes the annotations of ch-k8s-lbaas, so that it can take the Services back. */
  readonly keepWayBack: boolean;
  readonly families: readonly Family[];
}

export interface GatewayProviderOptions {
  readonly settings: GatewaySettings;
  readonly keeper: PortKeeper;
  readonly fleet: AgentFleet;
  readonly view: ClusterView;
  readonly housekeeping: GatewayHousekeeping;
  readonly fencing: Fencing;
  /** Set in the layer Pod, in which gateways enforce network policies. */
  readonly policies?: ServedPolicies | undefined;
  readonly affinityNotes: AffinityEvents;
}

const nowhere = { held: undefined, sharingGroup: undefined };

/** Serves Services on plain gateway nodes: an address from the port manager, served by every agent. */
export class GatewayProvider implements LoadBalancerProvider {
  readonly name = 'gateway';
  readonly #options: GatewayProviderOptions;
  readonly #owners = new OwnerIndex();
  /** Services that are being removed, with the first generation without them. */
  readonly #leaving = new Map<string, number>();
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: GatewayProviderOptions) {
    this.#options = options;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
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
    const { keeper, housekeeping, settings } = this.#options;
    this.#recordNotes(spec, context);
    const reading = readLoadBalancerSpec(spec, settings.families);
    if (reading.kind === 'refused') return this.#asBefore(spec, reading);
    const { needs } = reading;
    let placed: Placed | EnsureOutcome;
    try {
      placed = await this.#place(spec, needs, context);
    } catch (error) {
      this.#followHeld(spec);
      throw error;
    }
    if (placed.kind !== 'placed') return this.#asBefore(spec, placed);
    const { uid } = this.#owners.add(spec.owner);
    const ports = inFamilies(keeper.portsOf(uid), needs.families);
    if (!sameIds(placed.ids, idsOf(ports))) return this.#asBefore(spec, lostDuringPlacement);
    const outcome = this.#serve(spec, ports, context);
    // The placement is written and in the gateways' state. Only now other Services may use what the Service
    // gave up.
    const isFreed = keeper.settle(uid, needs.families);
    if (isFreed || hasNewSharingGroup(spec, needs)) housekeeping.freed();
    return outcome;
  }

  /** Reserves the ports of the Service and writes the placement, or returns the obstacle. */
  async #place(
    spec: FrontendSpec,
    needs: LoadBalancerSpec,
    context: ProviderContext,
  ): Promise<Placed | EnsureOutcome> {
    const { settings, keeper } = this.#options;
    const owner = this.#owners.add(spec.owner);
    const before = this.#idsBefore(spec);
    for (const family of needs.families) {
      const refusal = await this.#reserve(owner, needs, family, context);
      if (refusal !== undefined) return refusal;
    }
    await keeper.takeOver(owner.uid, context.signal);
    const ports = inFamilies(keeper.portsOf(owner.uid), needs.families);
    if (ports.size < needs.families.length) return lostDuringPlacement;
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
        'Warning',
        'Remapped',
        `The Service moved to ${publicAddresses(ports).join(', ')}, ${why}`,
      );
    }
    return { kind: 'placed', ids: idsOf(ports) };
  }

  update(spec: FrontendSpec, context: ProviderContext): Promise<EnsureOutcome> {
    const ports = this.#options.keeper.portsOf(spec.owner.uid);
    // A lost and recreated port has another ID, which must be written.
    const isWritten =
      sameIds(idsOf(ports), readPortIds(spec)) && saysLayer(spec, this.#options.settings.layer);
    if (ports.size === 0 || !isWritten) return this.ensure(spec, context);
    this.#recordNotes(spec, context);
    return Promise.resolve(this.#serve(spec, ports, context));
  }

  async ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome> {
    const { keeper, housekeeping, settings } = this.#options;
    const key = `${owner.namespace}/${owner.name}`;
    // Without the annotation, the port has no owner after a restart and is cleaned up.
    await context.annotate({
      ...portAnnotations(new Map(), nowhere, settings.keepWayBack),
      ...layerAnnotations(new Map(), settings.layer),
    });
    this.#stopServing(key);
    keeper.release(owner.uid);
    housekeeping.freed();
    return this.#left(owner, key);
  }

  /** A Service is deleted only when it is no longer served. Gateways that are down are not waited for. */
  #left(owner: Owner, key: string): DeleteOutcome {
    const { fleet, housekeeping } = this.#options;
    const since = this.#leaving.get(owner.uid) ?? fleet.generation;
    const behind = fleet.behind(since);
    const withholding = () => fleet.withholding(key);
    const serving = behind.length > 0 ? behind : withholding();
    if (serving.length > 0) {
      this.#leaving.set(owner.uid, since);
      const isOver = () => fleet.behind(since).length === 0 && withholding().length === 0;
      housekeeping.waiting(key, isOver);
      const why = behind.length > 0 ? '' : '; the removal must be verified first';
      const message = `Waiting until ${serving.join(', ')} no longer serve it${why}`;
      return { kind: 'pending', message, retryAfterMs: waitMs };
    }
    this.#leaving.delete(owner.uid);
    this.#options.affinityNotes.forget(owner.uid);
    this.#owners.remove(owner);
    return { kind: 'gone' };
  }

  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { view, fleet, housekeeping, keeper } = this.#options;
    await housekeeping.run(host, signal, async (inner) => {
      await view.whenSynced(host.objects, inner);
      await fleet.start(inner);
      await this.#options.fencing.check(inner);
      const requestReconcile = (uid: string) => {
        const owner = this.#owners.get(uid);
        if (owner !== undefined) host.enqueue(`${owner.namespace}/${owner.name}`);
      };
      keeper.onDisplaced((owners) => owners.forEach(requestReconcile));
      const losers = await keeper.restore(this.#priorAllocations(host), inner);
      for (const spec of host.objects.values()) this.#resume(spec, host);
      fleet.setNodes(view.nodeAddresses());
      this.#options.policies?.start();
      housekeeping.freed();
      fleet.complete();
      this.#synced.resolve();
      for (const { owner } of losers) requestReconcile(owner);
    });
  }

  /**
   * An unreadable Service must not prevent the others from being served. Its own reconcile reports the error.
   */
  #resume(spec: FrontendSpec, host: ProviderHost): void {
    try {
      this.#followHeld(spec);
    } catch {
      host.enqueue(ownerKey(spec.owner));
    }
  }

  /** The former ports. A Service that lost its ports at a restart has them only in its annotation. */
  #idsBefore(spec: FrontendSpec): PortIds {
    const held = this.#options.keeper.heldBy(spec.owner.uid);
    if (held.size > 0) return new Map([...held].map(([family, { port }]) => [family, port.id]));
    const reading = recordOf(spec);
    const wasServed = reading.kind === 'record' && reading.record.ingress.length > 0;
    return wasServed ? readPortIds(spec) : new Map();
  }

  async #reserve(
    owner: Owner,
    needs: LoadBalancerSpec,
    family: Family,
    context: ProviderContext,
  ): Promise<EnsureOutcome | undefined> {
    const requested = needs.requested.get(family);
    const { sharingGroup, ports } = needs;
    const { uid, namespace } = owner;
    const request = { owner: uid, namespace, family, needs: ports, sharingGroup, requested };
    try {
      const reservation = await this.#options.keeper.reserve(request, context.signal);
      if (reservation.kind === 'port') return undefined;
      if (reservation.kind === 'leaving') return notPlaced(reservation, requested, undefined);
      this.#options.housekeeping.wantsAddress(`${namespace}/${owner.name}`);
      return notPlaced(reservation, requested, this.#owners.get(reservation.by));
    } catch (error) {
      return notMade(error);
    }
  }

  /** Updates the gateways' state, and returns how far they are. */
  #serve(spec: FrontendSpec, ports: ServicePorts, context: ProviderContext): EnsureOutcome {
    const { fleet, housekeeping, fencing } = this.#options;
    const { generation, frontends, problems, excess } = this.#push(spec, ports);
    if (excess !== undefined) return { kind: 'refused', ...excess };
    for (const problem of problems) context.recordEvent('Warning', 'PortNotServed', problem);
    const serving = fleet.servingSince(generation, frontends);
    const ingress = ingressOf(ports);
    switch (serving.kind) {
      case 'served': {
        const shut = fencing.notLetThrough([...ports.values()].map(({ address }) => address));
        if (shut.length === 0) return lostAddress(ports) ?? { kind: 'ready', ingress };
        housekeeping.waiting(ownerKey(spec.owner), () => true);
        fencing.request();
        const why = fencing.whyNot(shut);
        const waiting = `Waiting until the network allows ${shut.join(', ')} to use the address`;
        const message = why === undefined ? waiting : `${waiting}: ${why}`;
        return { kind: 'pending', message, retryAfterMs: waitMs, ingress };
      }
      case 'waiting':
        housekeeping.waiting(
          ownerKey(spec.owner),
          () => fleet.servingSince(generation, frontends).kind !== 'waiting',
        );
        return { kind: 'pending', message: serving.message, retryAfterMs: waitMs, ingress };
      case 'wrong':
        return { kind: 'refused', reason: 'GatewayRefused', message: serving.messages.join('; ') };
    }
  }

  /** `isOn` selects the frontends to serve; by default all. */
  #push(
    spec: FrontendSpec,
    ports: ServicePorts,
    isOn: (frontend: FrontendId) => boolean = () => true,
  ) {
    const { view, settings, fleet, policies } = this.#options;
    const key = ownerKey(spec.owner);
    const { namespace } = spec.owner;
    const { problems, isIncomplete, excess, ...backends } = backendsOf({
      spec,
      addresses: new Map([...ports].map(([family, { address }]) => [family, address])),
      slices: view.slicesOf(spec.backends.service),
      nodes: view.nodes,
      layer: settings.layer,
      masquerade: settings.masquerade,
      routable: routableFamilies(ports),
      isPodKnown: (address) => policies?.isPodKnown(namespace, address) ?? true,
      policyExcess: policies?.excess(namespace),
    });
    const frontends = backends.frontends.filter(isOn);
    // Policies go before the frontends, so that a pod is never reachable without its policies.
    policies?.serve(key, frontends, isIncomplete);
    const generation = fleet.setService(key, frontends);
    return { generation, frontends, problems, excess };
  }

  /** The spec can't be satisfied now: the Service stays served as it is. */
  #asBefore(spec: FrontendSpec, outcome: EnsureOutcome): EnsureOutcome {
    this.#followHeld(spec);
    return outcome;
  }

  /** The gateways serve the placement that is written on the Service, with the current backends. */
  #followHeld(spec: FrontendSpec): void {
    const all = this.#options.keeper.heldBy(spec.owner.uid);
    if (all.size === 0) return this.#stopServing(ownerKey(spec.owner));
    const ports = new Map([...all].map(([family, { port }]) => [family, port]));
    this.#push(spec, ports, ({ address, port, protocol }) =>
      [...all.values()].some(
        ({ port: l2Port, held }) =>
          l2Port.address === address &&
          held.some((one) => one.port === port && one.protocol === protocol),
      ),
    );
  }

  #stopServing(key: string): void {
    this.#options.fleet.setService(key, []);
    this.#options.policies?.serve(key, [], false);
  }

  /** Records Events about changes of the port since the last reconcile, and about unsupported affinity. */
  #recordNotes(spec: FrontendSpec, context: ProviderContext): void {
    const { keeper, affinityNotes } = this.#options;
    const note = keeper.takeNote(spec.owner.uid);
    if (note !== undefined) context.recordEvent('Warning', note.reason, note.message);
    const affinity = affinityNotes.about(spec);
    if (affinity !== undefined) context.recordEvent('Warning', 'AffinityNotKept', affinity);
  }

  #priorAllocations(host: ProviderHost) {
    return [...host.objects.values()].flatMap((spec) => {
      const isOurs = host.providerOf(spec.owner) === this.name;
      const prior = priorAllocations(spec, isOurs);
      if (prior.length > 0) this.#owners.add(spec.owner);
      return prior;
    });
  }
}
