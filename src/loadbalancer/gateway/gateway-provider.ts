import { familyOf, tryParseAddress, type Address, type Family } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import type { Masquerade } from '../../agent/model/endpoint.ts';
import type { Service } from '../../kube/core-objects.ts';
import { keyOf } from '../../kube/object.ts';
import { readRecord } from '../record.ts';
import { ingressAddress } from '../provider.ts';
import type {
  Claim,
  DeleteOutcome,
  EnsureOutcome,
  Ingress,
  LoadBalancerProvider,
  Owner,
  ProviderContext,
  ProviderHost,
} from '../provider.ts';
import { OwnerIndex } from '../owner-index.ts';
import type { AgentFleet } from './agent-fleet.ts';
import {
  asksForWhatItHeld,
  keepFloatingIpAnnotation,
  layerAnnotations,
  legacyManagedAnnotation,
  portAnnotations,
  readPortIds,
  saysLayer,
} from './annotations.ts';
import { backendsOf, type BackendLayer } from './backends.ts';
import type { ClusterView } from './cluster-view.ts';
import type { Fencing } from './fencing.ts';
import type { GatewayHousekeeping } from './housekeeping.ts';
import type { PortKeeper } from './port-keeper.ts';
import type { L2Port } from './port-mapper.ts';
import type { ServedPolicies } from './served-policies.ts';
import { readNeeds, type ServiceNeeds } from './service-needs.ts';

export const gatewayClass = 'causeway.dev/gateway';

export interface GatewaySettings {
  readonly layer: BackendLayer;
  readonly masquerade: Masquerade;
  /** Also writes ch-k8s-lbaas's annotations, so that it can take the Services back. */
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
  /** In the layer Pod, where gateways keep the network policies. */
  readonly policies?: ServedPolicies | undefined;
}

const waitMs = 2_000;
/** Others may have its address by now: what it is served on must be looked up anew. */
const lostMeanwhile: EnsureOutcome = {
  kind: 'pending',
  message: 'Its port was lost; it gets another one',
  retryAfterMs: 100,
};

/** Services on plain gateway nodes: an address from the port manager, served by every agent. */
export class GatewayProvider implements LoadBalancerProvider {
  readonly name = 'gateway';
  readonly #options: GatewayProviderOptions;
  readonly #owners = new OwnerIndex();
  /** Services on their way out, with the first generation that is without them. */
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

  claims(service: Service): Claim {
    if (service.spec?.type !== 'LoadBalancer') return 'no';
    if (service.metadata?.annotations?.[legacyManagedAnnotation] === 'false') return 'no';
    const { loadBalancerClass } = service.spec;
    if (loadBalancerClass === undefined) return 'if-default';
    return loadBalancerClass === gatewayClass ? 'yes' : 'no';
  }

  statusWriter(): 'controller' {
    return 'controller';
  }

  loadBalancerName(service: Service): string {
    return keyOf(service);
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

  async ensure(service: Service, context: ProviderContext): Promise<EnsureOutcome> {
    const { settings, keeper } = this.#options;
    const reading = readNeeds(service, settings.families);
    if (reading.kind === 'refused') return reading;
    const owner = this.#owners.add(service);
    const before = this.#idsBefore(service);
    keeper.keepFamilies(owner.uid, reading.needs.families);
    for (const family of reading.needs.families) {
      const refusal = await this.#reserve(owner, reading.needs, family, context);
      if (refusal !== undefined) return refusal;
    }
    const ports = keeper.portsOf(owner.uid);
    if (ports.size < reading.needs.families.length) return lostMeanwhile;
    await context.annotate({
      ...portAnnotations(ids(ports), reading.needs.ports, settings.keepWayBack),
      ...layerAnnotations(ids(ports), settings.layer),
    });
    // Without the annotation it stays as it is: what somebody once wanted kept is not given up silently.
    const kept = service.metadata?.annotations?.[keepFloatingIpAnnotation];
    if (kept === 'true' || kept === 'false') {
      await keeper.keepPublic(owner.uid, kept === 'true', context.signal);
    }
    if (hasMoved(before, ids(ports))) {
      const why =
        reading.needs.requested.size > 0
          ? 'as it asks for'
          : 'because another Service has one of its ports on the address it had';
      context.tell('Warning', 'Remapped', `Now on ${describe(ports)}, ${why}`);
    }
    if (!sameIds(ids(ports), ids(keeper.portsOf(owner.uid)))) return lostMeanwhile;
    return this.#serve(service, ports, context);
  }

  update(service: Service, context: ProviderContext): Promise<EnsureOutcome> {
    const ports = this.#options.keeper.portsOf(service.metadata?.uid ?? '');
    // A port that was lost and made again has another id, which must be written down.
    const isWritten =
      sameIds(ids(ports), readPortIds(service)) && saysLayer(service, this.#options.settings.layer);
    if (ports.size === 0 || !isWritten) return this.ensure(service, context);
    return Promise.resolve(this.#serve(service, ports, context));
  }

  async ensureDeleted(owner: Owner, context: ProviderContext): Promise<DeleteOutcome> {
    const { keeper, fleet, housekeeping, settings } = this.#options;
    const key = `${owner.namespace}/${owner.name}`;
    // Without the annotation the port is nobody's after a restart, and is cleaned up.
    await context.annotate({
      ...portAnnotations(new Map(), [], settings.keepWayBack),
      ...layerAnnotations(new Map(), settings.layer),
    });
    fleet.setService(key, []);
    this.#options.policies?.serve(key, [], false);
    keeper.release(owner.uid);
    housekeeping.freed();
    return this.#left(owner, key);
  }

  /** Whoever deletes a Service finds it unserved afterwards. A gateway that is down is not waited for. */
  #left(owner: Owner, key: string): DeleteOutcome {
    const { fleet, housekeeping } = this.#options;
    const since = this.#leaving.get(owner.uid) ?? fleet.generation;
    const behind = fleet.behind(since);
    if (behind.length > 0) {
      this.#leaving.set(owner.uid, since);
      housekeeping.waiting(key);
      const message = `Waiting until ${behind.join(', ')} no longer serve it`;
      return { kind: 'pending', message, retryAfterMs: waitMs };
    }
    this.#leaving.delete(owner.uid);
    this.#owners.remove(owner);
    return { kind: 'gone' };
  }

  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { view, fleet, housekeeping, keeper } = this.#options;
    await housekeeping.run(host, signal, async (inner) => {
      await view.whenSynced(host.services, inner);
      await fleet.start(inner);
      await this.#options.fencing.start(inner);
      const lookAt = (uid: string) => {
        const owner = this.#owners.get(uid);
        if (owner !== undefined) host.enqueue(`${owner.namespace}/${owner.name}`);
      };
      keeper.onDisplaced((owners) => owners.forEach(lookAt));
      const losers = await keeper.restore(this.#claims(host), inner);
      for (const service of host.services.values()) this.#restoreBackends(service);
      fleet.setNodes(view.nodeAddresses());
      this.#options.policies?.start();
      housekeeping.freed();
      fleet.complete();
      this.#synced.resolve();
      for (const { owner } of losers) lookAt(owner);
    });
  }

  /** The ports that it had: one that lost its own at a restart has them in its annotation only. */
  #idsBefore(service: Service): ReadonlyMap<Family, string> {
    const held = ids(this.#options.keeper.portsOf(service.metadata?.uid ?? ''));
    if (held.size > 0) return held;
    const reading = readRecord(service);
    const wasServed = reading.kind === 'record' && reading.record.ingress.length > 0;
    return wasServed ? readPortIds(service) : new Map();
  }

  async #reserve(
    owner: Owner,
    needs: ServiceNeeds,
    family: Family,
    context: ProviderContext,
  ): Promise<EnsureOutcome | undefined> {
    const requested = needs.requested.get(family);
    const request = {
      owner: owner.uid,
      family,
      needs: needs.ports,
      circle: needs.circle,
      requested,
    };
    try {
      const reservation = await this.#options.keeper.reserve(request, context.signal);
      if (reservation.kind === 'port') return undefined;
      if (reservation.kind === 'leaving') {
        const message = `Waiting until no gateway announces ${requested} for its last owner`;
        return { kind: 'pending', message, retryAfterMs: waitMs };
      }
      const by = this.#owners.get(reservation.by);
      const who = by === undefined ? 'another Service' : `${by.namespace}/${by.name}`;
      const message =
        reservation.reason === 'taken'
          ? `${requested} is taken by ${who} on one of its ports. Choose another address or other ports.`
          : `${requested} belongs to ${who}. To share it, give both the same annotation causeway.dev/sharing-key.`;
      return { kind: 'refused', reason: 'AddressTaken', message };
    } catch (error) {
      const known = CausewayError.from(error);
      if (known.code === 'exhausted' && known.hint === undefined) throw withQuotaHint(known);
      if (known.code !== 'invalid' && known.code !== 'conflict') throw known;
      return { kind: 'refused', reason: 'AddressRefused', message: known.message };
    }
  }

  /** Tells the gateways, and says how far they are. */
  #serve(
    service: Service,
    ports: ReadonlyMap<Family, L2Port>,
    context: ProviderContext,
  ): EnsureOutcome {
    const { fleet, housekeeping, fencing } = this.#options;
    const { generation, endpoints, problems } = this.#push(service, ports);
    for (const problem of problems) context.tell('Warning', 'PortNotServed', problem);
    const serving = fleet.servingSince(generation, endpoints);
    const ingress = ingressOf(ports);
    switch (serving.kind) {
      case 'served': {
        const shut = fencing.notLetThrough([...ports.values()].map(({ address }) => address));
        if (shut.length === 0) return { kind: 'ready', ingress };
        housekeeping.waiting(keyOf(service));
        fencing.request();
        const message = `Waiting until the network lets ${shut.join(', ')} use the address`;
        return { kind: 'pending', message, retryAfterMs: waitMs, ingress };
      }
      case 'waiting':
        housekeeping.waiting(keyOf(service));
        return { kind: 'pending', message: serving.message, retryAfterMs: waitMs, ingress };
      case 'wrong':
        return { kind: 'refused', reason: 'GatewayRefused', message: serving.messages.join('; ') };
    }
  }

  #push(service: Service, ports: ReadonlyMap<Family, L2Port>) {
    const { view, settings, fleet, policies } = this.#options;
    const key = keyOf(service);
    const namespace = service.metadata?.namespace ?? '';
    const { endpoints, problems, isIncomplete } = backendsOf({
      service,
      addresses: new Map([...ports].map(([family, { address }]) => [family, address])),
      slices: view.slicesOf(key),
      nodes: view.nodes,
      layer: settings.layer,
      masquerade: settings.masquerade,
      routable: new Set(
        [...ports]
          .filter(([, port]) => port.address === port.publicAddress)
          .map(([family]) => family),
      ),
      isPodKnown: (address) => policies?.isPodKnown(namespace, address) ?? true,
    });
    // Before the endpoints: a pod never stands open because its policies come later.
    policies?.serve(key, endpoints, isIncomplete);
    const generation = fleet.setService(key, endpoints);
    return { generation, endpoints, problems };
  }

  #restoreBackends(service: Service): void {
    const ports = this.#options.keeper.portsOf(service.metadata?.uid ?? '');
    if (ports.size > 0) this.#push(service, ports);
  }

  /** What Services had by their annotations. Those that are being deleted still have it. */
  #claims(host: ProviderHost) {
    return [...host.services.values()].flatMap((service) => {
      const portIds = this.#isTrusted(service) ? readPortIds(service) : new Map<Family, string>();
      const reading = readNeeds(service, this.#options.settings.families);
      if (portIds.size === 0 || reading.kind === 'refused') return [];
      const owner = this.#owners.add(service);
      return [...portIds].map(([family, portId]) => ({
        owner: owner.uid,
        portId,
        family,
        publicAddress: advertisedBy(service, family),
        keepsPublic: service.metadata?.annotations?.[keepFloatingIpAnnotation] === 'true',
        circle: reading.needs.circle,
        needs: reading.needs.ports,
        isAsItWas: asksForWhatItHeld(service, reading.needs.ports),
        createdAt: service.metadata?.creationTimestamp ?? '',
      }));
    });
  }

  /**
   * Whether its annotations are its own: our record is bound to its UID, so a copy of a manifest
   * claims nothing. Services that come from ch-k8s-lbaas have no record yet.
   */
  #isTrusted(service: Service): boolean {
    const reading = readRecord(service);
    if (reading.kind === 'record') return reading.record.provider === this.name;
    if (reading.kind === 'unreadable') return true;
    return (
      service.metadata?.annotations?.[legacyManagedAnnotation] === 'true' &&
      this.claims(service) !== 'no'
    );
  }
}

/** What we have told the Service's users in this family, by our own record. */
function advertisedBy(service: Service, family: Family): Address | undefined {
  const reading = readRecord(service);
  if (reading.kind !== 'record') return undefined;
  return reading.record.ingress
    .flatMap((entry) => tryParseAddress(ingressAddress(entry)) ?? [])
    .find((address) => familyOf(address) === family);
}

function ids(ports: ReadonlyMap<Family, L2Port>): Map<Family, string> {
  return new Map([...ports].map(([family, { id }]) => [family, id]));
}

function sameIds(left: ReadonlyMap<Family, string>, right: ReadonlyMap<Family, string>): boolean {
  return left.size === right.size && [...left].every(([family, id]) => right.get(family) === id);
}

function withQuotaHint(error: CausewayError): CausewayError {
  return new CausewayError('exhausted', error.message, {
    cause: error,
    hint: "Raise the project's quota of ports and floating IPs, enlarge the subnet, or delete Services. It is tried again by itself.",
  });
}

function hasMoved(
  before: ReadonlyMap<Family, string>,
  after: ReadonlyMap<Family, string>,
): boolean {
  return [...before].some(([family, id]) => after.has(family) && after.get(family) !== id);
}

function ingressOf(ports: ReadonlyMap<Family, L2Port>): Ingress[] {
  return addressesOf(ports).map((ip) => ({ ip, ipMode: 'VIP' }));
}

function addressesOf(ports: ReadonlyMap<Family, L2Port>): Address[] {
  return [...ports.values()].map(({ publicAddress }) => publicAddress);
}

function describe(ports: ReadonlyMap<Family, L2Port>): string {
  return addressesOf(ports).join(', ');
}
