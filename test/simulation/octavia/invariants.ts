import type { Node, Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { keyOf } from '../../../packages/kubernetes/src/objects/object.ts';
import type { OctaviaWorld } from './octavia-world.ts';

/** The name of a foreign load balancer, which stays. */
export const theirs = 'theirs';

/** More than one load balancer or floating IP for one Service: the sign of a repeated create. */
export function madeTwice(world: OctaviaWorld): string[] {
  const { octavia, neutron } = world.openstack;
  const live = octavia.loadBalancers
    .all()
    .filter(({ provisioning_status: status }) => status !== 'PENDING_DELETE');
  return [
    ...duplicates(live.map(({ description }) => description)),
    ...duplicates(neutron.floatingIps.all().map(({ description }) => description)),
  ].map((what) => `made twice: ${what}`);
}

function duplicates(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const isTwice = value.startsWith('Causeway') && seen.has(value);
    seen.add(value);
    return isTwice;
  });
}

/** Differences from the desired state; empty if there are none. */
export function unsettled(world: OctaviaWorld): string[] {
  return [
    ...madeTwice(world),
    ...world.services().flatMap((service) => unsettledService(world, service)),
    ...leftovers(world),
    ...unsettledRules(world),
  ];
}

function unsettledService(world: OctaviaWorld, service: Service): string[] {
  const key = keyOf(service);
  if (service.metadata?.deletionTimestamp !== undefined) return [`${key} is still there`];
  const klb = world.klbs().find((candidate) => keyOf(candidate) === key);
  if (service.spec?.type !== 'LoadBalancer') {
    const isHeld = (service.metadata?.finalizers ?? []).length > 0;
    return klb === undefined && !isHeld ? [] : [`${key} still has a load balancer`];
  }
  const slices = slicesOf(world, service);
  if (slices.length === 0 && klb?.status?.loadbalancer === undefined) {
    return klb === undefined ? [`${key} has no KuryrLoadBalancer`] : [];
  }
  const { octavia, neutron } = world.openstack;
  const { loadbalancer, service_pub_ip_info: address } = klb?.status ?? {};
  const row = octavia.loadBalancers.get(loadbalancer?.id ?? '');
  if (row === undefined) return [`${key} has no load balancer`];
  const floating = neutron.floatingIps.get(address?.ip_id ?? '');
  const problems: string[] = [];
  const complain = (is: boolean, what: string) => {
    if (!is) problems.push(`${key}: ${what}`);
  };
  complain(row.provisioning_status === 'ACTIVE', `it is ${row.provisioning_status}`);
  complain(floating?.port_id === row.vip_port_id, 'the floating IP is elsewhere');
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  complain(
    ingress.length === 1 && ingress[0]?.ip === address?.ip_addr,
    'the status has another address',
  );
  complain(treeOf(world, row.id) === wantedTree(world, service), `it has ${treeOf(world, row.id)}`);
  const recorded = (klb?.status?.members ?? []).map(({ id }) => id).sort();
  complain(
    recorded.every((id) => octavia.members.get(id) !== undefined),
    'the status has members that are gone',
  );
  const isReady = klb?.status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  complain(isReady === true, 'it is not ready');
  return problems;
}

/** Listeners and their members as one line of text. */
function treeOf(world: OctaviaWorld, id: string): string {
  const { octavia } = world.openstack;
  const listeners = octavia.listeners.all().filter((row) => row.loadbalancer_id === id);
  const pools = octavia.pools.all().filter((row) => row.loadbalancer_id === id);
  const lines = listeners.map((listener) => {
    const members = octavia.members.all().filter((row) => row.pool_id === listener.default_pool_id);
    const targets = members.map((row) => `${row.address}:${row.protocol_port}`).sort();
    const pool = pools.find((row) => row.id === listener.default_pool_id);
    const monitor = octavia.healthMonitors.all().find((row) => row.pool_id === pool?.id);
    const checked = [...new Set(members.map((row) => row.monitor_port))].join();
    const check = monitor === undefined ? '' : `${monitor.url_path} on ${checked}`;
    return `${listener.name} ${pool?.lb_algorithm} ${targets.join()} ${check}`;
  });
  return [...lines.sort(), `${pools.length} pools`].join('; ');
}

function wantedTree(world: OctaviaWorld, service: Service): string {
  const { members, provider } = world.settings;
  const addresses = members === 'NodePort' ? readyNodes(world) : endpointAddresses(world, service);
  const { ports = [], healthCheckNodePort: healthPort } = service.spec ?? {};
  const algorithm = provider === 'ovn' ? 'SOURCE_IP_PORT' : 'ROUND_ROBIN';
  const monitor = healthPort === undefined ? '' : `/healthz on ${healthPort}`;
  const lines = ports.map(({ port, nodePort }) => {
    const target = members === 'NodePort' ? nodePort : port + 8000;
    const targets = addresses.map((address) => `${address}:${target}`).sort();
    return `${keyOf(service)}:TCP:${port} ${algorithm} ${targets.join()} ${monitor}`;
  });
  return [...lines.sort(), `${ports.length} pools`].join('; ');
}

function endpointAddresses(world: OctaviaWorld, service: Service): string[] {
  return slicesOf(world, service).flatMap(
    ({ endpoints }) => endpoints?.flatMap((endpoint) => endpoint.addresses) ?? [],
  );
}

function readyNodes(world: OctaviaWorld): string[] {
  const isReady = ({ status }: Node) => status?.conditions?.[0]?.status === 'True';
  return world.nodes().flatMap((node) => {
    const address = node.status?.addresses?.[0]?.address;
    return isReady(node) && address !== undefined ? [address] : [];
  });
}

/** The security group of the members allows the load balancers' traffic, and nothing more. */
function unsettledRules(world: OctaviaWorld): string[] {
  const { podSecurityGroup } = world.settings;
  if (podSecurityGroup === undefined) return [];
  const { neutron, octavia } = world.openstack;
  const open = neutron.securityGroupRules
    .all()
    .filter((row) => row.security_group_id === podSecurityGroup && row.direction === 'ingress')
    .map((row) => String(row.port_range_min));
  const used = new Set(octavia.members.all().map((row) => String(row.protocol_port)));
  const wanted = [...used].sort().join();
  const present = [...open].sort().join();
  return wanted === present ? [] : [`open for members: ${present} instead of ${wanted}`];
}

function slicesOf(world: OctaviaWorld, service: Service) {
  const { name } = service.metadata ?? {};
  return world
    .slices()
    .filter(({ metadata }) => metadata?.labels?.['kubernetes.io/service-name'] === name);
}

/** Objects without an owner. */
function leftovers(world: OctaviaWorld): string[] {
  const { octavia, neutron } = world.openstack;
  const klbs = world.klbs();
  const balancers = new Set(klbs.map(({ status }) => status?.loadbalancer?.id));
  const addresses = new Set(klbs.map(({ status }) => status?.service_pub_ip_info?.ip_id));
  const names = new Set(world.services().map(keyOf));
  return [
    ...octavia.loadBalancers
      .all()
      .filter(({ id, name }) => !balancers.has(id) && name !== theirs)
      .map(({ name }) => `the load balancer ${name} has no owner`),
    ...octavia.listeners
      .all()
      .filter(({ name }) => !names.has(name.split(':')[0] ?? ''))
      .map(({ name }) => `the listener ${name} has no owner`),
    ...neutron.floatingIps
      .all()
      .filter(({ id }) => !addresses.has(id))
      .map(({ floating_ip_address: address }) => `the floating IP ${address} has no owner`),
    ...klbs
      .filter((klb) => !names.has(keyOf(klb)) && klb.status?.loadbalancer !== undefined)
      .map((klb) => `the KuryrLoadBalancer ${keyOf(klb)} has no owner`),
  ];
}
