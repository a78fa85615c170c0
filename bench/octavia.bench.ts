import fs from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAddress } from '../packages/base/src/address/address.ts';
import { parsePort } from '../packages/base/src/address/port.ts';
import { services } from '../packages/kubernetes/src/objects/resources.ts';
import { never, OctaviaLab } from '../test/octavia/lab.ts';
import { startKubernetes } from '../test/services/kubernetes.ts';
import { startOpenStack } from '../test/services/openstack.ts';
import type { BenchmarkSuite } from './benchmark.ts';
import {
  Counting,
  createServices,
  member,
  servedCount,
  serviceCount,
  until,
} from './octavia-load.ts';

const call = { signal: never };

interface Round {
  readonly createMs: number;
  readonly deleteMs: number;
}

const many = 20;

/** The same writes by a simple script: the whole tree in one request, then the floating IP. */
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
  await until('an empty cluster', async () => (await serviceCount(lab)) === 0);
  await delay(2_000);
  metrics.requests = 0;
  const began = performance.now();
  await createServices(lab, many, [80, 81, 82]);
  await until(`${many} Services`, async () => (await servedCount(lab)) === many);
  const createMs = performance.now() - began;
  const calls = metrics.requests;
  const deleting = performance.now();
  await Promise.all(
    Array.from({ length: many }, (_, index) =>
      lab.client.delete(services, { namespace: 'default', name: `s${index}` }),
    ),
  );
  await until('all to be deleted', async () => (await serviceCount(lab)) === 0);
  return { createMs, deleteMs: performance.now() - deleting, calls };
}

async function onRealServices() {
  const [kubernetes, cloud] = await Promise.all([startKubernetes(), startOpenStack()]);
  const metrics = new Counting();
  const kubeconfig = await fs.readFile(kubernetes.kubeconfig, 'utf8');
  // Eight requests at a time, for both: more would only wait in the service, longer than a client's timeout.
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
  'octavia-create-20' | 'octavia-delete-20' | 'octavia-create-calls'
> = {
  name: 'octavia',
  long: true,
  bars: {
    'octavia-create-20': atMost(1.2, 'ratio', 'ms'),
    'octavia-delete-20': atMost(1.2, 'ratio', 'ms'),
    'octavia-create-calls': atMost(6, 'value', 'calls for each Service'),
  },
  async run() {
    const { script, controller } = await onRealServices();
    return {
      'octavia-create-20': { value: controller.createMs, baseline: script.createMs },
      'octavia-delete-20': { value: controller.deleteMs, baseline: script.deleteMs },
      'octavia-create-calls': { value: controller.calls / many, baseline: null },
    };
  },
};
