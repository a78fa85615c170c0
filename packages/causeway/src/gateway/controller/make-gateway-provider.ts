import { randomUUID } from 'node:crypto';
import type { Masquerade } from '../protocol/frontend.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import { OnceEvents } from '../../services/once-events.ts';
import { OwnerIndex } from '../../services/owner-index.ts';
import { noGuards, type GuardReporter } from '../../services/guard-register.ts';
import { noRegister, type OrphanRegister } from '../../services/orphan-register.ts';
import type { LoadBalancerProvider } from '../../services/provider.ts';
import { alwaysOpen, type AddressPairWriter } from './fencing/address-pair-writer.ts';
import { AgentFleet } from './fleet/agent-fleet.ts';
import type { AgentClient } from './fleet/agent-client-contract.ts';
import type { BackendLayer } from '../../services/backend-layer.ts';
import { ClusterView } from '../../services/cluster-view.ts';
import { Fencing, type FencingOptions } from './fencing/fencing.ts';
import type { GatewayConfigMap } from './gateway-config-map.ts';
import { GatewayProvider } from './gateway-provider.ts';
import { GatewayOrphans } from './cleanup/gateway-orphans.ts';
import { GatewayLoop } from './gateway-loop.ts';
import { GatewayRestore } from './gateway-restore.ts';
import { GatewayRuntime } from './gateway-runtime.ts';
import { GatewayServing } from './gateway-serving.ts';
import { PodPolicies } from './policies/pod-policies.ts';
import { PortCleaner } from './cleanup/port-cleaner.ts';
import { PortComparison } from './cleanup/port-comparison.ts';
import { PortKeeper } from './ports/port-keeper.ts';
import type { PortManager } from './ports/port-manager.ts';
import { ReasonQueue } from './reasons/reason-queue.ts';
import { ClusterRemovalVerifier } from './fleet/removal-verifier.ts';
import { ServedPolicies } from './policies/served-policies.ts';
import { ServiceWaits } from './service-waits.ts';

export interface GatewayParts {
  readonly client: KubeClient;
  readonly manager: PortManager;
  readonly agents: ReadonlyMap<string, AgentClient>;
  /** The gateways without session affinity. */
  readonly withoutAffinity?: readonly string[];
  readonly layer: BackendLayer;
  readonly masquerade: Masquerade;
  readonly keepWayBack: boolean;
  readonly driftEveryMs: number;
  /** The shortest interval of drift checks, used if they are quick; `driftEveryMs` by default. */
  readonly resyncEveryMs?: number;
  /** The addresses that the network lets gateways use; by default, the network has no restrictions. */
  readonly pairWriter?: AddressPairWriter;
  /** The ConfigMap in which operators request fences and read the state of the gateways. */
  readonly configMap?: GatewayConfigMap;
  /** Lists the orphans of the provider. Without it, they are kept but not listed. */
  readonly orphans?: Pick<OrphanRegister, 'report' | 'deleted'>;
  /** Takes the reports of guards. */
  readonly guards?: GuardReporter | undefined;
  readonly fenceAfterMs?: number;
  readonly restMs?: number;
  /** The UID by which gateways distinguish this cluster from others, if known. */
  readonly cluster?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: Random;
}

const agentLimitMs = 10_000;
const agentCheckMs = 300_000;

/**
 * Creates the gateway provider. Each object gets only objects that exist already: first the queue and the
 * state, then the components that publish reasons, then the loop that takes them.
 */
export function makeGatewayProvider(parts: GatewayParts): LoadBalancerProvider {
  const { client, clock, log, metrics, manager, configMap, cluster } = parts;
  const reasons = new ReasonQueue();
  const waits = new ServiceWaits();
  const owners = new OwnerIndex();
  const keeper = new PortKeeper(manager, randomUUID, reasons);
  const common = { client, clock, log, metrics };
  const podPolicies = parts.layer === 'Pod' ? new PodPolicies(common) : undefined;
  const view = new ClusterView({ ...common, policies: podPolicies, guards: parts.guards });
  const fleet = new AgentFleet({
    clock,
    log,
    metrics,
    cluster,
    reasons,
    agents: parts.agents,
    random: parts.random ?? systemRandom,
    limitMs: agentLimitMs,
    checkEveryMs: agentCheckMs,
    verifier: new ClusterRemovalVerifier({ client, keeper, clock, expectedCluster: cluster }),
  });
  const policies = podPolicies && new ServedPolicies(podPolicies, fleet);
  const fencing = makeFencing(parts, { keeper, fleet, reasons });
  const register = parts.orphans ?? noRegister;
  const orphans = new GatewayOrphans({ keeper, manager, fencing, log, register });
  const cleaner = new PortCleaner({ keeper, fleet, fencing, reasons, clock, log });
  const comparison = new PortComparison({
    keeper,
    orphans,
    fencing,
    reasons,
    clock,
    log,
    driftEveryMs: parts.driftEveryMs,
    resyncEveryMs: parts.resyncEveryMs ?? parts.driftEveryMs,
  });
  const { layer, masquerade, keepWayBack, withoutAffinity = [] } = parts;
  const settings = {
    ...{ layer, masquerade, keepWayBack, withoutAffinity },
    // The families of addresses in use are known only after the restoration.
    get families() {
      return manager.families;
    },
  };
  const onceEvents = new OnceEvents();
  const state = { onceEvents, reasons, waits, owners, keeper, fleet, fencing, policies, view };
  const serving = new GatewayServing({ ...state, settings });
  const restore = new GatewayRestore({ ...state, serving });
  const guards = parts.guards ?? noGuards;
  const loop = new GatewayLoop({ ...state, manager, guards, cleaner, configMap, log });
  const runtime = new GatewayRuntime({
    ...state,
    restore,
    loop,
    cleaner,
    comparison,
    configMap,
    log,
  });
  return new GatewayProvider({ ...state, settings, serving, runtime });
}

function makeFencing(
  { pairWriter = alwaysOpen, configMap, clock, log, fenceAfterMs, restMs }: GatewayParts,
  made: Pick<FencingOptions, 'keeper' | 'fleet' | 'reasons'>,
): Fencing {
  return new Fencing({
    ...made,
    pairWriter,
    clock,
    log,
    askedFor: () => configMap?.askedFor() ?? new Set(),
    fenceAfterMs: fenceAfterMs ?? 120_000,
    restMs: restMs ?? 60_000,
  });
}
