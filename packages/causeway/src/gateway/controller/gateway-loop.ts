import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { ClusterView } from '../../services/cluster-view.ts';
import { ownerKey, type FrontendSpec } from '../../services/frontend-spec.ts';
import type { OwnerIndex } from '../../services/owner-index.ts';
import type { ObjectView, ProviderHost } from '../../services/provider.ts';
import type { AgentFleet } from './fleet/agent-fleet.ts';
import { decideWork, type Action, type Work } from './reasons/decide-work.ts';
import type { Fencing } from './fencing/fencing.ts';
import type { GatewayConfigMap } from './gateway-config-map.ts';
import type { PortCleaner } from './cleanup/port-cleaner.ts';
import type { GuardReporter } from '../../services/guard-register.ts';
import type { PortKeeper } from './ports/port-keeper.ts';
import type { PortManager } from './ports/port-manager.ts';
import { reportUnlisted } from './ports/unlisted-addresses.ts';
import type { ReasonQueue } from './reasons/reason-queue.ts';
import type { ServedPolicies } from './policies/served-policies.ts';
import type { ServiceWaits } from './service-waits.ts';

export interface GatewayLoopOptions {
  readonly reasons: ReasonQueue;
  readonly fleet: Pick<
    AgentFleet,
    | 'apply'
    | 'decidesByProbes'
    | 'servicesOf'
    | 'setNodes'
    | 'report'
    | 'servingSince'
    | 'takeNotServed'
    | 'behind'
    | 'withholding'
  >;
  readonly fencing: Pick<Fencing, 'request'>;
  readonly cleaner: Pick<PortCleaner, 'request'>;
  readonly configMap?: Pick<GatewayConfigMap, 'show'> | undefined;
  readonly policies?: Pick<ServedPolicies, 'update'> | undefined;
  readonly view: Pick<ClusterView, 'nodeAddresses'>;
  readonly waits: ServiceWaits;
  readonly owners: Pick<OwnerIndex, 'get' | 'all'>;
  readonly keeper: Pick<PortKeeper, 'portsOf'>;
  readonly manager: Pick<PortManager, 'standingOf'>;
  readonly guards: GuardReporter;
  readonly log: Log;
}

/** The part of the host that the loop uses. */
export interface GatewayLoopHost extends Pick<ProviderHost, 'enqueue'> {
  readonly objects: Pick<ObjectView<FrontendSpec>, 'values'>;
}

/** A part of the work. Returns Services to reconcile, if any. */
type Step = () => Iterable<string> | undefined | void;

/**
 * Takes reasons from the queue, decides, and starts the work. Nothing here waits: long work has its own loops
 * (links, fences, port cleaner, ConfigMap), which are requested here and limit their own frequency. So a hung
 * gateway or cloud never delays the others.
 */
export class GatewayLoop {
  readonly #options: GatewayLoopOptions;
  #decidedByProbes = true;

  constructor(options: GatewayLoopOptions) {
    this.#options = options;
  }

  async run(host: GatewayLoopHost, signal: AbortSignal): Promise<void> {
    const { reasons } = this.#options;
    while (true) {
      await reasons.next(signal);
      if (signal.aborted) return;
      for (const service of this.#start(decideWork(reasons.take()), host)) host.enqueue(service);
    }
  }

  /** Starts the work. Returns the Services to reconcile. A failed step does not affect the others. */
  #start(work: Work, host: GatewayLoopHost): ReadonlySet<string> {
    const services = new Set(work.services);
    for (const step of this.#steps(work, host)) {
      try {
        for (const service of step() ?? []) services.add(service);
      } catch (thrown) {
        const error = CausewayError.from(thrown);
        this.#options.log.error({ error }, 'a step of the gateway loop failed');
      }
    }
    return services;
  }

  #steps(work: Work, host: GatewayLoopHost): readonly Step[] {
    const { fleet, fencing, cleaner, configMap, policies, waits } = this.#options;
    const on = (action: Action, step: Step) => (work.actions.has(action) ? [step] : []);
    return [
      () => fleet.apply(work),
      ...on('update-nodes', () => this.#updateNodes()),
      ...on('agree-on-health', () => {
        if (fleet.decidesByProbes !== this.#decidedByProbes) this.#updateNodes();
      }),
      ...on('update-nodes', () => servicesOnLocalNodes(host)),
      ...[...work.namespaces].map((namespace) => () => policies?.update(namespace)),
      ...on('tend-fences', () => fencing.request()),
      ...on('clean-ports', () => cleaner.request()),
      ...on('report-addresses', () => this.#reportAddresses()),
      ...on('publish-gateways', () => configMap?.show(() => fleet.report())),
      ...on('publish-gateways', () => fleet.takeNotServed()),
      ...on('end-waits', () => waits.takeEnded(fleet)),
      ...on('retry-refused', () => waits.takeForAddress()),
      () => fleet.servicesOf(work.rejections),
      () => this.#namesOf(work.owners),
    ];
  }

  #updateNodes(): void {
    const { fleet, view } = this.#options;
    this.#decidedByProbes = fleet.decidesByProbes;
    fleet.setNodes(view.nodeAddresses(this.#decidedByProbes));
  }

  #reportAddresses(): void {
    const { owners, keeper, manager, guards } = this.#options;
    const found = [...owners.all()].flatMap((owner) =>
      [...keeper.portsOf(owner.uid).values()]
        .filter(({ address }) => manager.standingOf(address) === 'unlisted')
        .map(({ address }) => ({ address, service: ownerKey(owner) })),
    );
    guards.report('addresses', reportUnlisted(found));
  }

  #namesOf(owners: Iterable<string>): readonly string[] {
    return [...owners].flatMap((uid) => this.#options.owners.get(uid) ?? []).map(ownerKey);
  }
}

/** The Services whose backends depend on the nodes' own pods. */
function* servicesOnLocalNodes({ objects }: GatewayLoopHost): Iterable<string> {
  for (const { owner, backends } of objects.values()) {
    if (backends.trafficPolicy === 'Local') yield ownerKey(owner);
  }
}
