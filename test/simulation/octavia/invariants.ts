import type { Service } from '../../../src/kube/core-objects.ts';
import { keyOf } from '../../../src/kube/object.ts';
import type { OctaviaWorld } from './octavia-world.ts';

/** More than one load balancer or floating IP made for one Service: the sign of a create done twice. */
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

/** What keeps the world from being as it should be; nothing when it is. */
export function unsettled(world: OctaviaWorld): string[] {
  return [
    ...madeTwice(world),
    ...world.services().flatMap((service) => unsettledService(world, service)),
    ...leftovers(world),
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
    return `${listener.name} ${pool?.lb_algorithm} ${targets.join()}`;
  });
  return [...lines.sort(), `${pools.length} pools`].join('; ');
}

function wantedTree(world: OctaviaWorld, service: Service): string {
  const addresses = slicesOf(world, service).flatMap(
    ({ endpoints }) => endpoints?.flatMap((endpoint) => endpoint.addresses) ?? [],
  );
  const ports = service.spec?.ports ?? [];
  const lines = ports.map(({ port }) => {
    const targets = addresses.map((address) => `${address}:${port + 8000}`).sort();
    return `${keyOf(service)}:TCP:${port} ROUND_ROBIN ${targets.join()}`;
  });
  return [...lines.sort(), `${ports.length} pools`].join('; ');
}

function slicesOf(world: OctaviaWorld, service: Service) {
  const { name } = service.metadata ?? {};
  return world
    .slices()
    .filter(({ metadata }) => metadata?.labels?.['kubernetes.io/service-name'] === name);
}

/** What belongs to nobody. */
function leftovers(world: OctaviaWorld): string[] {
  const { octavia, neutron } = world.openstack;
  const klbs = world.klbs();
  const balancers = new Set(klbs.map(({ status }) => status?.loadbalancer?.id));
  const addresses = new Set(klbs.map(({ status }) => status?.service_pub_ip_info?.ip_id));
  const names = new Set(world.services().map(keyOf));
  return [
    ...octavia.loadBalancers
      .all()
      .filter(({ id }) => !balancers.has(id))
      .map(({ name }) => `the load balancer ${name} is nobody's`),
    ...neutron.floatingIps
      .all()
      .filter(({ id }) => !addresses.has(id))
      .map(({ floating_ip_address: address }) => `the floating IP ${address} is nobody's`),
    ...klbs
      .filter((klb) => !names.has(keyOf(klb)) && klb.status?.loadbalancer !== undefined)
      .map((klb) => `the KuryrLoadBalancer ${keyOf(klb)} is nobody's`),
  ];
}
