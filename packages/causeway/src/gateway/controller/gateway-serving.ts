import type { OnceEvents } from '../../services/once-events.ts';
import { ownerKey, type FrontendSpec } from '../../services/frontend-spec.ts';
import type { ClusterView } from '../../services/cluster-view.ts';
import type {
  DeleteOutcome,
  EnsureOutcome,
  Owner,
  ProviderContext,
} from '../../services/provider.ts';
import type { FrontendId, Masquerade } from '../protocol/frontend.ts';
import type { AgentFleet } from './fleet/agent-fleet.ts';
import type { BackendLayer } from '../../services/backend-layer.ts';
import { backendsOf } from './backends.ts';
import type { Fencing } from './fencing/fencing.ts';
import { lostAddress, waitMs } from './ports/placement-outcomes.ts';
import type { PortKeeper } from './ports/port-keeper.ts';
import type { ReasonSink } from './reasons/reason-queue.ts';
import { invalidWeights } from './policies/pod-weight.ts';
import type { ServedPolicies } from './policies/served-policies.ts';
import { ingressOf, routableFamilies, type ServicePorts } from './ports/service-ports.ts';
import type { ServiceWaits } from './service-waits.ts';

export interface GatewayServingOptions {
  readonly settings: { readonly layer: BackendLayer; readonly masquerade: Masquerade };
  readonly keeper: Pick<PortKeeper, 'heldBy'>;
  readonly fleet: AgentFleet;
  readonly view: Pick<ClusterView, 'slicesOf' | 'nodes'>;
  readonly fencing: Pick<Fencing, 'notLetThrough' | 'whyNot'>;
  /** Set in the layer Pod, in which gateways enforce network policies. */
  readonly policies?: ServedPolicies | undefined;
  readonly waits: ServiceWaits;
  readonly reasons: ReasonSink;
  readonly onceEvents: OnceEvents;
}

/** Puts Services with ports into the desired state of the gateways, and reports how far the gateways are. */
export class GatewayServing {
  readonly #options: GatewayServingOptions;
  /** Services that are being removed, with the first generation without them. */
  readonly #leaving = new Map<string, number>();

  constructor(options: GatewayServingOptions) {
    this.#options = options;
  }

  /** Updates the gateways' state, and returns how far they are. */
  serve(spec: FrontendSpec, ports: ServicePorts, context: ProviderContext): EnsureOutcome {
    const { fleet, waits, reasons, fencing, onceEvents } = this.#options;
    const { generation, frontends, problems, excess, ...push } = this.#push(spec, ports);
    if (excess !== undefined) return { kind: 'refused', ...excess };
    for (const problem of problems) context.recordEvent('PortNotServed', problem);
    const unread = invalidWeights(push.invalidWeights);
    onceEvents.record(spec.owner, 'InvalidWeight', unread, context);
    const serving = fleet.servingSince(generation, frontends);
    const ingress = ingressOf(ports);
    switch (serving.kind) {
      case 'served': {
        const shut = fencing.notLetThrough([...ports.values()].map(({ address }) => address));
        if (shut.length === 0) {
          return (
            lostAddress(ports) ?? { kind: 'ready', ingress, ...this.#risk(frontends, context) }
          );
        }
        waits.forGateways(ownerKey(spec.owner), { kind: 'network' });
        reasons.add({ kind: 'address-blocked' });
        const why = fencing.whyNot(shut);
        const waiting = `Waiting until the network allows ${shut.join(', ')} to use the address`;
        const message = why === undefined ? waiting : `${waiting}: ${why}`;
        return { kind: 'pending', message, retryAfterMs: waitMs, ingress };
      }
      case 'waiting': {
        const { message, isFailing = false } = serving;
        waits.forGateways(ownerKey(spec.owner), { kind: 'serving', generation, frontends });
        return { kind: 'pending', message, retryAfterMs: waitMs, ingress, isFailing };
      }
      case 'wrong':
        return { kind: 'refused', reason: 'GatewayRefused', message: serving.messages.join('; ') };
    }
  }

  /** A failover may break running connections of the Service. */
  #risk(frontends: readonly FrontendId[], context: ProviderContext): { readonly note?: string } {
    const note = this.#options.fleet.failoverRisk(frontends);
    if (note === undefined) return {};
    context.recordEvent('NotFailoverSafe', note);
    return { note };
  }

  /** The gateways serve the placement that is written on the Service, with the current backends. */
  serveHeld(spec: FrontendSpec): void {
    const all = this.#options.keeper.heldBy(spec.owner.uid);
    if (all.size === 0) return this.stop(ownerKey(spec.owner));
    const ports = new Map([...all].map(([family, { port }]) => [family, port]));
    this.#push(spec, ports, ({ address, port, protocol }) =>
      [...all.values()].some(
        ({ port: l2Port, held }) =>
          l2Port.address === address &&
          held.some((one) => one.port === port && one.protocol === protocol),
      ),
    );
  }

  /** Removes the Service from the gateways' state. */
  stop(key: string): void {
    this.#options.fleet.setService(key, []);
    this.#options.policies?.serve(key, [], false);
  }

  /** A Service is deleted only when it is no longer served. Gateways that are down are not waited for. */
  left(owner: Owner): DeleteOutcome {
    const key = ownerKey(owner);
    const { fleet, waits } = this.#options;
    const since = this.#leaving.get(owner.uid) ?? fleet.generation;
    const behind = fleet.behind(since);
    const serving = behind.length > 0 ? behind : fleet.withholding(key);
    if (serving.length > 0) {
      this.#leaving.set(owner.uid, since);
      waits.forGateways(key, { kind: 'removal', generation: since });
      const why = behind.length > 0 ? '' : '; the removal must be verified first';
      const message = `Waiting until ${serving.join(', ')} no longer serve it${why}`;
      return { kind: 'pending', message, retryAfterMs: waitMs };
    }
    this.#leaving.delete(owner.uid);
    return { kind: 'gone' };
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
    const { isIncomplete, ...backends } = backendsOf({
      spec,
      addresses: new Map([...ports].map(([family, { address }]) => [family, address])),
      slices: view.slicesOf(spec.backends.service),
      nodes: view.nodes,
      layer: settings.layer,
      masquerade: settings.masquerade,
      routable: routableFamilies(ports),
      isPodKnown: (address) => policies?.isPodKnown(namespace, address) ?? true,
      ...(policies === undefined ? {} : { podWeight: (pod: string) => policies.weightOf(pod) }),
      policyExcess: policies?.excess(namespace),
    });
    const frontends = backends.frontends.filter(isOn);
    // Policies go before the frontends, so that a pod is never reachable without its policies.
    policies?.serve(key, frontends, isIncomplete);
    const generation = fleet.setService(key, frontends);
    return { ...backends, generation, frontends };
  }
}
