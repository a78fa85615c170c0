import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  configMaps,
  endpointSlices,
  networkPolicies,
  pods,
  services,
} from '@causeway/kubernetes/objects/resources';
import { manyRanges } from '@causeway/kubernetes/objects/large-service.testing';
import { portsAnnotation } from './ports/annotations.ts';
import {
  gatewayConfigMapName,
  fenceChange,
  readGatewayConfigMap,
  writeGatewayConfigMap,
} from './gateway-config-map.ts';
import { legacySharingGroupKey } from './ports/legacy.ts';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

const signal = new AbortController().signal;
let lab: ProviderLab;

beforeEach(async () => {
  lab = await ProviderLab.start();
});

afterEach(() => lab.close());

test('gives a Service an address, serves it on every gateway, and follows its pods', async () => {
  lab.startController();
  await lab.client.create(services, newService('web'));
  await until(async () => expect(await lab.addressOf('web')).toBe('192.0.2.1'));
  await lab.client.create(endpointSlices, {
    metadata: { ...named('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.7'], conditions: { ready: true } }],
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  });
  for (const agent of lab.agents) {
    await until(() =>
      expect([...agent.holds.values()][0]?.destinations).toMatchObject([
        { address: '10.1.0.7', port: 8080 },
      ]),
    );
  }
  await until(async () =>
    expect((await lab.read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
});

test('does not serve a port that no node can handle, and records an Event', async () => {
  lab.masquerade = 'always';
  lab.startController();
  const { metadata, spec } = newService('web', 80, {
    'idling.alpha.openshift.io/idled-at': '2026-11-15T10:00:00Z',
  });
  await lab.client.create(services, {
    metadata: metadata ?? {},
    spec: { ...spec, allocateLoadBalancerNodePorts: false },
  });
  await lab.untilEvent('Warning PortNotServed: TCP/80: the port has no node port');
});

test('closes a Service beyond the budget with an Event, keeps others, and serves it again later', async () => {
  lab.startController();
  await lab.client.create(services, newService('bystander', 443));
  await lab.client.create(services, newService('web', 80));
  const served = () => [...lab.agents[0].holds.values()].map(({ service }) => service);
  await until(() =>
    expect(new Set(served())).toEqual(new Set(['default/bystander', 'default/web'])),
  );
  await lab.untilServed('web');
  const restrict = (ports: number, ranges: number) =>
    lab.client.patchMerge(services, named('web'), {
      spec: {
        ports: Array.from({ length: ports }, (_, index) => ({
          name: `p${index}`,
          port: 1000 + index,
          protocol: 'TCP',
        })),
        loadBalancerSourceRanges: manyRanges(ranges),
      },
    });
  await restrict(1000, 2000);
  await until(() =>
    expect(lab.events.join()).toContain(
      'OverBudget: The Service has 2000000 pairs of a port and a source',
    ),
  );
  for (const agent of lab.agents) {
    await until(() => expect([...agent.holds.keys()]).toEqual(['192.0.2.1:443/TCP']));
  }
  const condition = (await lab.read('web'))?.status?.conditions?.[0];
  expect(condition).toMatchObject({ status: 'False', reason: 'OverBudget' });
  // Another controller decides the same and opens nothing.
  const recorded = () => lab.events.filter((event) => event.includes('OverBudget')).length;
  await lab.stopController();
  const recordedBefore = recorded();
  lab.startController();
  await until(() => expect(recorded()).toBeGreaterThan(recordedBefore));
  expect(served()).toEqual(['default/bystander']);
  await restrict(2, 2000);
  await until(() => expect(served()).toHaveLength(3));
  const shared = new Set([...lab.agents[0].holds.values()].map((each) => each.sourceRanges.length));
  expect(shared).toEqual(new Set([0, 2000]));
  expect(await lab.addressOf('web')).toBe('192.0.2.1');
});

test('shares an address in a namespace, uses the next address for a conflict, and reports when none is left', async () => {
  lab.startController();
  for (const [name, port] of [
    ['a', 80],
    ['b', 443],
    ['c', 80],
    ['d', 80],
  ] as const) {
    await lab.client.create(services, newService(name, port));
    await until(async () => expect(await lab.addressOf(name)).toBeDefined());
  }
  const addresses = await Promise.all(['a', 'b', 'c', 'd'].map((name) => lab.addressOf(name)));
  expect(addresses).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']);
  await lab.client.create(services, newService('e', 80));
  await until(() =>
    expect(lab.events.find((event) => event.includes('SyncLoadBalancerFailed'))).toContain(
      'no IPv4 address is left',
    ),
  );
});

test('releases the address of a deleted Service after every gateway has confirmed', async () => {
  lab.startController();
  await lab.client.create(services, newService('web'));
  await until(async () =>
    expect((await lab.read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  const [, second] = lab.agents;
  second.mode = 'fails';
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await lab.read('web')).toBeUndefined());
  await lab.untilEvent('Normal DeletedLoadBalancer');
  await until(() => expect(lab.agents[0].holds.size).toBe(0));
  // The second gateway may still announce it, so no other Service gets it yet.
  await lab.client.create(services, newService('early'));
  await until(async () => expect(await lab.addressOf('early')).toBe('192.0.2.2'));
  await lab.client.create(
    services,
    newService('late', 80, { 'causeway.dev/address': '192.0.2.1' }),
  );
  await until(async () => {
    const condition = (await lab.read('late'))?.status?.conditions?.[0];
    expect(condition?.message).toContain('Waiting until no gateway announces 192.0.2.1');
  });
  second.mode = 'works';
  await until(async () => expect(await lab.addressOf('late')).toBe('192.0.2.1'));
});

test('rejects a requested address of another Service, and names that Service', async () => {
  lab.startController();
  await lab.client.create(
    services,
    newService('first', 80, { 'causeway.dev/address': '192.0.2.2' }),
  );
  await until(async () => expect(await lab.addressOf('first')).toBe('192.0.2.2'));
  await lab.client.create(
    services,
    newService('second', 80, { 'causeway.dev/address': '192.0.2.2' }),
  );
  await until(() => expect(lab.events.join('\n')).toContain('192.0.2.2 is taken by default/first'));
  await lab.client.create(
    services,
    newService('third', 80, { 'causeway.dev/address': '203.0.113.1' }),
  );
  await until(() =>
    expect(lab.events.join('\n')).toContain('203.0.113.1 is not in the list of addresses'),
  );
});

test('restores everything after a restart without a change on the gateways', async () => {
  lab.startController();
  for (const name of ['a', 'b'])
    await lab.client.create(services, newService(name, name === 'a' ? 80 : 81));
  for (const name of ['a', 'b']) {
    await until(async () =>
      expect((await lab.read(name))?.status?.conditions?.[0]?.status).toBe('True'),
    );
  }
  await lab.stopController();
  const before = await Promise.all(['a', 'b'].map((name) => lab.read(name)));
  for (const agent of lab.agents) agent.pushes.length = 0;
  lab.startController();
  for (const agent of lab.agents) await until(() => expect(agent.pushes.length).toBeGreaterThan(0));
  await lab.client.create(services, newService('c', 82));
  await until(async () => expect(await lab.addressOf('c')).toBe('192.0.2.1'));
  for (const agent of lab.agents) {
    for (const push of agent.pushes)
      expect(push.header.kind === 'state' ? push.frontends.size : 2).toBeGreaterThanOrEqual(2);
  }
  const after = await Promise.all(['a', 'b'].map((name) => lab.read(name)));
  expect(after.map((service) => service?.metadata?.resourceVersion)).toEqual(
    before.map((service) => service?.metadata?.resourceVersion),
  );
  expect(before[0]?.metadata?.annotations?.[portsAnnotation]).toBe(
    '{"version":1,"ipv4":"192.0.2.1","held":["80/TCP"],"sharingGroup":"namespace:default"}',
  );
});

test('reads an annotation of 0.1.0 and rewrites it', async () => {
  lab.startController();
  await lab.client.create(services, newService('a', 80));
  await until(async () => expect(await lab.addressOf('a')).toBe('192.0.2.1'));
  await lab.stopController();
  const written = (await lab.read('a'))?.metadata?.annotations?.[portsAnnotation];
  const legacy = written?.replace('sharingGroup', legacySharingGroupKey);
  const patch = { metadata: { annotations: { [portsAnnotation]: legacy } } };
  await lab.client.patchMerge(services, named('a'), patch);
  lab.startController();
  await until(async () =>
    expect((await lab.read('a'))?.metadata?.annotations?.[portsAnnotation]).toBe(written),
  );
  expect(await lab.addressOf('a')).toBe('192.0.2.1');
});

test("records a gateway's rejection as an Event on its Service, until it is fixed", async () => {
  const [, second] = lab.agents;
  second.dislikes.add('192.0.2.1:80/TCP');
  lab.startController();
  await lab.client.create(services, newService('good', 81));
  await lab.client.create(services, newService('bad', 80));
  await until(() =>
    expect(lab.events).toContain('Warning GatewayRefused: TCP/80: g2: rejected by the test'),
  );
  await until(async () =>
    expect((await lab.read('good'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  second.dislikes.clear();
  await lab.client.patchMerge(services, named('bad'), { spec: { sessionAffinity: 'ClientIP' } });
  await until(async () =>
    expect((await lab.read('bad'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
});

test('sends to a pod only after its policies are known, and pushes the policies to the gateways', async () => {
  const { addresses, ...slice } = {
    addresses: ['10.1.0.7'],
    metadata: { ...named('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4' as const,
    ports: [{ name: '', port: 8080, protocol: 'TCP' as const }],
  };
  const targetRef = { kind: 'Pod', name: 'pod-1', namespace: 'default' };
  await lab.client.create(networkPolicies, {
    metadata: named('only-lan'),
    spec: {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 'http' }] }],
    },
  });
  await lab.client.create(services, newService('web'));
  await lab.client.create(endpointSlices, {
    ...slice,
    endpoints: [{ addresses, conditions: { ready: true }, targetRef }],
  });
  lab.startController();
  const [agent] = lab.agents;
  await until(async () =>
    expect((await lab.read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  expect([...(agent?.holds.values() ?? [])][0]?.destinations).toEqual([]);
  const pod = {
    metadata: { ...named('pod-1'), labels: { app: 'web' } },
    spec: {
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }],
    },
  };
  await lab.client.create(pods, pod);
  const status = { phase: 'Running', podIP: '10.1.0.7', podIPs: [{ ip: '10.1.0.7' }] };
  await lab.client.patchMerge(pods, named('pod-1'), { status }, { subresource: 'status' });
  await until(() =>
    expect([...(agent?.holds.values() ?? [])][0]?.destinations).toMatchObject([
      { address: '10.1.0.7' },
    ]),
  );
  // No push had the pod without its policies.
  for (const { frontends, assignments } of agent?.pushes ?? []) {
    if ([...frontends.values()].some(({ destinations }) => destinations.length > 0)) {
      expect([...assignments.values()]).toMatchObject([
        { policies: ['default/only-lan'], namedPorts: [{ name: 'http', port: 8080 }] },
      ]);
    }
  }
  expect([...(agent?.policies.keys() ?? [])]).toEqual(['default/only-lan']);
  await lab.client.delete(networkPolicies, named('only-lan'));
  await until(() => expect(agent?.assignments.size).toBe(0));
  await until(() => expect(agent?.policies.size).toBe(0));
});

test("frees a dead gateway's addresses after an operator fences it in the ConfigMap", async () => {
  lab.startController();
  await lab.client.create(services, newService('web'));
  await until(async () => expect(await lab.addressOf('web')).toBe('192.0.2.1'));
  const [, second] = lab.agents;
  second.mode = 'fails';
  await lab.client.delete(services, named('web'));
  await lab.client.create(
    services,
    newService('heir', 80, { 'causeway.dev/address': '192.0.2.1' }),
  );
  await until(async () => {
    const condition = (await lab.read('heir'))?.status?.conditions?.[0];
    expect(condition?.message).toContain('Waiting until no gateway announces 192.0.2.1');
  });
  const fence = { reason: 'no power', since: '2026-01-01T00:00:00Z' };
  await writeGatewayConfigMap(lab.client, 'kube-system', fenceChange('g2', fence), signal);
  await until(async () => expect(await lab.addressOf('heir')).toBe('192.0.2.1'));
  const configMap = async () =>
    readGatewayConfigMap(
      await lab.client.get(configMaps, { namespace: 'kube-system', name: gatewayConfigMapName }),
    );
  await until(async () =>
    expect(await configMap()).toMatchObject([
      { name: 'g1', fence: undefined, state: { reachable: true, fenced: false } },
      { name: 'g2', fence, state: { reachable: false, fenced: true, problems: ['no route'] } },
    ]),
  );
  // Back again and updated, the gateway is opened.
  second.mode = 'works';
  await writeGatewayConfigMap(lab.client, 'kube-system', fenceChange('g2', undefined), signal);
  await until(async () =>
    expect((await configMap())[1]).toMatchObject({ fence: undefined, state: { fenced: false } }),
  );
});

test('moves a Service after a port conflict from a time without a controller, with an Event', async () => {
  lab.startController();
  for (const [name, port] of [
    ['holder', 80],
    ['mover', 81],
  ] as const) {
    await lab.client.create(services, newService(name, port));
    await until(async () => expect(await lab.addressOf(name)).toBe('192.0.2.1'));
  }
  await lab.stopController();
  await lab.client.patchMerge(services, named('mover'), { spec: { ports: [{ port: 80 }] } });
  lab.startController();
  await until(async () => expect(await lab.addressOf('mover')).toBe('192.0.2.2'));
  expect(await lab.addressOf('holder')).toBe('192.0.2.1');
  expect(lab.events.join('\n')).toContain(
    'Warning Remapped: The Service moved to 192.0.2.2, because another Service has one of its ports',
  );
});

test('keeps a foreign address in the status across restarts', async () => {
  lab.startController();
  const foreign = { ip: '203.0.113.9', ipMode: 'VIP' as const };
  await lab.client.create(services, newService('web'));
  await until(async () => expect(await lab.addressOf('web')).toBe('192.0.2.1'));
  const statusOf = async () => (await lab.read('web'))?.status?.loadBalancer?.ingress;
  const ours = { ip: '192.0.2.1', ipMode: 'VIP' };
  const patch = { status: { loadBalancer: { ingress: [ours, foreign] } } };
  await lab.client.patchMerge(services, named('web'), patch, { subresource: 'status' });
  for (let round = 0; round < 2; round += 1) {
    await lab.restartController();
    await until(async () => expect(await statusOf()).toEqual([foreign, ours]));
  }
  // The foreign address is never announced, and stays after the Service's own address is removed.
  for (const agent of lab.agents) {
    for (const { frontends } of agent.pushes) {
      expect([...frontends.values()].map(({ address }) => address)).not.toContain(foreign.ip);
    }
  }
  const optOut = { 'cah-loadbalancer.k8s.cloudandheat.com/managed': 'false' };
  await lab.client.patchMerge(services, named('web'), { metadata: { annotations: optOut } });
  await until(async () => expect(await statusOf()).toEqual([foreign]));
  // The record is removed last.
  await until(async () => expect((await lab.read('web'))?.metadata?.annotations).toEqual(optOut));
});

test('releases the address of a family that the Service no longer uses', async () => {
  lab.addresses = ['192.0.2.1', '2001:db8::1'];
  lab.startController();
  const both = {
    ipFamilies: ['IPv4', 'IPv6'] as const,
    ipFamilyPolicy: 'PreferDualStack' as const,
  };
  const service = newService('web');
  await lab.client.create(services, { ...service, spec: { ...service.spec, ...both } });
  const addresses = async () =>
    (await lab.read('web'))?.status?.loadBalancer?.ingress?.map(({ ip }) => ip);
  await until(async () => expect(await addresses()).toEqual(['192.0.2.1', '2001:db8::1']));
  const clusterIPs = [(await lab.read('web'))?.spec?.clusterIPs?.[0]];
  const single = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', clusterIPs };
  await lab.client.patchMerge(services, named('web'), { spec: single });
  await until(async () => expect(await addresses()).toEqual(['192.0.2.1']));
  for (const agent of lab.agents) await until(() => expect(agent.holds.size).toBe(1));
});

test('warns a Service about gateways without session affinity, and serves it', async () => {
  lab.withoutAffinity = ['g2'];
  lab.startController();
  const service = newService('web');
  const spec = { ...service.spec, sessionAffinity: 'ClientIP' as const };
  await lab.client.create(services, { ...service, spec });
  await lab.untilServed('web');
  expect(lab.events.filter((event) => event.includes('AffinityNotKept'))).toEqual([
    'Warning AffinityNotKept: The Service has no session affinity on g2: the agent of ch-k8s-lbaas does not support it',
  ]);
});
