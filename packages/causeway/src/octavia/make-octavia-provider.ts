import type { Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import { openLoadBalancing } from '@causeway/openstack/load-balancing/open';
import { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Subnet } from '@causeway/openstack/neutron/resources';
import type { Session } from '@causeway/openstack/session';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import { ClusterView } from '../services/cluster-view.ts';
import type { ClusterIdentity } from '../services/cluster-identity.ts';
import { noRegister, type OrphanRegister } from '../services/orphan-register.ts';
import type { LoadBalancerProvider } from '../services/provider.ts';
import { BalancerKeeper } from './balancer-keeper.ts';
import { DebouncedCluster } from './debounced-cluster.ts';
import { Debounce } from './debounce.ts';
import { Drift } from './drift.ts';
import { FloatingIps } from './floating-ips.ts';
import { Identity } from './identity.ts';
import { Inventory } from './inventory.ts';
import { KlbView } from './klb-view.ts';
import { KlbWriter } from './klb-writer.ts';
import { LegacyConversion } from './legacy-conversion.ts';
import { Orphans } from './orphans.ts';
import { OctaviaProvider } from './octavia-provider.ts';
import { PodAccess } from './pod-access.ts';
import { Release } from './release.ts';
import type { OctaviaSettings } from './settings.ts';
import { PendingChanges } from './pending-changes.ts';
import { OwnerlessObjects } from './ownerless-objects.ts';
import { OctaviaMaintenance } from './maintenance.ts';

export interface OctaviaParts {
  readonly client: KubeClient;
  readonly session: Session;
  readonly settings: OctaviaSettings;
  readonly cluster: ClusterIdentity;
  /** Publishes the held orphans. Without it, they are held anyway. */
  readonly orphans?: Pick<OrphanRegister, 'report' | 'deleted'>;
  readonly driftEveryMs: number;
  /** The time without a change of endpoints and nodes before members change; 1 s by default. */
  readonly quietMs?: number;
  /** The time in PENDING after which an Event is recorded; 15 minutes by default. */
  readonly pendingLimitMs?: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: Random;
}

/** A load balancer that is PENDING for longer needs the cloud's operator. */
const pendingLimitMs = 15 * 60_000;
/** Endpoints are dropped if their Service does not appear within this time. */
const endpointsPatienceMs = 10 * 60_000;

/** Assembles the octavia provider. Reads the subnets and capabilities from the cloud. */
export async function makeOctaviaProvider(
  parts: OctaviaParts,
  signal: AbortSignal,
): Promise<LoadBalancerProvider> {
  const { client, session, settings, clock, quietMs = 1_000 } = parts;
  const balancing = await openLoadBalancing(session, { signal });
  const neutron = new Neutron(session);
  const subnets = await findSubnets(neutron, settings, signal);
  const view = new KlbView(parts);
  const cluster = new ClusterView(parts);
  const debounce = new Debounce({ clock, quietMs, longestMs: 5 * quietMs });
  const debouncedCluster = new DebouncedCluster(cluster, debounce);
  const { keeper, floating, release, pendingChanges, drift } = makeCloudParts(parts, {
    balancing,
    neutron,
    subnets,
    view,
    cluster: debouncedCluster,
  });
  const writer = new KlbWriter(client, view);
  const upkeep = makeMaintenance(parts, { view, cluster, writer, debounce, pendingChanges, drift });
  return new OctaviaProvider({
    settings,
    view,
    writer,
    keeper,
    floating,
    release,
    upkeep,
    clock,
    cluster: debouncedCluster,
    subnets: new Map([...subnets].map(([family, { id }]) => [family, id])),
    legacy: new LegacyConversion(client, writer),
  });
}

interface CloudConnections {
  readonly balancing: LoadBalancing;
  readonly neutron: Neutron;
  readonly subnets: ReadonlyMap<Family, Subnet>;
  readonly view: KlbView;
  readonly cluster: DebouncedCluster;
}

/** The parts that read and write load balancers in the cloud. */
function makeCloudParts(parts: OctaviaParts, connections: CloudConnections) {
  const { settings, clock, log, random = systemRandom, orphans: register = noRegister } = parts;
  const { balancing, neutron, subnets, view, cluster } = connections;
  const identity = new Identity(parts.cluster);
  const inventory = new Inventory(balancing);
  const pendingChanges = new PendingChanges({
    balancing,
    inventory,
    clock,
    log,
    tag: identity.tag,
    limitMs: parts.pendingLimitMs ?? pendingLimitMs,
  });
  const floating = new FloatingIps(neutron, identity);
  const { podSecurityGroup: groupId, memberSample } = settings;
  const access = groupId === undefined ? undefined : new PodAccess({ neutron, identity, groupId });
  const common = { balancing, inventory, view, identity };
  const keeper = new BalancerKeeper({
    ...common,
    pendingChanges,
    clock,
    random,
    nodes: () => cluster.nodes(),
    subnetFamilies: new Map([...subnets.values()].map(({ id, family }) => [id, family])),
    access,
  });
  const release = new Release({ ...common, pendingChanges, floating, keeper, clock, random });
  const orphans = new Orphans({ ...common, floating, release, register, log });
  const drift = new Drift({ ...common, floating, keeper, access, orphans, log, memberSample });
  return { keeper, floating, release, pendingChanges, drift };
}

interface MaintainedParts {
  readonly view: KlbView;
  readonly cluster: ClusterView;
  readonly writer: KlbWriter;
  readonly debounce: Debounce;
  readonly pendingChanges: PendingChanges;
  readonly drift: Drift;
}

function makeMaintenance(parts: OctaviaParts, maintained: MaintainedParts): OctaviaMaintenance {
  const { client, clock, log, metrics, driftEveryMs } = parts;
  const ownerless = new OwnerlessObjects({
    ...maintained,
    clock,
    log,
    metrics,
    patienceMs: endpointsPatienceMs,
  });
  return new OctaviaMaintenance({ ...maintained, client, ownerless, clock, log, driftEveryMs });
}

async function findSubnets(
  neutron: Neutron,
  { subnets }: OctaviaSettings,
  signal: AbortSignal,
): Promise<Map<Family, Subnet>> {
  const found = new Map<Family, Subnet>();
  for (const id of subnets) {
    const subnet = await neutron.subnets.get(id, { signal });
    const { family } = subnet;
    if (found.has(family)) {
      throw new CausewayError('invalid', `octavia.subnets names two subnets of IPv${family}`, {
        hint: 'Configure one subnet for each family.',
      });
    }
    found.set(family, subnet);
  }
  return found;
}
