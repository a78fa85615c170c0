import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientPod, webDeployment, webService } from '../cluster/real/workloads.ts';
import { requireNetworkTools } from '../kernel/gateway/network.ts';
import { ensureProductImage } from '../services/image/product-image.ts';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import type { ClusterNode } from '../services/real-cluster/cluster-node.ts';
import { Gateways } from '../services/real-cluster/gateways.ts';
import { Installation } from '../services/real-cluster/installation.ts';
import { podNetwork } from '../services/real-cluster/layout.ts';
import { prepareRealCluster, RealCluster } from '../services/real-cluster/real-cluster.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

interface ServiceObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly clusterIP: string };
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
}

const outsider = '192.0.2.100';
/** Number of connections that wait at once. */
const crowd = Array.from({ length: 8 }, (_, index) => index);

/**
 * The tests run in order: each continues from the state of the previous one. One pod on two nodes: some
 * connections wait on the node without the pod.
 */
describe.skipIf(!isRunnable)('a Deployment that is idled, on a real cluster', () => {
  let cluster: RealCluster;
  let gateways: Gateways;
  let installation: Installation;
  let address = '';
  let inside = '';
  beforeAll(async () => {
    const { archive } = await ensureProductImage();
    cluster = await RealCluster.start({ nodes: 2, kubeProxy: false, images: [archive] });
    gateways = await Gateways.start(cluster);
    installation = await Installation.install(cluster, gateways);
    await cluster.apply(
      webDeployment('web', 1),
      webService('web', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
      clientPod('client'),
      clientPod('stranger'),
    );
    await installation.rollOut('deployment/web');
    for (const pod of ['client', 'stranger']) {
      await cluster.kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=300s');
    }
  });
  afterAll(() => cluster?.stop());

  const service = () => cluster.get<ServiceObject>('service/web');
  const fromOutside = () => gateways.ask(`http://${address}/`);
  const fromPod = (pod: string) =>
    cluster.kubectl('exec', pod, '--', '/workload', 'get', `http://${inside}/`);
  const fromNode = ({ machine }: ClusterNode) =>
    machine.run('curl', '-sS', '--max-time', '120', `http://${inside}/`);
  const podAddress = async (pod: string) =>
    (await cluster.get<{ status: { podIP: string } }>(`pod/${pod}`)).status.podIP;

  const idle = async () => {
    await installation.causeway('idle', 'web');
    await expect.poll(() => cluster.kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).toBe('');
  };
  const isAwake = async () => {
    await installation.rollOut('deployment/web');
    await expect
      .poll(async () => Object.keys((await service()).metadata.annotations ?? {}))
      .not.toContain('idling.alpha.openshift.io/idled-at');
  };

  test('serves while it is awake', async () => {
    await expect.poll(service).toMatchObject({ status: { loadBalancer: { ingress: [{}] } } });
    const { spec, status } = await service();
    address = status.loadBalancer.ingress?.[0]?.ip ?? '';
    inside = spec.clusterIP;
    await expect.poll(fromOutside).toContain('web-');
  });

  test('is woken by pods, and sees their own address', async () => {
    await idle();
    const answers = await Promise.all(crowd.map(() => fromPod('client')));
    const seen = `seen as ${await podAddress('client')}`;
    for (const answer of answers) expect(answer).toContain(seen);
    await isAwake();
  });

  test('is woken by nodes, and sees an address of the node', async () => {
    await idle();
    const { nodes } = cluster;
    const asking = crowd.flatMap((index) => nodes[index % nodes.length] ?? []);
    const answers = await Promise.all(asking.map(fromNode));
    for (const [index, answer] of answers.entries()) {
      const { address: own = '', pods = '' } = asking[index]?.place ?? {};
      // Towards its own pods, a node uses the first address of their network.
      const towardsPods = pods.replace(/0\/24$/, '1');
      expect([`seen as ${own}`, `seen as ${towardsPods}`]).toContain(
        /seen as \S+/.exec(answer)?.[0],
      );
    }
    await isAwake();
  });

  test("is woken from outside through a gateway; with policy Local it sees the client's own address", async () => {
    await idle();
    const answers = await Promise.all(crowd.map(fromOutside));
    for (const answer of answers) expect(answer).toContain(`seen as ${outsider}`);
    await isAwake();
  });

  test("is woken from outside in the layer Pod, and sees the client's own address", async () => {
    await cluster.apply(
      webService('web', { type: 'LoadBalancer', externalTrafficPolicy: 'Cluster' }),
    );
    await installation.upgrade(
      ...['--set', 'gateway.podLayer=true', '--set', 'controller.config.gateway.layer=Pod'],
    );
    await expect
      .poll(service)
      .toMatchObject({ metadata: { annotations: { 'causeway.dev/gateway-layer': 'Pod' } } });
    await expect.poll(fromOutside).toContain(`seen as ${outsider}`);
    await idle();
    const answers = await Promise.all(crowd.map(fromOutside));
    for (const answer of answers) expect(answer).toContain(`seen as ${outsider}`);
    await isAwake();
  });

  test('is woken by a pod that a policy forbids, and does not serve it', async () => {
    await forbid(await podAddress('stranger'));
    await idle();
    const forbidden = fromPod('stranger').then(
      (answer) => `served: ${answer}`,
      (error: unknown) => String(error),
    );
    await isAwake();
    expect(await forbidden).toContain('refused');
    expect(await fromPod('client')).toContain('web-');
  });

  /**
   * Simulates a NetworkPolicy: the rules of an enforcer on each node for ingress to pods, by the client's
   * address. Real enforcers decide in user space (`queue`, which not every kernel has) or need their own
   * network plug-in.
   */
  const forbid = async (client: string) => {
    const rule = `ip saddr ${client} ip daddr ${podNetwork} tcp dport 8080 reject with tcp reset`;
    for (const { machine } of cluster.nodes) {
      await machine.run('nft', 'add', 'table', 'inet', 'enforcer');
      const hook = '{ type filter hook forward priority 10 ; }';
      await machine.run('nft', `add chain inet enforcer ingress ${hook}`);
      await machine.run('nft', `add rule inet enforcer ingress ${rule}`);
    }
  };
});
