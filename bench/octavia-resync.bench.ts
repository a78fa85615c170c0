import { services } from '../packages/kubernetes/src/objects/resources.ts';
import { startEmbeddedKubernetes } from '../packages/fake-kubernetes/src/start.ts';
import { startEmbeddedOpenStack } from '../packages/fake-openstack/src/cloud.ts';
import { newService, OctaviaLab } from '../test/octavia/lab.ts';
import type { BenchmarkSuite, Measurement } from './benchmark.ts';
import { Counting, createServices, servedCount, until } from './octavia-load.ts';
import { addWideSubnet } from './wide-subnet.ts';

const count = 1_000;
const ports = [80, 81, 82];
/** Default of the clients. */
const pageSize = 200;

/** Load balancers, listeners, pools and floating IPs. A full page is followed by an empty one. */
const pages = [1, ports.length, ports.length, 1].reduce(
  (sum, each) => sum + Math.floor((each * count) / pageSize) + 1,
  0,
);

/**
 * A start with 1,000 correct Services of 3 ports each: calls to the cloud, compared with the pages of its
 * lists.
 */
async function resync(): Promise<Measurement> {
  const kubernetes = await startEmbeddedKubernetes();
  const cloud = await startEmbeddedOpenStack({ provisioningDelayMs: 5 });
  addWideSubnet(cloud);
  const metrics = new Counting();
  const cloudOptions = { metrics, pageSize };
  const lab = await OctaviaLab.open({ ...kubernetes, ...cloud, cloudOptions });
  try {
    await lab.start();
    await createServices(lab, count, ports);
    await until(`${count} Services`, async () => (await servedCount(lab)) === count);
    await lab.stop();
    metrics.requests = 0;
    await lab.start({ memberSample: 0 });
    // It is handled after all the others, and without endpoints it costs nothing.
    await lab.client.create(services, newService('last'));
    await until('the last Service', async () => (await lab.klb('last')) !== undefined);
    return { value: metrics.requests, baseline: pages };
  } finally {
    await lab.close();
    await cloud.stop();
    await kubernetes.stop();
  }
}

export const suite: BenchmarkSuite<'octavia-resync-calls'> = {
  name: 'octavia-resync',
  long: true,
  bars: {
    // Beside the lists, the client reads the version of the service, and the subnets of Neutron.
    'octavia-resync-calls': { of: 'ratio', comparison: 'at most', limit: 1.1, unit: 'calls' },
  },
  run: async () => ({ 'octavia-resync-calls': await resync() }),
};
