import { randomUUID } from 'node:crypto';
import type { Masquerade } from '../../agent/model/endpoint.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { systemRandom, type Random } from '../../runtime/random.ts';
import type { LoadBalancerProvider } from '../provider.ts';
import { AgentFleet } from './agent-fleet.ts';
import type { AgentPort } from './agent-link.ts';
import type { BackendLayer } from './backends.ts';
import { ClusterView } from './cluster-view.ts';
import { GatewayProvider } from './gateway-provider.ts';
import { GatewayHousekeeping } from './housekeeping.ts';
import { PodPolicies } from './pod-policies.ts';
import { PortKeeper } from './port-keeper.ts';
import type { PortManager } from './port-manager.ts';
import { ServedPolicies } from './served-policies.ts';

export interface GatewayParts {
  readonly client: KubeClient;
  readonly manager: PortManager;
  readonly agents: ReadonlyMap<string, AgentPort>;
  readonly layer: BackendLayer;
  readonly masquerade: Masquerade;
  readonly keepWayBack: boolean;
  readonly driftEveryMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: Random;
}

const agentLimitMs = 10_000;
const agentCheckMs = 300_000;

/** Puts the gateway provider together. */
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
    onNews: () => housekeeping.news(),
    onComplaint: (service) => housekeeping.lookAt(service),
  });
  const policies = podPolicies && new ServedPolicies(podPolicies, fleet);
  const housekeeping: GatewayHousekeeping = new GatewayHousekeeping({
    keeper,
    fleet,
    view,
    policies,
    clock,
    log,
    driftEveryMs: parts.driftEveryMs,
  });
  const { layer, masquerade, keepWayBack } = parts;
  const settings = { layer, masquerade, keepWayBack, families: manager.families };
  return new GatewayProvider({ settings, keeper, fleet, view, housekeeping, policies });
}
