import fs from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAddress } from '../src/domain/address.ts';
import { parsePort } from '../src/domain/port.ts';
import { endpointSlices, services } from '../src/kube/resources.ts';
import { noMetrics, type Metrics } from '../src/runtime/metrics.ts';
import { startEmbeddedKubernetes } from '../src/sandbox/kubernetes/start.ts';
import { startEmbeddedOpenStack } from '../src/sandbox/openstack/cloud.ts';
import { never, newService, newSlice, OctaviaLab } from '../test/octavia/lab.ts';
import { startKubernetes } from '../test/services/kubernetes.ts';
import { startOpenStack } from '../test/services/openstack.ts';
import type { BenchmarkSuite, Measurement } from './benchmark.ts';
import { addWideSubnet } from './wide-subnet.ts';

const call = { signal: never };
const member = '10.10.1.1';

/** Counts requests to the cloud, logins not among them. */
class Counting implements Metrics {
  requests = 0;
  readonly gauge: Metrics['gauge'] = (definition) => noMetrics.gauge(definition);
  readonly histogram: Metrics['histogram'] = (definition) => noMetrics.histogram(definition);

  readonly counter: Metrics['counter'] = (definition) => ({
    add: (labels) => {
      const isLogin = (labels as Readonly<Record<string, string>>)['service'] === 'identity';
      if (definition.name === 'causeway_openstack_requests_total' && !isLogin) this.requests += 1;
    },
  });
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await delay(100);
}

async function servedCount(lab: OctaviaLab): Promise<number> {
  let count = 0;
  for await (const { status } of lab.client.list(services)) {
    if (status?.conditions?.some(({ reason }) => reason === 'Served') === true) count += 1;
  }
  return count;
}

async function serviceCount(lab: OctaviaLab): Promise<number> {
  let count = 0;
  for await (const { metadata } of lab.client.list(services)) {
    if (metadata?.name !== 'kubernetes') count += 1;
  }
  return count;
}

async function createServices(
  lab: OctaviaLab,
  count: number,
  ports: readonly number[],
): Promise<void> {
  const named = ports.map((port) => ({ name: `p${port}`, port }));
  const targets = named.map((port) => ({ ...port, protocol: 'TCP' as const }));
  const names = Array.from({ length: count }, (_, index) => `s${index}`);
  const make = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      await lab.client.create(endpointSlices, newSlice(name, [member], targets));
      await lab.client.create(
        services,
        newService(name, { ports: named, allocateLoadBalancerNodePorts: false }),
      );
    }
  };
  await Promise.all(Array.from({ length: 16 }, make));
}

/** A start on 1,000 right Services with 3 ports each: calls to the cloud, beside the pages of its lists. */
async function resync(): Promise<Measurement> {
  const pageSize = 1_000;
  const kubernetes = await startEmbeddedKubernetes();
  const cloud = await startEmbeddedOpenStack({ provisioningDelayMs: 5 });
  addWideSubnet(cloud);
  const metrics = new Counting();
  const lab = await OctaviaLab.open({ ...kubernetes, ...cloud, cloudOptions: { metrics } });
  try {
    await lab.start();
    await createServices(lab, 1_000, [80, 81, 82]);
    await until(async () => (await servedCount(lab)) === 1_000);
    await lab.stop();
    metrics.requests = 0;
    await lab.start({ memberSample: 0 });
    await lab.client.create(services, newService('last'));
    await until(async () => (await lab.klb('last')) !== undefined);
    // Load balancers, listeners, pools and floating IPs; each list may have a page that is empty.
    const pages = [1_000, 3_000, 3_000, 1_000].reduce((sum, count) => sum + count / pageSize, 0);
    return { value: metrics.requests, baseline: pages };
  } finally {
    await lab.close();
    await cloud.stop();
    await kubernetes.stop();
  }
}

interface Round {
  readonly createMs: number;
  readonly deleteMs: number;
}

const many = 20;

/** The same writes by a plain script: the whole tree in one request, then the floating IP. */
async function byScript(lab: OctaviaLab): Promise<Round> {
  const balancing = await lab.balancing();
  const { neutron } = lab;
  const pool = { protocol: 'TCP', algorithm: 'ROUND_ROBIN' } as const;
  const began = performance.now();
  const made = await Promise.all(
    Array.from({ length: many }, async (_, index) => {
      const name = `script/s${index}`;
      const { id } = await balancing.createLoadBalancer(
        {
          name,
          vipSubnetId: lab.privateSubnet,
          listeners: [80, 81, 82].map((port) => ({
            name: `${name}:TCP:${port}`,
            protocol: 'TCP' as const,
            port: parsePort(port),
            defaultPool: {
              ...pool,
              name: `${name}:TCP:${port}`,
              members: [{ address: parseAddress(member), port: parsePort(port) }],
            },
          })),
        },
        { ...call, once: 'name' },
      );
      const { vipPortId } = await balancing.waiter.active(id, call);
      const floating = await neutron.floatingIps.create(
        { description: name, floatingNetworkId: lab.publicNetwork, portId: vipPortId ?? '' },
        call,
      );
      return { id, floating: floating.id };
    }),
  );
  const createMs = performance.now() - began;
  const deleting = performance.now();
  await Promise.all(
    made.map(async ({ id, floating }) => {
      await neutron.floatingIps.delete(floating, call);
      await balancing.deleteLoadBalancer(id, { ...call, cascade: true });
      await balancing.waiter.gone(id, call);
    }),
  );
  return { createMs, deleteMs: performance.now() - deleting };
}

async function byController(
  lab: OctaviaLab,
  metrics: Counting,
): Promise<Round & { readonly calls: number }> {
  await lab.start();
  await until(async () => (await serviceCount(lab)) === 0);
  await delay(2_000);
  metrics.requests = 0;
  const began = performance.now();
  await createServices(lab, many, [80, 81, 82]);
  await until(async () => (await servedCount(lab)) === many);
  const createMs = performance.now() - began;
  const calls = metrics.requests;
  const deleting = performance.now();
  await Promise.all(
    Array.from({ length: many }, (_, index) =>
      lab.client.delete(services, { namespace: 'default', name: `s${index}` }),
    ),
  );
  await until(async () => (await serviceCount(lab)) === 0);
  return { createMs, deleteMs: performance.now() - deleting, calls };
}

async function onRealServices() {
  const [kubernetes, cloud] = await Promise.all([startKubernetes(), startOpenStack()]);
  const metrics = new Counting();
  const kubeconfig = await fs.readFile(kubernetes.kubeconfig, 'utf8');
  // Eight requests at a time, for both: more only wait in the service, and longer than a client does.
  const cloudOptions = { metrics, concurrency: 8, attemptDeadlineMs: 120_000, deadlineMs: 600_000 };
  const lab = await OctaviaLab.open({ ...cloud, kubeconfig, cloudOptions });
  try {
    const script = await byScript(lab);
    const controller = await byController(lab, metrics);
    return { script, controller };
  } finally {
    await lab.close();
    await Promise.all([cloud.stop(), kubernetes.stop()]);
  }
}

const atMost = (limit: number, of: 'ratio' | 'value', unit: string) =>
  ({ of, comparison: 'at most', limit, unit }) as const;

export const suite: BenchmarkSuite<
  'octavia-resync-calls' | 'octavia-create-20' | 'octavia-delete-20' | 'octavia-create-calls'
> = {
  name: 'octavia',
  long: true,
  bars: {
    // Calls over pages: a few lists may need one more page to see that they are at their end.
    'octavia-resync-calls': atMost(2, 'ratio', 'calls'),
    'octavia-create-20': atMost(1.2, 'ratio', 'ms'),
    'octavia-delete-20': atMost(1.2, 'ratio', 'ms'),
    'octavia-create-calls': atMost(6, 'value', 'calls for each Service'),
  },
  async run() {
    const calls = await resync();
    const { script, controller } = await onRealServices();
    return {
      'octavia-resync-calls': calls,
      'octavia-create-20': { value: controller.createMs, baseline: script.createMs },
      'octavia-delete-20': { value: controller.deleteMs, baseline: script.deleteMs },
      'octavia-create-calls': { value: controller.calls / many, baseline: null },
    };
  },
};
