import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAvailable } from '../../services/missing.ts';
import { prepareRealCluster, RealCluster } from '../../services/real-cluster/real-cluster.ts';
import { clientPod, webDeployment, webService } from './workloads.ts';

const isRunnable = await isAvailable(prepareRealCluster);

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions: readonly { type: string; status: string }[] };
  }[];
}

/** The tests run in order: each continues from the state of the previous one. */
describe.skipIf(!isRunnable)('a real cluster', () => {
  let cluster: RealCluster;
  beforeAll(async () => {
    cluster = await RealCluster.start();
  });
  afterAll(() => cluster?.stop());

  const readyNodes = async () => {
    const { items } = await cluster.get<NodeList>('nodes');
    const ready = items.filter(({ status }) =>
      status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    return ready.map(({ metadata }) => metadata.name);
  };
  const ask = (url: string) => cluster.kubectl('exec', 'client', '--', '/workload', 'get', url);
  const rollOut = (name: string, namespace = 'default') =>
    cluster.kubectl('-n', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=300s');

  test('has three ready nodes', async () => {
    expect(await readyNodes()).toEqual(['n1', 'n2', 'n3']);
  });

  test('runs a pod on each node, and a Service name leads to all of them', async () => {
    await cluster.apply(webDeployment('web', 3), webService('web'), clientPod('client'));
    await rollOut('web');
    await rollOut('coredns', 'kube-system');
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/client', '--timeout=300s');
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        const node = / on (\w+) /.exec(await ask('http://web.default.svc.cluster.local/'))?.[1];
        return seen.add(node ?? '').size;
      })
      .toBe(3);
  });

  test('serves a node port on every node to an external client', async () => {
    await cluster.apply(
      webService('web', {
        type: 'NodePort',
        ports: [{ port: 80, targetPort: 'http', nodePort: 30080 }],
      }),
    );
    for (const { place } of cluster.nodes) {
      const url = `http://${place.address}:30080/`;
      const curl = () => cluster.controlPlane.attempt('curl', ['-sS', '--max-time', '5', url]);
      await expect.poll(async () => (await curl()).stdout).toContain('web-');
    }
  });

  test('a node recovers from a power cut with its pods', async () => {
    const [, node] = cluster.nodes;
    await node?.cutPower();
    await node?.boot();
    await node?.startKubeProxy();
    await expect.poll(readyNodes).toContain('n2');
    await expect
      .poll(async () => {
        const url = `http://${node?.place.address}:30080/`;
        const asked = await cluster.controlPlane.attempt('curl', ['-sS', '--max-time', '5', url]);
        return asked.stdout;
      })
      .toContain(' on n2 ');
  });
});
