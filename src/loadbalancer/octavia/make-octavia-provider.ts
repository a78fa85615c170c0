import type { Family } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { openLoadBalancing } from '../../openstack/load-balancing/open.ts';
import { Neutron } from '../../openstack/neutron/neutron.ts';
import type { Session } from '../../openstack/session.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { systemRandom, type Random } from '../../runtime/random.ts';
import { ClusterView } from '../gateway/cluster-view.ts';
import type { LoadBalancerProvider } from '../provider.ts';
import { BalancerKeeper } from './balancer-keeper.ts';
import { Drift } from './drift.ts';
import { FloatingIps } from './floating-ips.ts';
import { Identity } from './identity.ts';
import { Inventory } from './inventory.ts';
import { KlbView } from './klb-view.ts';
import { KlbWriter } from './klb-writer.ts';
import { OctaviaProvider } from './octavia-provider.ts';
import { Release } from './release.ts';
import type { OctaviaSettings } from './settings.ts';
import { Settling } from './settling.ts';
import { OctaviaUpkeep } from './upkeep.ts';

export interface OctaviaParts {
  readonly client: KubeClient;
  readonly session: Session;
  readonly settings: OctaviaSettings;
  readonly clusterId: string;
  readonly driftEveryMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: Random;
}

/** PENDING for longer than this needs the cloud's operator. */
const pendingLimitMs = 15 * 60_000;

/** Puts the octavia provider together; asks the cloud what it has and can do. */
export async function makeOctaviaProvider(
  parts: OctaviaParts,
  signal: AbortSignal,
): Promise<LoadBalancerProvider> {
  const { client, session, settings, clock, log, random = systemRandom } = parts;
  const balancing = await openLoadBalancing(session, { signal });
  const neutron = new Neutron(session);
  const subnets = await findSubnets(neutron, settings, signal);
  const identity = new Identity(parts.clusterId);
  const inventory = new Inventory(balancing);
  const view = new KlbView(parts);
  const cluster = new ClusterView(parts);
  const settling = new Settling({
    waiter: balancing.waiter,
    inventory,
    log,
    limitMs: pendingLimitMs,
  });
  const floating = new FloatingIps(neutron, identity);
  const keeper = new BalancerKeeper({
    ...{ balancing, inventory, settling, view, identity, clock, random },
    nodes: () => cluster.allNodes(),
    subnetFamilies: new Map([...subnets].map(([family, id]) => [id, family])),
  });
  const release = new Release({
    ...{ balancing, inventory, settling, view, identity, floating, keeper },
  });
  const { memberSample } = settings;
  const drift = new Drift({ balancing, inventory, floating, view, identity, log, memberSample });
  const { driftEveryMs } = parts;
  const upkeep = new OctaviaUpkeep({
    ...{ client, view, cluster, settling, drift, clock, log, driftEveryMs },
  });
  const writer = new KlbWriter(client, view);
  return new OctaviaProvider({
    ...{ settings, subnets, view, cluster, writer, keeper, floating, release, upkeep, clock },
  });
}

async function findSubnets(
  neutron: Neutron,
  { subnets }: OctaviaSettings,
  signal: AbortSignal,
): Promise<Map<Family, string>> {
  const found = new Map<Family, string>();
  for (const id of subnets) {
    const { family } = await neutron.subnets.get(id, { signal });
    if (found.has(family)) {
      throw new CausewayError('invalid', `octavia.subnets names two subnets of IPv${family}`, {
        hint: 'One for each family.',
      });
    }
    found.set(family, id);
  }
  return found;
}
