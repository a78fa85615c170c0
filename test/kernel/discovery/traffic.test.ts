import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Discoverer } from '../../../packages/causeway/src/discovery/discoverer.ts';
import { discoverySettings } from '../../../packages/causeway/src/discovery/settings.ts';
import { endpointSlices, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../../packages/fake-openstack/src/cloud.ts';
import { loadBalancer, projectId } from '../../discovery/embedded-world.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import type { Request } from '../nftables/lab.ts';
import { CommandLab } from '../proxy/command-lab.ts';
import { heard, nodeIp, pods } from '../proxy/proxy-lab.ts';

const labelSelector = 'causeway.dev/backend=east';

/** The lab's pods simulate OpenStack's servers: members of a load balancer, reached without it. */
describe.skipIf(!canUseNamespaces())('traffic to a discovered Service', () => {
  let lab: CommandLab;
  let cloud: EmbeddedOpenStack;

  beforeAll(async () => {
    lab = await CommandLab.create();
    cloud = await startEmbeddedOpenStack({ provisioningDelayMs: 0 });
    const members = [pods.p1.v4, pods.p2.v4, pods.remote.v4];
    cloud.addLoadBalancer(projectId(cloud, 'demo'), loadBalancer(cloud, 'web', members));
    setWeight(pods.remote.v4, 0);
    await lab.lab.host('client').ip('route', 'add', '10.96.0.0/12', 'via', nodeIp);
    await lab.start({}, '--services=all');
  });
  afterAll(async () => {
    await cloud.stop();
    await lab.remove();
  });

  function setWeight(address: string, weight: number): void {
    for (const row of cloud.octavia.members.all()) if (row.address === address) row.weight = weight;
  }

  async function discover(serviceType: 'ClusterIP' | 'Headless') {
    const settings = { backendName: 'east', serviceType, projects: ['demo'] };
    const discoverer = new Discoverer(discoverySettings.parse(settings), {
      client: lab.client,
      recordEvent: () => true,
      environment: { OS_AUTH_URL: cloud.authUrl, OS_USERNAME: 'demo', OS_PASSWORD: 'demo' },
      workingDirectory: lab.directory,
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    });
    const [result] = await discoverer.once(false, AbortSignal.timeout(300_000));
    expect(result?.report).toMatchObject({ replicated: 1, failures: 0 });
    const [service] = await collect(lab.client.list(services, { labelSelector }));
    return service?.spec;
  }

  /** The backends that answer, in this number of connections. */
  async function answers(from: 'client' | 'node', request: Request, times: number) {
    const all = await lab.lab.ask(from, ...Array.from({ length: times }, () => request));
    return [...new Set(all.map((answer) => heard(answer).split(' ')[0] ?? ''))].sort();
  }

  const becomes = (address: string, port: number, expected: readonly string[]) =>
    waitFor(`${expected.join()} at ${address}:${port}`, async () => {
      const now = await answers('client', { address, port, timeoutMs: 1_000 }, 12);
      return now.join() === expected.join();
    });

  test('an ordinary one is reached through the node proxy, without draining members', async () => {
    const spec = await discover('ClusterIP');
    const [port] = spec?.ports ?? [];
    await becomes(spec?.clusterIP ?? '', port?.port ?? 0, ['p1', 'p2']);
    setWeight(pods.p1.v4, 0);
    await discover('ClusterIP');
    await becomes(spec?.clusterIP ?? '', port?.port ?? 0, ['p2']);
    setWeight(pods.p1.v4, 1);
  });

  test('a headless one is reached by its endpoints', async () => {
    const spec = await discover('Headless');
    expect(spec?.clusterIP).toBe('None');
    const [slice] = await collect(lab.client.list(endpointSlices, { labelSelector }));
    const port = slice?.ports?.find(({ name }) => name === spec?.ports?.[0]?.name)?.port ?? 0;
    const ready = (slice?.endpoints ?? []).filter(({ conditions }) => conditions?.ready);
    const reached = await Promise.all(
      ready.map(({ addresses }) => answers('node', { address: addresses[0] ?? '', port }, 1)),
    );
    expect(reached.flat().sort()).toEqual(['p1', 'p2']);
  });
});
