import { ownerKey, type FrontendSpec } from '../../services/frontend-spec.ts';
import type { ClusterView } from '../../services/cluster-view.ts';
import type { OwnerIndex } from '../../services/owner-index.ts';
import type { ProviderHost } from '../../services/provider.ts';
import type { AgentFleet } from './fleet/agent-fleet.ts';
import type { PriorAllocation } from './ports/allocation-order.ts';
import type { Fencing } from './fencing/fencing.ts';
import type { GatewayServing } from './gateway-serving.ts';
import type { PortKeeper } from './ports/port-keeper.ts';
import { priorAllocations } from './ports/prior-allocations.ts';
import type { ReasonSink } from './reasons/reason-queue.ts';
import type { ServedPolicies } from './policies/served-policies.ts';

/** The provider's name on Services. */
export const gatewayProviderName = 'gateway';

export interface GatewayRestoreOptions {
  readonly view: Pick<ClusterView, 'whenSynced' | 'nodeAddresses'>;
  readonly fleet: Pick<AgentFleet, 'start' | 'decidesByProbes' | 'setNodes' | 'complete'>;
  readonly fencing: Pick<Fencing, 'check'>;
  readonly keeper: Pick<PortKeeper, 'restore'>;
  readonly serving: Pick<GatewayServing, 'serveHeld'>;
  readonly policies?: Pick<ServedPolicies, 'start'> | undefined;
  readonly owners: Pick<OwnerIndex, 'add'>;
  readonly reasons: ReasonSink;
}

/**
 * Restores the state before a restart from the Services, the cloud and the gateways. The gateways get a state
 * only when it is complete.
 */
export class GatewayRestore {
  readonly #options: GatewayRestoreOptions;

  constructor(options: GatewayRestoreOptions) {
    this.#options = options;
  }

  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { view, fleet, fencing, keeper, policies, reasons } = this.#options;
    await view.whenSynced(host.objects, signal);
    await fleet.start(signal);
    await fencing.check(signal);
    const losers = await keeper.restore(this.#priorAllocations(host), signal);
    for (const spec of host.objects.values()) this.#serve(spec, host);
    fleet.setNodes(view.nodeAddresses(fleet.decidesByProbes));
    policies?.start();
    reasons.add({ kind: 'address-freed' });
    fleet.complete();
    for (const { owner } of losers) reasons.add({ kind: 'ports-changed', owner });
  }

  /**
   * An unreadable Service must not prevent the others from being served. Its own reconcile reports the error.
   */
  #serve(spec: FrontendSpec, host: ProviderHost): void {
    try {
      this.#options.serving.serveHeld(spec);
    } catch {
      host.enqueue(ownerKey(spec.owner));
    }
  }

  #priorAllocations(host: ProviderHost): readonly PriorAllocation[] {
    return [...host.objects.values()].flatMap((spec) => {
      const isOurs = host.providerOf(spec.owner) === gatewayProviderName;
      const allocations = priorAllocations(spec, isOurs);
      if (allocations.length > 0) this.#options.owners.add(spec.owner);
      return allocations;
    });
  }
}
