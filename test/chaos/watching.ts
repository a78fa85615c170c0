import fs from 'node:fs/promises';
import type { Service } from '../../src/kube/core-objects.ts';
import { services } from '../../src/kube/resources.ts';
import { portsAnnotation, readPortIds } from '../../src/loadbalancer/gateway/annotations.ts';
import { readyCondition } from '../../src/loadbalancer/service-status.ts';
import { gateways, type GatewayName, type Topology } from '../kernel/gateway/topology.ts';
import type { Clients } from './clients.ts';
import { virtualAddressesIn } from './networks.ts';
import type { SeenCloud, SeenGateway, SeenService } from './observation.ts';
import { namespace } from './user.ts';

const limitMs = 10_000;

export async function lookAtServices({ kube }: Clients): Promise<SeenService[]> {
  const seen: SeenService[] = [];
  const signal = AbortSignal.timeout(limitMs);
  for await (const service of kube.list(services, { namespace, signal })) {
    if (service.spec?.type === 'LoadBalancer') seen.push(seenService(service));
  }
  return seen;
}

function seenService(service: Service): SeenService {
  const { metadata = {}, spec = {}, status = {} } = service;
  const { conditions = [], loadBalancer } = status;
  const hasPorts = metadata.annotations?.[portsAnnotation] !== undefined;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    isDeleting: metadata.deletionTimestamp !== undefined,
    isReady: conditions.some(({ type, status }) => type === readyCondition && status === 'True'),
    addresses: (loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip])),
    ports: (spec.ports ?? []).map(({ port, protocol = 'TCP' }) => `${protocol} ${port}`),
    l2Ports: hasPorts ? [...readPortIds(service).values()] : [],
  };
}

export async function lookAtCloud({ neutron }: Clients): Promise<SeenCloud> {
  const signal = AbortSignal.timeout(limitMs);
  const ports = new Map<string, readonly string[]>();
  for await (const { id, name, fixedIps } of neutron.ports.list({}, { signal })) {
    if (!name.startsWith('causeway-')) continue;
    ports.set(
      id,
      fixedIps.map(({ address }) => String(address)),
    );
  }
  const floating = new Map<string, string | undefined>();
  for await (const { address, portId } of neutron.floatingIps.list({}, { signal })) {
    floating.set(String(address), portId);
  }
  return { ports, floating };
}

/** Those of the gateways that can be looked at. */
export async function lookAtGateways(topology: Topology): Promise<SeenGateway[]> {
  const looks = await Promise.allSettled(gateways.map((name) => lookAtGateway(topology, name)));
  return looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
}

async function lookAtGateway(topology: Topology, name: GatewayName): Promise<SeenGateway> {
  const table = ['nft', '-n', 'list', 'table', 'inet', 'causeway'];
  const [rules, keepalived, status] = await Promise.all([
    topology.network.run(name, table),
    fs.readFile(topology.runtimeFile(name, 'keepalived.conf'), 'utf8'),
    topology.client(name).status(AbortSignal.timeout(limitMs)),
  ]);
  return {
    name,
    rules: virtualAddressesIn(rules),
    announced: virtualAddressesIn(keepalived),
    isMaster: status.vrrp.state === 'MASTER',
  };
}
