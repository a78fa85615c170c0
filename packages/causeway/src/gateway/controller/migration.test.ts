import fs from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { verifyToken } from '../protocol/tokens.ts';
import { readV1Config } from '../protocol/v1.ts';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { services } from '@causeway/kubernetes/objects/resources';
import { Cloud } from '@causeway/openstack/cloud';
import { cloudConfigFrom } from '@causeway/openstack/config/settings';
import { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Subnet } from '@causeway/openstack/neutron/resources';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { listen } from '@causeway/base/network/listen';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { accounts } from '@causeway/fake-openstack/seed';
import { ServiceController } from '../../services/service-controller.ts';
import { legacyManagedAnnotation, legacyPortAnnotation } from './ports/annotations.ts';
import type { AgentClient } from './fleet/agent-client-contract.ts';
import { handBack } from '../../services/hand-back.ts';
import { handBackToLbaas } from './hand-back.ts';
import { makeGatewayProvider } from './make-gateway-provider.ts';
import { MemoryAgent } from './fleet/testing/memory-agent.ts';
import { configMapPortRecords } from './ports/port-records.ts';
import { OpenStackPortManager } from './ports/openstack-port-manager.ts';
import { V1Agent } from './fleet/v1-agent.ts';
import { providerForServices } from '../../services/service-provider.ts';

// The steps of docs/migrating/ch-k8s-lbaas.md, one test each, on one cluster and cloud.

const signal = new AbortController().signal;
const legacyTag = 'cah-loadbalancer.k8s.cloudandheat.com/managed';
const description = 'Managed by cah-loadbalancer';
const secret = Buffer.from('the secret of the old agents');

let kubernetes: EmbeddedKubernetes;
let cloud: EmbeddedOpenStack;
let session: Cloud;
let neutron: Neutron;
let client: KubeClient;
let directory = '';
let subnet: Subnet;
let floatingNetwork = '';
let original: http.Server;
/** The addresses and ports in the last configuration of the original agent. */
let serves: string[] = [];
let stop: (() => Promise<void>) | undefined;
const addresses = new Map<string, string>();

beforeAll(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-migration-'));
  kubernetes = await startEmbeddedKubernetes();
  cloud = await startEmbeddedOpenStack();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const transport = new HttpTransport(connection, systemClock);
  client = new KubeClient({ transport, clock: systemClock });
  const { user, password, domain, project } = accounts.demo;
  const settings = cloudConfigFrom('demo', {
    auth_url: cloud.authUrl,
    region_name: cloud.region,
    username: user,
    password,
    user_domain_name: domain,
    project_name: project,
    project_domain_name: domain,
  });
  session = new Cloud(settings, { log: discardLog, metrics: noMetrics });
  neutron = new Neutron(session.session());
  for await (const network of neutron.networks.list({ external: true }, { signal })) {
    floatingNetwork = network.id;
  }
  for await (const each of neutron.subnets.list({ family: 4 }, { signal })) {
    if (each.networkId !== floatingNetwork) subnet = each;
  }
  original = http.createServer((request, response) => {
    void receive(request).then(() => response.writeHead(200).end());
  });
  await listen(original);
});

afterAll(async () => {
  await stop?.();
  await new Promise((resolve) => original.close(resolve));
  await session.close();
  await client.close();
  await Promise.all([kubernetes.stop(), cloud.stop()]);
  await fs.rm(directory, { recursive: true });
});

async function receive(request: http.IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const token = Buffer.concat(chunks).toString();
  const claims = await verifyToken(token, [secret], systemClock.wallTime());
  const { frontends } = readV1Config(claims['load-balancer-config'], 1, 'always');
  serves = [...frontends.values()].map(({ address, port }) => `${address}:${port}`);
}

const named = (name: string) => ({ namespace: 'default', name });
const read = (name: string) => client.get(services, named(name));
const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });
const newService = (name: string, port: number): Service => ({
  metadata: named(name),
  spec: { type: 'LoadBalancer', ports: [{ port }] },
});

/** Creates a Service in the state of ch-k8s-lbaas: a port with a floating IP, annotations, a status. */
async function makeAsOriginal(name: string, port: number): Promise<void> {
  const l2Port = await neutron.ports.create(
    {
      name: `lbaas-${name}`,
      description,
      networkId: subnet.networkId,
      fixedIps: [{ subnetId: subnet.id }],
      portSecurityEnabled: false,
    },
    { signal },
  );
  await neutron.ports.replaceTags(l2Port.id, [legacyTag], { signal });
  const floating = await neutron.floatingIps.create(
    { description, floatingNetworkId: floatingNetwork, portId: l2Port.id },
    { signal },
  );
  await neutron.floatingIps.replaceTags(floating.id, [legacyTag], { signal });
  const annotations = {
    [legacyManagedAnnotation]: 'true',
    [legacyPortAnnotation]: l2Port.id,
  };
  const service = newService(name, port);
  await client.create(services, { ...service, metadata: { ...named(name), annotations } });
  const status = { loadBalancer: { ingress: [{ ip: floating.address }] } };
  await client.patchMerge(services, named(name), { status }, { subresource: 'status' });
  addresses.set(name, floating.address);
}

function startController(keepWayBack: boolean, agent: AgentClient): void {
  const abort = new AbortController();
  const common = { client, clock: systemClock, log: discardLog, metrics: noMetrics };
  const provider = makeGatewayProvider({
    ...common,
    manager: new OpenStackPortManager({
      neutron,
      keepWayBack,
      cluster: { id: 'moved', uid: 'c-1' },
      records: configMapPortRecords({ client, clock: systemClock, namespace: 'kube-system' }),
      subnets: new Map([[4, subnet]]),
      floating: { networkId: floatingNetwork },
    }),
    agents: new Map([['gw1', agent]]),
    layer: 'NodePort',
    masquerade: 'needed',
    keepWayBack,
    driftEveryMs: 60_000,
  });
  const controller = new ServiceController({
    ...common,
    providers: { all: [providerForServices(provider)], defaultName: 'gateway' },
    recordEvent: () => {},
    workers: 4,
  });
  const ended = controller.run(abort.signal);
  stop = async () => {
    abort.abort();
    await ended;
    stop = undefined;
  };
}

function originalAgent(): V1Agent {
  const url = `http://127.0.0.1:${(original.address() as AddressInfo).port}`;
  return new V1Agent({ name: 'gw1', url, secret, clock: systemClock, limitMs: 5_000 });
}

async function expectServed(name: string): Promise<void> {
  await until(async () => {
    const { status } = await read(name);
    expect(status?.conditions?.[0]).toMatchObject({ status: 'True' });
    expect(status?.loadBalancer?.ingress).toEqual([{ ip: addresses.get(name), ipMode: 'VIP' }]);
  });
}

/** The ports that ch-k8s-lbaas finds by its tag, and those in the annotations of Services. */
async function seenByOriginal(): Promise<{ tagged: string[]; named: string[] }> {
  const tagged: string[] = [];
  for await (const port of neutron.ports.list({ tags: [legacyTag] }, { signal })) {
    tagged.push(port.id);
  }
  const annotated = new Set<string>();
  for await (const { metadata } of client.list(services)) {
    const id = metadata?.annotations?.[legacyPortAnnotation];
    if (id !== undefined) annotated.add(id);
  }
  return { tagged: tagged.sort(), named: [...annotated].sort() };
}

test('before: creates two Services of ch-k8s-lbaas, and one that opted out', async () => {
  await makeAsOriginal('web', 80);
  await makeAsOriginal('mail', 25);
  const optedOut = newService('manual', 99);
  const annotations = { [legacyManagedAnnotation]: 'false' };
  await client.create(services, { ...optedOut, metadata: { ...named('manual'), annotations } });
});

test('step 1: takes over the Services on the old agents without a change of address', async () => {
  const before = await seenByOriginal();
  startController(true, originalAgent());
  for (const name of ['web', 'mail']) await expectServed(name);
  const ports = await Promise.all(before.named.map((id) => neutron.ports.get(id, { signal })));
  const fixed = new Set(ports.map(({ fixedIps }) => fixedIps[0]?.address));
  await until(() => expect(new Set(serves.map((each) => each.split(':')[0]))).toEqual(fixed));
  expect(await seenByOriginal()).toEqual(before);
  expect((await read('manual')).status?.conditions).toBeUndefined();
});

test('step 1: creates a new Service in a form that ch-k8s-lbaas recognizes', async () => {
  await client.create(services, newService('fresh', 80));
  await until(async () => {
    const [ingress] = (await read('fresh')).status?.loadBalancer?.ingress ?? [];
    expect(ingress?.ip).toBeDefined();
    addresses.set('fresh', ingress?.ip ?? '');
  });
  await expectServed('fresh');
  const { tagged, named: annotated } = await seenByOriginal();
  expect(tagged).toEqual(annotated);
  expect((await read('fresh')).metadata?.annotations).toMatchObject({
    [legacyManagedAnnotation]: 'true',
  });
});

test('rollback: hands the Services back in the form of ch-k8s-lbaas', async () => {
  await stop?.();
  for (const name of ['web', 'mail', 'fresh']) {
    const step = handBack(await read(name), handBackToLbaas);
    if (step.kind !== 'patch') throw new Error(`${name} can't be handed back`);
    const { metadata } = await client.patchMerge(services, named(name), step.patch);
    expect(metadata?.finalizers ?? []).toEqual([]);
    expect(Object.keys(metadata?.annotations ?? {}).sort()).toEqual(
      [legacyManagedAnnotation, legacyPortAnnotation].sort(),
    );
    const [ingress] = (await read(name)).status?.loadBalancer?.ingress ?? [];
    expect(ingress?.ip).toBe(addresses.get(name));
  }
});

test('step 2: closes the way back with new agents, removes the old marks and keeps the addresses', async () => {
  const agent = new MemoryAgent();
  startController(false, agent);
  for (const name of ['web', 'mail', 'fresh']) await expectServed(name);
  await until(async () => {
    expect(await seenByOriginal()).toEqual({ tagged: [], named: [] });
  });
  await until(() => expect(agent.holds.size).toBe(3));
});

test('afterwards: leaves nothing behind when Services and their old ports are deleted', async () => {
  for (const name of ['web', 'mail', 'fresh']) await client.delete(services, named(name));
  await until(async () => {
    const left: string[] = [];
    for await (const port of neutron.ports.list({ networkId: subnet.networkId }, { signal })) {
      if (port.deviceOwner === '') left.push(port.name);
    }
    for await (const floating of neutron.floatingIps.list({}, { signal })) {
      left.push(floating.address);
    }
    expect(left).toEqual([]);
  });
});
