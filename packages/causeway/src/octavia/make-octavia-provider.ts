import type { Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
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
import type { GuardReporter } from '../services/guard-register.ts';
import { noRegister, type OrphanRegister } from '../services/orphan-register.ts';
import type { LoadBalancerProvider } from '../services/provider.ts';
import { BalancerKeeper } from './balancer-keeper.ts';
import { DebouncedCluster } from './debounced-cluster.ts';
import { Drift } from './drift.ts';
import { FloatingIps } from './floating-ips.ts';
import { Identity } from './identity.ts';
import { Inventory } from './inventory.ts';
import { KlbStore } from './klb-store.ts';
import { Orphans } from './orphans.ts';
import { OctaviaProvider } from './octavia-provider.ts';
import { PodAccess } from './pod-access.ts';
import { Release } from './release.ts';
import type { OctaviaSettings } from './settings.ts';
import { PendingChanges } from './pending-changes.ts';
import { ReconcileReasons } from './reconcile-reasons.ts';
import type { OctaviaState } from './state.ts';
import { OwnerlessObjects } from './ownerless-objects.ts';
import { OctaviaMaintenance } from './maintenance.ts';

export interface OctaviaParts {
  readonly client: KubeClient;
  readonly session: Session;
  readonly settings: OctaviaSettings;
  readonly cluster: ClusterIdentity;
  /** Publishes the held orphans. Without it, they are held anyway. */
  readonly orphans?: Pick<OrphanRegister, 'report' | 'deleted'>;
  /** Takes the reports of guards. */
  readonly guards?: GuardReporter | undefined;
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
  const { client, settings, clock, log, metrics, random = systemRandom } = parts;
  const state = await openState(parts, signal);
  const reasons = new ReconcileReasons();
  const pendingChanges = new PendingChanges({
    ...state,
    reasons,
    clock,
    log,
    tag: state.identity.tag,
    limitMs: parts.pendingLimitMs ?? pendingLimitMs,
  });
  // Actions on the load balancers and addresses of one Service.
  const keeper = new BalancerKeeper({ ...state, pendingChanges, clock, random });
  const release = new Release({ ...state, pendingChanges, keeper, clock, random });
  // Checks of the whole cloud and of the whole cluster.
  const register = parts.orphans ?? noRegister;
  const orphans = new Orphans({ ...state, release, register, log });
  const { driftEveryMs: everyMs } = parts;
  const { memberSample } = settings;
  const checked = { reasons, keeper, orphans, clock, log, everyMs, memberSample };
  const drift = new Drift({ ...state, ...checked });
  const patienceMs = endpointsPatienceMs;
  const ownerless = new OwnerlessObjects({ ...state, release, clock, log, metrics, patienceMs });
  const background = { reasons, pendingChanges, drift, ownerless };
  const maintenance = new OctaviaMaintenance({ ...state, ...background, client, clock, log });
  return new OctaviaProvider({ ...state, settings, client, keeper, release, maintenance, clock });
}

async function openState(parts: OctaviaParts, signal: AbortSignal): Promise<OctaviaState> {
  const { session, settings, clock, quietMs = 1_000 } = parts;
  const balancing = await openLoadBalancing(session, { signal });
  const neutron = new Neutron(session);
  const identity = new Identity(parts.cluster);
  const groupId = settings.podSecurityGroup;
  return {
    identity,
    klbs: new KlbStore(parts),
    cluster: new DebouncedCluster({ cluster: new ClusterView(parts), clock, quietMs }),
    balancing,
    inventory: new Inventory(balancing),
    floating: new FloatingIps(neutron, identity),
    access: groupId === undefined ? undefined : new PodAccess({ neutron, identity, groupId }),
    subnets: await findSubnets(neutron, settings, signal),
  };
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
