import { endpointSlices, services } from '../packages/kubernetes/src/objects/resources.ts';
import { noMetrics, type Metrics } from '../packages/base/src/observability/metrics.ts';
import { newService, newSlice, type OctaviaLab } from '../test/octavia/lab.ts';
import { waitFor } from '../test/services/wait-for.ts';

/** The backend of all Services of the benchmarks. */
export const member = '10.10.1.1';

/** Counts requests to the cloud, without logins. */
export class Counting implements Metrics {
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

/** A figure that can't be measured ends the run instead of blocking it. */
const patience = { timeoutMs: 5 * 60_000, intervalMs: 250 };

export function until(what: string, isDone: () => Promise<boolean>): Promise<boolean> {
  return waitFor(what, isDone, patience);
}

export async function servedCount(lab: OctaviaLab): Promise<number> {
  let count = 0;
  for await (const { status } of lab.client.list(services)) {
    if (status?.conditions?.some(({ reason }) => reason === 'Served') === true) count += 1;
  }
  return count;
}

export async function serviceCount(lab: OctaviaLab): Promise<number> {
  let count = 0;
  for await (const { metadata } of lab.client.list(services)) {
    if (metadata?.name !== 'kubernetes') count += 1;
  }
  return count;
}

export async function createServices(
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
