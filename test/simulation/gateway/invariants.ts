import { readPortIds } from '../../../src/loadbalancer/gateway/annotations.ts';
import type { Service } from '../../../src/kube/core-objects.ts';
import { keyOf } from '../../../src/kube/object.ts';
import { readRecord } from '../../../src/loadbalancer/record.ts';
import type { GatewayWorld } from './gateway-world.ts';

export const clusterId = 'simulated';

/** `203.0.113.7:80/TCP`: what no two Services may have. */
function claimsOf(service: Service): string[] {
  const record = readRecord(service);
  if (record.kind !== 'record') return [];
  return record.record.ingress.flatMap((ingress) =>
    (service.spec?.ports ?? []).map(({ port, protocol = 'TCP' }) =>
      'ip' in ingress ? `${ingress.ip}:${port}/${protocol}` : '',
    ),
  );
}

/** Every address, protocol and port that more than one Service believes to have. */
export function doublyClaimed(world: GatewayWorld): string[] {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const service of world.services()) {
    for (const claim of claimsOf(service)) {
      const other = owners.get(claim);
      if (other !== undefined) problems.push(`${claim} is ${other}'s and ${keyOf(service)}'s`);
      owners.set(claim, keyOf(service));
    }
  }
  return problems;
}

/** Our ports by id, with their fixed addresses. */
export function portsOf(world: GatewayWorld): Map<string, string> {
  const ours = world.openstack.neutron.ports
    .all()
    .filter(({ name }) => name.startsWith(`causeway-${clusterId}-`));
  return new Map(ours.map((port) => [port.id, port.fixed_ips[0]?.ip_address ?? '']));
}

/** Addresses that a gateway serves although their port is gone: somebody else may get them. */
export function announcedWithoutPort(world: GatewayWorld): string[] {
  const addresses = new Set(portsOf(world).values());
  return [...world.agents].flatMap(([name, agent]) =>
    [...agent.holds.values()]
      .filter(({ address }) => !addresses.has(address))
      .map(({ address }) => `${name} serves ${address}, which has no port`),
  );
}

/** What keeps the world from being as it should be; nothing when it is. */
export function unsettled(world: GatewayWorld): string[] {
  return [
    ...doublyClaimed(world),
    ...announcedWithoutPort(world),
    ...world.services().flatMap((service) => unsettledService(world, service)),
    ...leftovers(world),
    ...[...world.agents.keys()].flatMap((name) => unsettledAgent(world, name)),
  ];
}

const wants = (service: Service): boolean =>
  service.spec?.type === 'LoadBalancer' && service.metadata?.deletionTimestamp === undefined;

function unsettledService(world: GatewayWorld, service: Service): string[] {
  const key = keyOf(service);
  const ids = [...readPortIds(service).values()];
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  if (!wants(service)) {
    if (service.metadata?.deletionTimestamp !== undefined) return [`${key} is not deleted yet`];
    const isClean = ids.length === 0 && ingress.length === 0;
    return isClean && readRecord(service).kind === 'none' ? [] : [`${key} is not released yet`];
  }
  const expected = ids.map((id) => publicAddress(world, id));
  const shown = ingress.map(({ ip }) => ip);
  if (expected.length === 0) return [`${key} has no port`];
  if (expected.join() !== shown.join())
    return [`${key} shows ${shown.join()}, has ${expected.join()}`];
  const [condition] = service.status?.conditions ?? [];
  return condition?.status === 'True' ? [] : [`${key} is not served: ${condition?.message}`];
}

function publicAddress(world: GatewayWorld, portId: string): string | undefined {
  const floating = world.openstack.neutron.floatingIps.all();
  return floating.find((row) => row.port_id === portId)?.floating_ip_address;
}

/** Ports and floating IPs of ours that no Service names. */
function leftovers(world: GatewayWorld): string[] {
  const named = new Set(world.services().flatMap((service) => [...readPortIds(service).values()]));
  const ports = [...portsOf(world).keys()].filter((id) => !named.has(id));
  const floating = world.openstack.neutron.floatingIps
    .all()
    .filter((row) => row.port_id === null || !named.has(row.port_id));
  return [
    ...ports.map((id) => `the port ${id} is nobody's`),
    ...floating.map((row) => `the floating IP ${row.floating_ip_address} is nobody's`),
  ];
}

function unsettledAgent(world: GatewayWorld, name: string): string[] {
  const held = new Map<string, string | undefined>(
    [...(world.agents.get(name)?.holds ?? [])].map(([key, endpoint]) => [key, endpoint.service]),
  );
  const ports = portsOf(world);
  const wanted = new Map<string, string>(
    world
      .services()
      .filter(wants)
      .flatMap((service) =>
        [...readPortIds(service).values()].flatMap((id) =>
          (service.spec?.ports ?? []).map(
            ({ port, protocol = 'TCP' }) =>
              [`${ports.get(id)}:${port}/${protocol}`, keyOf(service)] as const,
          ),
        ),
      ),
  );
  const missing = [...wanted].filter(([key, service]) => held.get(key) !== service);
  const extra = [...held.keys()].filter((key) => !wanted.has(key));
  return [
    ...missing.map(([key, service]) => `${name} does not serve ${key} for ${service}`),
    ...extra.map((key) => `${name} still serves ${key}`),
  ];
}
