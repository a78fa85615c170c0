import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseAddressRange } from '../../domain/address-range.ts';
import { KubeClient } from '../../kube/client.ts';
import { findConnection } from '../../kube/connection.ts';
import type { Service } from '../../kube/core-objects.ts';
import { HttpTransport } from '../../kube/http-transport.ts';
import {
  configMaps,
  endpointSlices,
  networkPolicies,
  pods,
  services,
} from '../../kube/resources.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import { noMetrics } from '../../runtime/metrics.ts';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../sandbox/kubernetes/start.ts';
import { ServiceController } from '../service-controller.ts';
import { portsAnnotation } from './annotations.ts';
import { boardName, fenceChange, GatewayBoard, readBoard, writeBoard } from './gateway-board.ts';
import { makeGatewayProvider } from './make-gateway-provider.ts';
import { MemoryAgent } from './memory-agent.ts';
import { StaticPortManager } from './static-port-manager.ts';

let kubernetes: EmbeddedKubernetes;
let client: KubeClient;
let directory = '';
let agents: MemoryAgent[] = [];
let manager: StaticPortManager;
let stop = new AbortController();
let ended: Promise<void> | undefined;
const events: string[] = [];

beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-gateway-'));
  kubernetes = await startEmbeddedKubernetes();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  client = new KubeClient({
    transport: new HttpTransport(connection, systemClock),
    clock: systemClock,
  });
  agents = [new MemoryAgent(), new MemoryAgent()];
  manager = new StaticPortManager([parseAddressRange('192.0.2.1-192.0.2.3')]);
  events.length = 0;
});

afterEach(async () => {
  await stopController();
  await client.close();
  await kubernetes.stop();
  await fs.rm(directory, { recursive: true });
});

function startController(): void {
  stop = new AbortController();
  const common = { client, clock: systemClock, log: silentLog, metrics: noMetrics };
  const provider = makeGatewayProvider({
    ...common,
    manager,
    agents: new Map(agents.map((agent, index) => [`g${index + 1}`, agent])),
    layer: 'Pod',
    masquerade: 'needed',
    keepWayBack: false,
    driftEveryMs: 60_000,
    board: new GatewayBoard({ ...common, namespace: 'kube-system' }),
    restMs: 0,
  });
  const controller = new ServiceController({
    ...common,
    providers: { all: [provider], defaultName: 'gateway' },
    tell: (_service, type, reason, message) => events.push(`${type} ${reason}: ${message}`),
    workers: 4,
  });
  ended = controller.run(stop.signal);
}

async function stopController(): Promise<void> {
  stop.abort();
  await ended;
}

const newService = (name: string, port = 80, annotations = {}): Service => ({
  metadata: { name, namespace: 'default', annotations },
  spec: { type: 'LoadBalancer', ports: [{ port }] },
});

const named = (name: string) => ({ namespace: 'default', name });
const read = (name: string) => client.find(services, named(name));
const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

async function addressOf(name: string): Promise<string | undefined> {
  return (await read(name))?.status?.loadBalancer?.ingress?.[0]?.ip;
}

test('a Service gets an address, every gateway serves it, and its pods follow', async () => {
  startController();
  await client.create(services, newService('web'));
  await until(async () => expect(await addressOf('web')).toBe('192.0.2.1'));
  await client.create(endpointSlices, {
    metadata: { ...named('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.7'], conditions: { ready: true } }],
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  });
  for (const agent of agents) {
    await until(() =>
      expect([...agent.holds.values()][0]?.destinations).toMatchObject([
        { address: '10.1.0.7', port: 8080 },
      ]),
    );
  }
  await until(async () =>
    expect((await read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
});

test('Services of one namespace share an address; a clash takes the next; none left is said', async () => {
  startController();
  for (const [name, port] of [
    ['a', 80],
    ['b', 443],
    ['c', 80],
    ['d', 80],
  ] as const) {
    await client.create(services, newService(name, port));
    await until(async () => expect(await addressOf(name)).toBeDefined());
  }
  const addresses = await Promise.all(['a', 'b', 'c', 'd'].map(addressOf));
  expect(addresses).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']);
  await client.create(services, newService('e', 80));
  await until(() =>
    expect(events.find((event) => event.includes('SyncLoadBalancerFailed'))).toContain(
      'no IPv4 address is left',
    ),
  );
});

test('a deleted Service gives its address back once every gateway has let go of it', async () => {
  startController();
  await client.create(services, newService('web'));
  await until(async () =>
    expect((await read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  const [, second] = agents;
  if (second === undefined) throw new Error('two agents are needed');
  second.mode = 'fails';
  await client.delete(services, named('web'));
  await until(async () => expect(await read('web')).toBeUndefined());
  await until(() => expect(agents[0]?.holds.size).toBe(0));
  // The second gateway may still announce it: nobody else gets it yet.
  await client.create(services, newService('early'));
  await until(async () => expect(await addressOf('early')).toBe('192.0.2.2'));
  await client.create(services, newService('late', 80, { 'causeway.dev/address': '192.0.2.1' }));
  await until(async () => {
    const condition = (await read('late'))?.status?.conditions?.[0];
    expect(condition?.message).toContain('Waiting until no gateway announces 192.0.2.1');
  });
  second.mode = 'works';
  await until(async () => expect(await addressOf('late')).toBe('192.0.2.1'));
});

test('a requested address that another Service has is refused, with who has it', async () => {
  startController();
  await client.create(services, newService('first', 80, { 'causeway.dev/address': '192.0.2.2' }));
  await until(async () => expect(await addressOf('first')).toBe('192.0.2.2'));
  await client.create(services, newService('second', 80, { 'causeway.dev/address': '192.0.2.2' }));
  await until(() => expect(events.join('\n')).toContain('192.0.2.2 is taken by default/first'));
  await client.create(services, newService('third', 80, { 'causeway.dev/address': '203.0.113.1' }));
  await until(() =>
    expect(events.join('\n')).toContain('203.0.113.1 is not in the list of addresses'),
  );
});

test('after a restart everything is as before, and the gateways were never told otherwise', async () => {
  startController();
  for (const name of ['a', 'b'])
    await client.create(services, newService(name, name === 'a' ? 80 : 81));
  for (const name of ['a', 'b']) {
    await until(async () =>
      expect((await read(name))?.status?.conditions?.[0]?.status).toBe('True'),
    );
  }
  await stopController();
  const before = await Promise.all(['a', 'b'].map(read));
  for (const agent of agents) agent.pushes.length = 0;
  manager = new StaticPortManager([parseAddressRange('192.0.2.1-192.0.2.3')]);
  startController();
  for (const agent of agents) await until(() => expect(agent.pushes.length).toBeGreaterThan(0));
  await client.create(services, newService('c', 82));
  await until(async () => expect(await addressOf('c')).toBe('192.0.2.1'));
  for (const agent of agents) {
    for (const push of agent.pushes)
      expect(push.header.kind === 'state' ? push.endpoints.size : 2).toBeGreaterThanOrEqual(2);
  }
  const after = await Promise.all(['a', 'b'].map(read));
  expect(after.map((service) => service?.metadata?.resourceVersion)).toEqual(
    before.map((service) => service?.metadata?.resourceVersion),
  );
  expect(before[0]?.metadata?.annotations?.[portsAnnotation]).toBe(
    '{"version":1,"ipv4":"192.0.2.1","held":["80/TCP"]}',
  );
});

test('what a gateway refuses is an Event on that Service, and over when it is mended', async () => {
  const [, second] = agents;
  second?.dislikes.add('192.0.2.1:80/TCP');
  startController();
  await client.create(services, newService('good', 81));
  await client.create(services, newService('bad', 80));
  await until(() =>
    expect(events).toContain('Warning GatewayRefused: TCP/80: g2: not to my taste'),
  );
  await until(async () =>
    expect((await read('good'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  second?.dislikes.clear();
  await client.patchMerge(services, named('bad'), { spec: { sessionAffinity: 'ClientIP' } });
  await until(async () =>
    expect((await read('bad'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
});

test('a pod is not sent to before its policies are known, and the gateways keep them', async () => {
  const { addresses, ...slice } = {
    addresses: ['10.1.0.7'],
    metadata: { ...named('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4' as const,
    ports: [{ name: '', port: 8080, protocol: 'TCP' as const }],
  };
  const targetRef = { kind: 'Pod', name: 'pod-1', namespace: 'default' };
  await client.create(networkPolicies, {
    metadata: named('only-lan'),
    spec: {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 'http' }] }],
    },
  });
  await client.create(services, newService('web'));
  await client.create(endpointSlices, {
    ...slice,
    endpoints: [{ addresses, conditions: { ready: true }, targetRef }],
  });
  startController();
  const [agent] = agents;
  await until(async () =>
    expect((await read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  expect([...(agent?.holds.values() ?? [])][0]?.destinations).toEqual([]);
  const pod = {
    metadata: { ...named('pod-1'), labels: { app: 'web' } },
    spec: {
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }],
    },
  };
  await client.create(pods, pod);
  const status = { phase: 'Running', podIP: '10.1.0.7', podIPs: [{ ip: '10.1.0.7' }] };
  await client.patchMerge(pods, named('pod-1'), { status }, { subresource: 'status' });
  await until(() =>
    expect([...(agent?.holds.values() ?? [])][0]?.destinations).toMatchObject([
      { address: '10.1.0.7' },
    ]),
  );
  // In no push was the pod there without its policies.
  for (const { endpoints, assignments } of agent?.pushes ?? []) {
    if ([...endpoints.values()].some(({ destinations }) => destinations.length > 0)) {
      expect([...assignments.values()]).toMatchObject([
        { policies: ['default/only-lan'], namedPorts: [{ name: 'http', port: 8080 }] },
      ]);
    }
  }
  expect([...(agent?.policies.keys() ?? [])]).toEqual(['default/only-lan']);
  await client.delete(networkPolicies, named('only-lan'));
  await until(() => expect(agent?.assignments.size).toBe(0));
  await until(() => expect(agent?.policies.size).toBe(0));
});

test('an operator fences a dead gateway on the board, which frees what it holds up', async () => {
  startController();
  await client.create(services, newService('web'));
  await until(async () => expect(await addressOf('web')).toBe('192.0.2.1'));
  const [, second] = agents;
  if (second !== undefined) second.mode = 'fails';
  await client.delete(services, named('web'));
  await client.create(services, newService('heir', 80, { 'causeway.dev/address': '192.0.2.1' }));
  await until(async () => {
    const condition = (await read('heir'))?.status?.conditions?.[0];
    expect(condition?.message).toContain('Waiting until no gateway announces 192.0.2.1');
  });
  const fence = { reason: 'no power', since: '2026-01-01T00:00:00Z' };
  await writeBoard(client, 'kube-system', fenceChange('g2', fence), stop.signal);
  await until(async () => expect(await addressOf('heir')).toBe('192.0.2.1'));
  const board = async () =>
    readBoard(await client.get(configMaps, { namespace: 'kube-system', name: boardName }));
  await until(async () =>
    expect(await board()).toMatchObject([
      { name: 'g1', fence: undefined, state: { reachable: true, fenced: false } },
      { name: 'g2', fence, state: { reachable: false, fenced: true, problems: ['no route'] } },
    ]),
  );
  // Back again and told what it lost, it is let in.
  if (second !== undefined) second.mode = 'works';
  await writeBoard(client, 'kube-system', fenceChange('g2', undefined), stop.signal);
  await until(async () =>
    expect((await board())[1]).toMatchObject({ fence: undefined, state: { fenced: false } }),
  );
});

test('who changed its ports while nobody looked moves for the one that has them, and is told', async () => {
  startController();
  for (const [name, port] of [
    ['holder', 80],
    ['mover', 81],
  ] as const) {
    await client.create(services, newService(name, port));
    await until(async () => expect(await addressOf(name)).toBe('192.0.2.1'));
  }
  await stopController();
  await client.patchMerge(services, named('mover'), { spec: { ports: [{ port: 80 }] } });
  manager = new StaticPortManager([parseAddressRange('192.0.2.1-192.0.2.3')]);
  startController();
  await until(async () => expect(await addressOf('mover')).toBe('192.0.2.2'));
  expect(await addressOf('holder')).toBe('192.0.2.1');
  expect(events.join('\n')).toContain(
    'Warning Remapped: Now on 192.0.2.2, because another Service has one of its ports',
  );
});

test('an address that somebody else put into the status stays as it is, across restarts', async () => {
  startController();
  const foreign = { ip: '203.0.113.9', ipMode: 'VIP' as const };
  await client.create(services, newService('web'));
  await until(async () => expect(await addressOf('web')).toBe('192.0.2.1'));
  const statusOf = async () => (await read('web'))?.status?.loadBalancer?.ingress;
  const ours = { ip: '192.0.2.1', ipMode: 'VIP' };
  const patch = { status: { loadBalancer: { ingress: [ours, foreign] } } };
  await client.patchMerge(services, named('web'), patch, { subresource: 'status' });
  for (let round = 0; round < 2; round += 1) {
    await stopController();
    manager = new StaticPortManager([parseAddressRange('192.0.2.1-192.0.2.3')]);
    startController();
    await until(async () => expect(await statusOf()).toEqual([foreign, ours]));
  }
  // It is never announced, and stays when ours goes.
  for (const agent of agents) {
    for (const { endpoints } of agent.pushes) {
      expect([...endpoints.values()].map(({ address }) => address)).not.toContain(foreign.ip);
    }
  }
  const optOut = { 'cah-loadbalancer.k8s.cloudandheat.com/managed': 'false' };
  await client.patchMerge(services, named('web'), { metadata: { annotations: optOut } });
  await until(async () => expect(await statusOf()).toEqual([foreign]));
  // The record goes last.
  await until(async () => expect((await read('web'))?.metadata?.annotations).toEqual(optOut));
});

test('a family that a Service no longer asks for is given back', async () => {
  manager = new StaticPortManager(['192.0.2.1', '2001:db8::1'].map(parseAddressRange));
  startController();
  const both = {
    ipFamilies: ['IPv4', 'IPv6'] as const,
    ipFamilyPolicy: 'PreferDualStack' as const,
  };
  const service = newService('web');
  await client.create(services, { ...service, spec: { ...service.spec, ...both } });
  const addresses = async () =>
    (await read('web'))?.status?.loadBalancer?.ingress?.map(({ ip }) => ip);
  await until(async () => expect(await addresses()).toEqual(['192.0.2.1', '2001:db8::1']));
  const clusterIPs = [(await read('web'))?.spec?.clusterIPs?.[0]];
  const single = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', clusterIPs };
  await client.patchMerge(services, named('web'), { spec: single });
  await until(async () => expect(await addresses()).toEqual(['192.0.2.1']));
  for (const agent of agents) await until(() => expect(agent.holds.size).toBe(1));
});
