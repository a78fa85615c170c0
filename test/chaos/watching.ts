import fs from 'node:fs/promises';
import type { Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import {
  portsAnnotation,
  readPlace,
  readPortIds,
} from '../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import { readyCondition } from '../../packages/causeway/src/services/service-status.ts';
import { collect } from '../../packages/openstack/src/collect.ts';
import { allowedBy } from '../cluster/gateway/gateway-networks.ts';
import { gateways, type GatewayName, type Topology } from '../kernel/gateway/topology.ts';
import type { Clients } from './clients.ts';
import { virtualAddressesIn } from './networks.ts';
import type {
  Observation,
  SeenBalancer,
  SeenCloud,
  SeenGateway,
  SeenService,
} from './observation.ts';
import { discoveredAccount } from './jobs.ts';
import { clusterName, otherCluster, site, type LedgerServers } from './ledger.ts';
import { namespace } from './service-user.ts';
import { frontendFromService } from '../../packages/causeway/src/services/frontend-from-service.ts';

export async function observeServices(
  { kube }: Clients,
  signal: AbortSignal,
): Promise<SeenService[]> {
  const seen: SeenService[] = [];
  for await (const service of kube.list(services, { namespace, signal })) {
    if (service.spec?.type === 'LoadBalancer') seen.push(seenService(service));
  }
  return seen;
}

function seenService(service: Service): SeenService {
  const { metadata = {}, spec = {}, status = {} } = service;
  const { conditions = [], loadBalancer } = status;
  const hasPorts = metadata.annotations?.[portsAnnotation] !== undefined;
  const l2Ports = hasPorts ? [...readPortIds(frontendFromService(service)).values()] : [];
  const addresses = (loadBalancer?.ingress ?? []).flatMap(({ ip }) =>
    ip === undefined ? [] : [ip],
  );
  const given = hasPorts ? l2Ports : addresses;
  const ports = hasPorts
    ? (readPlace(frontendFromService(service)).held ?? [])
    : (spec.ports ?? []);
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    serviceClass: spec.loadBalancerClass ?? '',
    isDeleting: metadata.deletionTimestamp !== undefined,
    isReady: conditions.some(({ type, status }) => type === readyCondition && status === 'True'),
    addresses,
    l2Ports,
    places: given.flatMap((place) =>
      ports.map(({ port, protocol = 'TCP' }) => `${place} ${protocol} ${port}`),
    ),
  };
}

export async function observeCloud({ neutron }: Clients, signal: AbortSignal): Promise<SeenCloud> {
  const listed = await collect(neutron.ports.list({}, { signal }));
  const ours = listed.filter(({ name }) => name.startsWith('causeway-'));
  const ports = new Map(
    ours.map(({ id, fixedIps }) => [id, fixedIps.map(({ address }) => String(address))]),
  );
  const floating = new Map<string, string | undefined>();
  for await (const { address, portId } of neutron.floatingIps.list({}, { signal })) {
    floating.set(String(address), portId);
  }
  return { ports, floating, allowed: allowedBy(listed) };
}

/** The load balancers of the cluster's project, with their listeners and members. */
export async function observeBalancers(
  { balancing }: Clients,
  signal: AbortSignal,
): Promise<SeenBalancer[]> {
  const call = { signal };
  const seen: SeenBalancer[] = [];
  for await (const balancer of balancing.loadBalancers({}, call)) {
    const { id, provisioningStatus: status, vipPortId: vipPort, vipAddress } = balancer;
    const ways: string[] = [];
    for await (const { port, defaultPoolId } of balancing.listeners({ loadBalancerId: id }, call)) {
      if (defaultPoolId === undefined) continue;
      for await (const member of balancing.members(defaultPoolId, call))
        ways.push(`${port} to ${member.address}:${member.port}`);
    }
    seen.push({ id, status, vipPort, vip: String(vipAddress), ways });
  }
  return seen;
}

/** Load balancers that discovery should find, and the Services that it made. */
export async function observeDiscovery(
  { kube, otherBalancing }: Clients,
  signal: AbortSignal,
): Promise<Pick<Observation, 'others' | 'discovered'>> {
  const others = [];
  for await (const { id, name } of otherBalancing.loadBalancers({}, { signal }))
    others.push({ id, name });
  const discovered = [];
  for await (const { metadata } of kube.list(services, { namespace: discoveredAccount, signal }))
    discovered.push(metadata?.name ?? '');
  return { others, discovered };
}

export async function observeLedger(
  { operator }: LedgerServers,
  signal: AbortSignal,
): Promise<Pick<Observation, 'reserved' | 'owners'>> {
  const list = async (cluster: string) => {
    const asked = { params: { site, cluster } };
    const reservations = await operator.call('listReservations', asked, signal);
    // A cluster may have an address of its own, for its control plane.
    return reservations.items.filter(({ purpose }) => purpose === 'load-balancer');
  };
  const ours = await list(clusterName);
  return {
    reserved: new Set(ours.flatMap(({ addresses }) => addresses.map(({ address }) => address))),
    owners: new Set((await list(otherCluster)).map(({ uid }) => uid)),
  };
}

/** State of the gateways that answer. */
export async function observeGateways(
  topology: Topology,
  signal: AbortSignal,
): Promise<SeenGateway[]> {
  const checks = await Promise.allSettled(
    gateways.map((name) => observeGateway(topology, name, signal)),
  );
  return checks.flatMap((check) => (check.status === 'fulfilled' ? [check.value] : []));
}

async function observeGateway(
  topology: Topology,
  name: GatewayName,
  signal: AbortSignal,
): Promise<SeenGateway> {
  const table = ['nft', '-n', 'list', 'table', 'inet', 'causeway'];
  const [rules, keepalived, status] = await Promise.all([
    topology.network.run(name, table),
    fs.readFile(topology.runtimeFile(name, 'keepalived.conf'), 'utf8'),
    topology.client(name).status(signal),
  ]);
  return {
    name,
    rules: virtualAddressesIn(rules),
    announced: virtualAddressesIn(keepalived),
    isActive: status.announcer.role === 'active',
  };
}
