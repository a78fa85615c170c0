import fs from 'node:fs/promises';
import path from 'node:path';
import {
  isOurs,
  originLabels,
  originMarks,
  sourceOf,
} from '../../packages/causeway/src/discovery/ownership.ts';
import { leaseName, discoverySettings } from '../../packages/causeway/src/discovery/settings.ts';
import { parseAddress } from '../../packages/base/src/address/address.ts';
import { parsePort } from '../../packages/base/src/address/port.ts';
import { formatReport, parseReport } from '../../packages/causeway/src/idling/activity-report.ts';
import * as idling from '../../packages/causeway/src/idling/annotations.ts';
import type { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import type { ConfigMap, Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import type { Lease } from '../../packages/kubernetes/src/objects/workload-objects.ts';
import { configMaps, leases } from '../../packages/kubernetes/src/objects/resources.ts';
import {
  addressRecordsName,
  ConfigMapAddressRecords,
} from '../../packages/causeway/src/gateway/controller/ports/address-records.ts';
import {
  layerAnnotations,
  portAnnotations,
  readPlace,
  readPortIds,
} from '../../packages/causeway/src/gateway/controller/ports/annotations.ts';
import {
  gatewayConfigMapName,
  fenceChange,
  readGatewayConfigMap,
  writeGatewayConfigMap,
} from '../../packages/causeway/src/gateway/controller/gateway-config-map.ts';
import { balancersOf, klbOwner } from '../../packages/causeway/src/octavia/klb-store.ts';
import * as octavia from '../../packages/causeway/src/octavia/kuryr-load-balancer.ts';
import { cleanupFinalizer } from '../../packages/causeway/src/services/plan.ts';
import { holdingAnnotation } from '../../packages/causeway/src/pool/annotations.ts';
import { ContactMemory } from '../../packages/causeway/src/pool/contact-memory.ts';
import { PendingReleases } from '../../packages/causeway/src/pool/pending-releases.ts';
import { formatHolding, readHolding } from '../../packages/causeway/src/pool/holding.ts';
import {
  formatRecord,
  readRecord,
  recordAnnotation,
} from '../../packages/causeway/src/services/record.ts';
import { controllerSettings } from '../../packages/causeway/src/cli/controller/settings.ts';
import { parseEgressPolicy } from '../../packages/causeway/src/node-proxy/egress-firewall/egress-rules.ts';
import { proxySettings } from '../../packages/causeway/src/node-proxy/settings.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { memoryKubeClient } from '../../packages/fake-kubernetes/src/memory-client.testing.ts';
import { plain, sampleTime, type SampleKind } from './sample-kind.ts';
import { frontendFromService } from '../../packages/causeway/src/services/frontend-from-service.ts';

const { signal } = new AbortController();
const namespace = 'kube-system';

const save = (directory: string, name: string, value: unknown) =>
  fs.writeFile(path.join(directory, name), `${JSON.stringify(value, undefined, 2)}\n`);
const load = async <T>(directory: string, name: string) =>
  JSON.parse(await fs.readFile(path.join(directory, name), 'utf8')) as T;

function service(name: string, annotations: Readonly<Record<string, string | null>>): Service {
  const kept = Object.entries(annotations).filter((entry): entry is [string, string] => {
    return entry[1] !== null;
  });
  return {
    metadata: {
      namespace: 'shop',
      name,
      uid: `uid-${name}`,
      annotations: Object.fromEntries(kept),
    },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }] },
  };
}

const record = (name: string, provider: string) => ({
  [recordAnnotation]: formatRecord({
    uid: `uid-${name}`,
    provider,
    ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }],
  }),
});

function writtenServices(): Service[] {
  const ids = new Map([
    [4, 'port-4'],
    [6, 'port-6'],
  ] as const);
  const held = [{ protocol: 'TCP' as const, port: parsePort(80) }];
  return [
    service('gateway', {
      ...record('gateway', 'gateway'),
      ...portAnnotations(ids, { held, sharingGroup: 'namespace:shop' }, true),
      ...layerAnnotations(ids, 'Pod'),
    }),
    service('octavia', record('octavia', 'octavia')),
    service('pool', {
      ...record('pool', 'pool'),
      [holdingAnnotation]: formatHolding({
        uid: 'uid-pool',
        announcer: 'kube-vip',
        fencingToken: 7,
        stoppedAt: sampleTime,
        addresses: [
          { address: parseAddress('192.0.2.1'), publicAddress: parseAddress('203.0.113.1') },
        ],
      }),
    }),
    service('asleep', {
      [idling.idledAt]: idling.formatIdledAt(sampleTime),
      [idling.unidleTargets]: idling.formatTargets([
        { kind: 'Deployment', name: 'web', group: 'apps', replicas: 3 },
        { kind: 'ReplicationController', name: 'old', group: '', replicas: 1 },
      ]),
      [idling.previousScale]: '3',
      [idling.previousMinReplicas]: '2',
      [idling.idleAfterAnnotation]: '30m',
      [idling.holdAnnotation]: 'accept',
    }),
  ];
}

export const serviceAnnotations: SampleKind = {
  name: 'services',
  write: (directory) => save(directory, 'services.json', writtenServices()),

  async read(directory) {
    const all = await load<Service[]>(directory, 'services.json');
    return plain(
      all.map((each) => ({
        name: each.metadata?.name,
        record: readRecord(each),
        ports: readPortIds(frontendFromService(each)),
        place: readPlace(frontendFromService(each)),
        holding: readHolding(each) ?? null,
        idledAt: idling.idledAtTime(each) ?? null,
        targets: idling.parseTargets(each.metadata?.annotations?.[idling.unidleTargets]),
      })),
    );
  },
};

const origin = {
  backend: 'east',
  project: { id: 'p1', name: 'Shop' },
  loadBalancer: { id: 'b1', name: 'Über/uns' },
};

/** Objects of the cluster beside Services: state that controllers keep over a restart. */
export const clusterObjects: SampleKind = {
  name: 'cluster-objects',

  async write(directory) {
    const client = memoryKubeClient();
    const state = {
      reachable: true,
      generation: 5,
      current: true,
      role: 'active' as const,
      fenced: false,
      refusedFrontends: 0,
      problems: ['x'],
    };
    await writeGatewayConfigMap(
      client,
      namespace,
      fenceChange('g2', { reason: 'r', since: 's' }),
      signal,
    );
    const data = { 'state.g1': JSON.stringify(state) };
    await writeGatewayConfigMap(client, namespace, { data }, signal);
    const records = new ConfigMapAddressRecords({ client, namespace, clock: systemClock });
    await records.read(signal);
    await records.enter(['192.0.2.1', '2001:db8::1'].map(parseAddress));
    const announced = {
      by: 'kube-vip' as const,
      namespace: 'shop',
      name: 'web',
      wasSeen: true,
      term: { holder: 'n1', since: '2026-01-01T00:00:00Z', number: 3 },
    };
    const departures = new PendingReleases(client, namespace);
    await departures.add({ uid: 'u1', fencingToken: 4, withdrawn: false, announced }, signal);
    await new ContactMemory(client, namespace).write(
      { at: sampleTime, withdrawsAfterMs: 60_000 },
      signal,
    );
    const quietSeconds = new Map([['shop/web', 12]]);
    await client.create(configMaps, formatReport(namespace, { node: 'n1', quietSeconds }, 9), {
      signal,
    });
    await save(directory, 'configmaps.json', await all(client, configMaps));
    await save(directory, 'leases.json', await all(client, leases));
    await save(directory, 'discovered.json', {
      metadata: {
        namespace: 'shop',
        name: 'east-uber-uns-b1',
        labels: originLabels(origin),
        annotations: originMarks(origin, { namespace: 'shop', name: 'east-uber-uns-b1' }),
      },
    });
    await save(directory, 'klb.json', writtenBalancer);
    await save(directory, 'egress.json', writtenPolicy);
  },

  async read(directory) {
    const client = memoryKubeClient();
    for (const each of await load<ConfigMap[]>(directory, 'configmaps.json')) {
      await client.create(configMaps, withoutIdentity(each), { signal });
    }
    for (const each of await load<Lease[]>(directory, 'leases.json')) {
      await client.create(leases, withoutIdentity(each), { signal });
    }
    const find = (name: string) => client.find(configMaps, { namespace, name }, { signal });
    const discovered = await load<Service>(directory, 'discovered.json');
    const klb = await load<octavia.KuryrLoadBalancer>(directory, 'klb.json');
    const records = new ConfigMapAddressRecords({ client, namespace, clock: systemClock });
    return plain({
      configMap: readGatewayConfigMap((await find(gatewayConfigMapName)) ?? {}),
      addresses: await records.read(signal),
      departed: await new PendingReleases(client, namespace).list(signal),
      contact: await new ContactMemory(client, namespace).read(signal),
      activity: parseReport((await find('causeway-activity-n1')) ?? {}),
      discovered: { ours: isOurs('east', discovered), source: sourceOf(discovered) },
      klb: { balancers: balancersOf(klb), owner: klbOwner(klb), status: klb.status },
      egress: parseEgressPolicy(await load(directory, 'egress.json')),
    });
  },
};

const writtenBalancer: octavia.KuryrLoadBalancer = {
  metadata: {
    namespace: 'shop',
    name: 'web',
    finalizers: [octavia.klbFinalizer],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'uid-octavia' }],
  },
  spec: {
    type: 'LoadBalancer',
    subnet_id: 's1',
    lb_ip: '203.0.113.9',
    endpointSlices: [],
    ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 'http', nodePort: 30080 }],
    options: { member_mode: 'NodePort', floating_network_id: 'public' },
  } as never,
  status: {
    version: octavia.statusVersion,
    loadbalancer: { id: 'b1', name: 'shop/web', ip: '10.0.0.9', port_id: 'p1' } as never,
    service_pub_ip_info: { ip_id: 'f1', ip_addr: '203.0.113.9', alloc_method: 'pool' },
  },
};
const writtenPolicy = {
  metadata: { namespace: 'shop', name: 'default' },
  spec: {
    egress: [
      { type: 'Allow', to: { cidrSelector: '192.0.2.0/24' } },
      { type: 'Deny', to: { dnsName: 'Example.com.' } },
    ],
  },
};

async function all(client: KubeClient, resource: typeof configMaps | typeof leases) {
  const found: object[] = [];
  for await (const each of client.list(resource, { signal })) found.push(each);
  return found;
}

/** As in another cluster, after a restore. */
function withoutIdentity<T extends ConfigMap | Lease>(object: T): T {
  const { namespace: place, name, labels, annotations } = object.metadata ?? {};
  const metadata = { namespace: place, name, labels, annotations };
  return { ...object, metadata: plain(metadata) };
}

/**
 * Names by which the next version finds the objects of this one. After a change, the code must also search
 * for the previous name.
 */
export const names: SampleKind = {
  name: 'names',
  write: () => Promise.resolve(),

  read() {
    const discovery = discoverySettings.parse({ backends: [{ name: 'b' }, { name: 'a' }] });
    return Promise.resolve(
      plain({
        leases: {
          controller: controllerSettings.parse({ clusterId: 'x' }).leaderElection,
          discovery: leaseName(discovery),
        },
        configMaps: { gatewayConfigMapName, addressRecordsName },
        finalizers: [cleanupFinalizer, octavia.serviceFinalizer, octavia.klbFinalizer],
        annotations: { recordAnnotation, holdingAnnotation, ...idlingNames() },
        table: proxySettings.parse({}).nftables.table,
        devices: proxySettings.parse({}).idling.device,
      }),
    );
  },
};

function idlingNames(): Record<string, string> {
  const { idledAt, unidleTargets, previousScale, previousMinReplicas } = idling;
  return { idledAt, unidleTargets, previousScale, previousMinReplicas };
}
