import {
  readPlace,
  readPortIds,
} from '../../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import { addressAnnotation } from '../../../packages/causeway/src/services/annotations.ts';
import { addressRecordsName } from '../../../packages/causeway/src/gateway/controller/ports/address-records.ts';
import type { ConfigMap, Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { tryParseAddress, type Address } from '../../../packages/base/src/address/address.ts';
import {
  parsePrefix,
  prefixContains,
  type Prefix,
} from '../../../packages/base/src/address/prefix.ts';
import { keyOf } from '../../../packages/kubernetes/src/objects/object.ts';
import { readRecord } from '../../../packages/causeway/src/services/record.ts';
import type { GatewayWorld } from './gateway-world.ts';
import { frontendFromService } from '../../../packages/causeway/src/services/frontend-from-service.ts';

export const clusterId = 'simulated';
export const clusterUid = '0fa4a0a2-7b0e-4f5c-9e1a-3a4b5c6d7e8f';

/**
 * `10.10.0.7:80/TCP`: what no two Services may have. Each has what its annotations say, regardless of its
 * spec.
 */
function ownedBy(service: Service, ports: ReadonlyMap<string, string>): string[] {
  if (readRecord(service).kind !== 'record') return [];
  const held = readPlace(frontendFromService(service)).held ?? [];
  return [...readPortIds(frontendFromService(service)).values()].flatMap((id) =>
    held.map(({ port, protocol }) => `${ports.get(id) ?? id}:${port}/${protocol}`),
  );
}

/** Every address, protocol and port that more than one Service owns; false records are excluded. */
export function ownedTwice(world: GatewayWorld, liars: ReadonlySet<string> = new Set()) {
  const ports = portsOf(world);
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const service of world.services()) {
    if (liars.has(keyOf(service))) continue;
    for (const frontend of ownedBy(service, ports)) {
      const other = owners.get(frontend);
      if (other !== undefined) problems.push(`${frontend} is ${other}'s and ${keyOf(service)}'s`);
      owners.set(frontend, keyOf(service));
    }
  }
  return problems;
}

/** Causeway's ports by ID, with their fixed addresses; those of ch-k8s-lbaas are included. */
export function portsOf(world: GatewayWorld): Map<string, string> {
  if (world.isStatic) return givenOut(world);
  const ours = world.openstack.neutron.ports
    .all()
    .filter(({ description }) => description.startsWith('Managed by '));
  return new Map(ours.map((port) => [port.id, port.fixed_ips[0]?.ip_address ?? '']));
}

/** The recorded reservations: an address of a list is its own port. */
function givenOut(world: GatewayWorld): Map<string, string> {
  const { store } = world.kubernetes.cluster;
  const records: ConfigMap | undefined = store.get('configmaps', 'kube-system', addressRecordsName);
  const { version: _, ...entries } = records?.data ?? {};
  return new Map(
    Object.keys(entries).map((key) => {
      const address = key.replaceAll('_', ':');
      return [address, address];
    }),
  );
}

/** Addresses that a gateway serves although their port is deleted: they may be assigned again. */
export function announcedWithoutPort(world: GatewayWorld): string[] {
  const addresses = new Set(portsOf(world).values());
  return [...world.agents].flatMap(([name, agent]) =>
    [...agent.holds.values()]
      .filter(({ address }) => !addresses.has(address) && isLetThrough(world, name, address))
      .map(({ address }) => `${name} serves ${address}, which has no port`),
  );
}

/** The prefixes that Neutron lets a gateway use beside its own; undefined without port security. */
function pairsOf(world: GatewayWorld, gateway: string): Prefix[] | undefined {
  const id = world.gatewayPorts.get(gateway);
  const row = world.openstack.neutron.ports.all().find((port) => port.id === id);
  return row?.allowed_address_pairs.map(({ ip_address: text }) =>
    parsePrefix(text.includes('/') ? text : `${text}/32`),
  );
}

function isLetThrough(world: GatewayWorld, gateway: string, address: Address): boolean {
  return pairsOf(world, gateway)?.some((prefix) => prefixContains(prefix, address)) ?? true;
}

/** Every gateway may use all addresses in use. */
function closeForwarders(world: GatewayWorld): string[] {
  const used = [...portsOf(world).values()].flatMap((text) => tryParseAddress(text) ?? []);
  return [...world.gatewayPorts.keys()].flatMap((name) =>
    used
      .filter((address) => !isLetThrough(world, name, address))
      .map((address) => `the network does not let ${name} use ${address}`),
  );
}

/** Differences from the desired state; empty if there are none. */
export function unsettled(world: GatewayWorld): string[] {
  return [
    ...ownedTwice(world),
    ...announcedWithoutPort(world),
    ...world.services().flatMap((service) => unsettledService(world, service)),
    ...leftovers(world),
    ...closeForwarders(world),
    ...[...world.agents.keys()].flatMap((name) => unsettledAgent(world, name)),
  ];
}

const wants = (service: Service): boolean =>
  service.spec?.type === 'LoadBalancer' && service.metadata?.deletionTimestamp === undefined;

function unsettledService(world: GatewayWorld, service: Service): string[] {
  const key = keyOf(service);
  const ids = [...readPortIds(frontendFromService(service)).values()];
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  if (!wants(service)) {
    if (service.metadata?.deletionTimestamp !== undefined) return [`${key} is not deleted yet`];
    const isClean = ids.length === 0 && ingress.length === 0;
    return isClean && readRecord(service).kind === 'none' ? [] : [`${key} is not released yet`];
  }
  const [condition] = service.status?.conditions ?? [];
  const expected = ids.map((id) => publicAddress(world, id));
  const shown = ingress.map(({ ip }) => ip);
  if (expected.join() !== shown.join())
    return [`${key} shows ${shown.join()}, has ${expected.join()}`];
  if (condition?.reason === 'AddressTaken' && isTaken(world, service)) return [];
  // All requested addresses are IPv4.
  const hasNoIpv4 = service.spec?.ipFamilies?.includes('IPv4') === false;
  if (condition?.reason === 'AddressOfOtherFamily' && hasNoIpv4) return [];
  if (expected.length === 0) return [`${key} has no port: ${condition?.message}`];
  return condition?.status === 'True' ? [] : [`${key} is not served: ${condition?.message}`];
}

/** Whether another Service really has the requested address. */
function isTaken(world: GatewayWorld, service: Service): boolean {
  const requested = service.metadata?.annotations?.[addressAnnotation];
  const ports = portsOf(world);
  return world
    .services()
    .filter((other) => other !== service)
    .some((other) =>
      [...readPortIds(frontendFromService(other)).values()].some(
        (id) => ports.get(id) === requested,
      ),
    );
}

function publicAddress(world: GatewayWorld, portId: string): string | undefined {
  const floating = world.openstack.neutron.floatingIps.all();
  const address = floating.find((row) => row.port_id === portId)?.floating_ip_address;
  const fixed = portsOf(world).get(portId);
  // Only IPv4 has floating IPs, and only Neutron.
  return address ?? (world.isStatic || fixed?.includes(':') === true ? fixed : undefined);
}

/** Ports and floating IPs of Causeway that no Service names. */
function leftovers(world: GatewayWorld): string[] {
  const named = new Set(
    world.services().flatMap((service) => [...readPortIds(frontendFromService(service)).values()]),
  );
  const ports = [...portsOf(world).keys()].filter((id) => !named.has(id));
  const floating = world.openstack.neutron.floatingIps
    .all()
    .filter((row) => row.port_id === null || !named.has(row.port_id))
    .filter(({ description }) => !description.startsWith('Kept by Causeway for the cluster'));
  return [
    ...ports.map((id) => `the port ${id} has no owner`),
    ...floating.map((row) => `the floating IP ${row.floating_ip_address} has no owner`),
  ];
}

function unsettledAgent(world: GatewayWorld, name: string): string[] {
  const held = new Map<string, string | undefined>(
    [...(world.agents.get(name)?.holds ?? [])].map(([key, frontend]) => [key, frontend.service]),
  );
  const ports = portsOf(world);
  const wanted = new Map<string, string>(
    world
      .services()
      .filter(wants)
      .flatMap((service) =>
        [...readPortIds(frontendFromService(service)).values()].flatMap((id) =>
          servedPorts(service).map(
            (port) => [`${frontendAddress(ports.get(id))}:${port}`, keyOf(service)] as const,
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

/** Ports of the spec that it has: a rejected port is not served. */
function servedPorts(service: Service): string[] {
  const held = new Set(
    readPlace(frontendFromService(service)).held?.map(
      ({ port, protocol }) => `${port}/${protocol}`,
    ),
  );
  return (service.spec?.ports ?? [])
    .map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`)
    .filter((port) => held.has(port));
}

/** In the form of frontend keys. */
function frontendAddress(address = ''): string {
  return address.includes(':') ? `[${address}]` : address;
}
