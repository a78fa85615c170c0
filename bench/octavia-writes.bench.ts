import { endpointSlices, services } from '../packages/kubernetes/src/objects/resources.ts';
import { openEmbeddedLab } from '../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../test/octavia/lab.ts';
import type { BenchmarkSuite, Measurement } from './benchmark.ts';
import { servedCount, until } from './octavia-load.ts';

type Figure =
  | 'octavia-writes-create'
  | 'octavia-neutron-writes-create'
  | 'octavia-writes-scale'
  | 'octavia-writes-churn';

const ports = ['a', 'b', 'c'].map((name, index) => ({ name, port: 80 + index }));
const targets = ports.map(({ name, port }) => ({ name, port, protocol: 'TCP' as const }));
const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `10.10.1.${index + 1}`);
/** Changes follow each other faster than this, so that they are merged. */
const quietMs = 2_000;

const atMost = (limit: number, unit = 'writes') =>
  ({ of: 'value', comparison: 'at most', limit, unit }) as const;

/** Cost of changes, in writes to the cloud; OCCM writes for each listener, pool and member. */
export const suite: BenchmarkSuite<Figure> = {
  name: 'octavia-writes',
  bars: {
    'octavia-writes-create': atMost(1),
    'octavia-neutron-writes-create': atMost(3),
    'octavia-writes-scale': atMost(1, 'writes for each pool'),
    'octavia-writes-churn': atMost(1, 'writes for each pool'),
  },
  async run() {
    const { cloud, lab, stop } = await openEmbeddedLab();
    const writes: string[] = [];
    cloud.onRequest(({ method, service }) => {
      if (method !== 'GET' && service !== 'identity') writes.push(service);
    });
    const figure = (value: number): Measurement => ({ value, baseline: null });
    /** Since the last call. */
    const counted = () => {
      const all = writes.splice(0);
      const neutron = all.filter((service) => service === 'network').length;
      return { neutron, octavia: all.length - neutron, all: all.length };
    };
    const resize = (count: number) =>
      lab.client.update(endpointSlices, newSlice('web', addresses(count), targets));
    try {
      const group = await lab.neutron.securityGroups.create({ name: 'pods' }, { signal: never });
      lab.quietMs = quietMs;
      await lab.start({ podSecurityGroup: group.id });
      counted();
      await lab.client.create(endpointSlices, newSlice('web', addresses(50), targets));
      await lab.client.create(services, newService('web', { ports }));
      await until('the Service', async () => (await servedCount(lab)) === 1);
      const create = counted();
      await resize(60);
      await untilMembers(lab, 60);
      const scale = counted();
      for (let count = 1; count <= 100; count += 1) await resize(count);
      await untilMembers(lab, 100);
      return {
        'octavia-writes-create': figure(create.octavia),
        'octavia-neutron-writes-create': figure(create.neutron),
        'octavia-writes-scale': figure(scale.all / ports.length),
        'octavia-writes-churn': figure(counted().all / ports.length),
      };
    } finally {
      await stop();
    }
  },
};

function untilMembers(lab: OctaviaLab, count: number): Promise<boolean> {
  return until(`${count} members of each pool`, async () => {
    const members = (await lab.klb('web'))?.status?.members ?? [];
    return members.length === count * ports.length;
  });
}
