import { randomUUID } from 'node:crypto';
import type { Masquerade } from '../protocol/frontend.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import { noRegister, type OrphanRegister } from '../../services/orphan-register.ts';
import type { LoadBalancerProvider } from '../../services/provider.ts';
import { AffinityEvents } from './affinity-events.ts';
import { alwaysOpen, type AddressPairWriter } from './address-pair-writer.ts';
import { AgentFleet } from './agent-fleet.ts';
import type { AgentClient } from './agent-client-contract.ts';
import type { BackendLayer } from './backends.ts';
import { ClusterView } from '../../services/cluster-view.ts';
import { Fencing } from './fencing.ts';
import type { GatewayConfigMap } from './gateway-config-map.ts';
import { GatewayProvider } from './gateway-provider.ts';
import { GatewayOrphans } from './gateway-orphans.ts';
import { GatewayHousekeeping } from './housekeeping.ts';
import { PodPolicies } from './pod-policies.ts';
import { PortKeeper } from './port-keeper.ts';
import type { PortManager } from './port-manager.ts';
import { ClusterRemovalVerifier } from './removal-verifier.ts';
import { ServedPolicies } from './served-policies.ts';

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

/** Creates the gateway provider from its parts. */
export function makeGatewayProvider(parts: GatewayParts): LoadBalancerProvider {
  const { client, clock, log, metrics, manager, random = systemRandom } = parts;
  const keeper = new PortKeeper(manager, randomUUID);
  const common = { client, clock, log, metrics };
  const podPolicies = parts.layer === 'Pod' ? new PodPolicies(common) : undefined;
  const view = new ClusterView({ ...common, policies: podPolicies });
  const fleet: AgentFleet = new AgentFleet({
    agents: parts.agents,
    clock,
    random,
    log,
    metrics,
    limitMs: agentLimitMs,
    checkEveryMs: agentCheckMs,
    verifier: new ClusterRemovalVerifier({ client, keeper, clock, expectedCluster: parts.cluster }),
    cluster: parts.cluster,
    onChange: () => housekeeping.changed(),
    onStatus: () => housekeeping.showGateways(),
    onComplaint: (service) => housekeeping.requestReconcile(service),
  });
  const policies = podPolicies && new ServedPolicies(podPolicies, fleet);
  const { configMap } = parts;
  const fencing = makeFencing(parts, keeper, fleet, () => housekeeping.changed());
  const housekeeping: GatewayHousekeeping = new GatewayHousekeeping({
    keeper,
    fleet,
    view,
    policies,
    fencing,
    configMap,
    orphans: new GatewayOrphans({
      keeper,
      manager,
      fencing,
      log,
      register: parts.orphans ?? noRegister,
    }),
    clock,
    log,
    driftEveryMs: parts.driftEveryMs,
    resyncEveryMs: parts.resyncEveryMs ?? parts.driftEveryMs,
  });
  const { layer, masquerade, keepWayBack } = parts;
  const settings = { layer, masquerade, keepWayBack, families: manager.families };
  const affinityNotes = new AffinityEvents(parts.withoutAffinity ?? []);
  return new GatewayProvider({
    settings,
    keeper,
    fleet,
    view,
    housekeeping,
    fencing,
    policies,
    affinityNotes,
  });
}

function makeFencing(
  { pairWriter = alwaysOpen, configMap, clock, log, fenceAfterMs, restMs }: GatewayParts,
  keeper: PortKeeper,
  fleet: AgentFleet,
  onChange: () => void,
): Fencing {
  return new Fencing({
    pairWriter,
    keeper,
    fleet,
    clock,
    log,
    askedFor: () => configMap?.askedFor() ?? new Set(),
    fenceAfterMs: fenceAfterMs ?? 120_000,
    restMs: restMs ?? 60_000,
    onChange,
  });
}
