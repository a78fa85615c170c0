import type { CallOptions } from '@causeway/openstack/call';
import { collect } from '@causeway/openstack/collect';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import type {
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  MemberStatus,
  Pool,
  PoolStatus,
  StatusTree,
} from '@causeway/openstack/load-balancing/resources';
import type { WantedBalancer, WantedListener } from './desired.ts';

/** A load balancer as read from Octavia, or as of the last own write. */
export interface ObservedBalancer {
  readonly balancer: LoadBalancer;
  readonly listeners: readonly Listener[];
  readonly pools: readonly Pool[];
  readonly monitors: readonly HealthMonitor[];
  /** By pool. Octavia lists members by pool only. A missing pool means unknown members. */
  readonly members: ReadonlyMap<string, readonly Member[]>;
}

/** The members of a pool, without those that are being deleted. */
export async function readMembers(
  balancing: LoadBalancing,
  poolId: string,
  call: CallOptions,
): Promise<Member[]> {
  const members = await collect(balancing.members(poolId, call));
  return members.filter(({ provisioningStatus }) => provisioningStatus !== 'PENDING_DELETE');
}

export function bareBalancer(balancer: LoadBalancer): ObservedBalancer {
  return { balancer, listeners: [], pools: [], monitors: [], members: new Map() };
}

/**
 * The result of a create in one request: IDs from the status tree, the rest as sent. This saves a list for
 * each kind of child. The next drift check compares it with Octavia.
 */
export function observedAsSent(
  balancer: LoadBalancer,
  wanted: WantedBalancer,
  tree: StatusTree,
): ObservedBalancer {
  const listeners: Listener[] = [];
  const pools: Pool[] = [];
  const monitors: HealthMonitor[] = [];
  const members = new Map<string, readonly Member[]>();
  for (const node of tree.listeners) {
    const sent = wanted.listeners.find(({ name }) => name === node.name);
    const [pool] = node.pools;
    if (sent === undefined || pool === undefined) continue;
    const common = commonOf(balancer);
    listeners.push({ ...common, ...listenerAsSent(sent, balancer.id, node.id, pool.id) });
    pools.push({ ...common, ...poolAsSent(sent, balancer.id, node.id, pool) });
    const { monitor } = sent.pool;
    if (monitor !== undefined && pool.healthMonitor !== undefined) {
      monitors.push({ ...common, ...monitorAsSent(monitor, pool.id, pool.healthMonitor.id) });
    }
    members.set(
      pool.id,
      pool.members.map((member) => ({ ...common, ...memberAsSent(sent, member) })),
    );
  }
  return { balancer, listeners, pools, monitors, members };
}

function commonOf({ projectId }: LoadBalancer) {
  return {
    projectId,
    adminStateUp: true,
    provisioningStatus: 'ACTIVE',
    operatingStatus: 'UNKNOWN',
    tags: [],
    description: '',
  } as const;
}

function listenerAsSent(
  { name, protocol, port, settings }: WantedListener,
  loadBalancerId: string,
  id: string,
  defaultPoolId: string,
) {
  return {
    id,
    name,
    loadBalancerId,
    protocol,
    port,
    defaultPoolId,
    connectionLimit: settings.connectionLimit,
    timeouts: settings.timeouts ?? {},
    allowedCidrs: settings.allowedCidrs ?? undefined,
    insertHeaders: settings.insertHeaders ?? {},
    tlsContainerRef: settings.tlsContainerRef,
  };
}

function poolAsSent(
  { pool }: WantedListener,
  loadBalancerId: string,
  listenerId: string,
  status: PoolStatus,
) {
  return {
    id: status.id,
    name: pool.name,
    loadBalancerId,
    listenerIds: [listenerId],
    memberIds: status.members.map(({ id }) => id),
    healthMonitorId: status.healthMonitor?.id,
    protocol: pool.protocol,
    algorithm: pool.algorithm,
    sessionPersistence: pool.persistence ?? undefined,
    tlsEnabled: false,
  };
}

function monitorAsSent(
  monitor: NonNullable<WantedListener['pool']['monitor']>,
  poolId: string,
  id: string,
) {
  return {
    id,
    name: monitor.name ?? '',
    poolId,
    type: monitor.type,
    delay: monitor.delay,
    timeout: monitor.timeout,
    maxRetries: monitor.maxRetries,
    maxRetriesDown: monitor.maxRetriesDown,
    urlPath: monitor.urlPath,
    httpMethod: monitor.httpMethod,
    expectedCodes: monitor.expectedCodes,
    domainName: monitor.domainName,
  };
}

function memberAsSent({ pool }: WantedListener, status: MemberStatus) {
  const sent = pool.members.find(
    ({ address, port }) => address === status.address && port === status.port,
  );
  return {
    id: status.id,
    name: sent?.name ?? status.name,
    address: status.address,
    port: status.port,
    subnetId: sent?.subnetId,
    weight: sent?.weight ?? 1,
    backup: false,
    monitorAddress: undefined,
    monitorPort: sent?.monitorPort ?? undefined,
  };
}
