import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireNetworkTools } from '../../kernel/gateway/network.ts';
import { ensureProductImage } from '../../services/image/product-image.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { Gateways } from '../../services/real-cluster/gateways.ts';
import { Installation } from '../../services/real-cluster/installation.ts';
import { prepareRealCluster, RealCluster } from '../../services/real-cluster/real-cluster.ts';
import { clientPod, webDeployment, webService } from './workloads.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

const installationPage = path.join(import.meta.dirname, '../../../docs/installation.md');

interface ServiceObject {
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
}

/** The tests run in order: each continues from the state of the previous one. */
describe.skipIf(!isRunnable)('Causeway on a real cluster without kube-proxy', () => {
  let cluster: RealCluster;
  let gateways: Gateways;
  let installation: Installation;
  let address = '';
  let imageSize = 0;
  beforeAll(async () => {
    const { archive, size } = await ensureProductImage();
    imageSize = size;
    cluster = await RealCluster.start({ kubeProxy: false, images: [archive] });
    gateways = await Gateways.start(cluster);
  });
  afterAll(() => cluster?.stop());

  const askFromPod = (url: string) =>
    cluster.kubectl('exec', 'client', '--', '/workload', 'get', url);
  const replicas = async () =>
    (await cluster.get<{ spec: { replicas: number } }>('deployment/web')).spec.replicas;

  test('its image is no larger than the installation page says', async () => {
    const page = await fs.readFile(installationPage, 'utf8');
    const megabytes = Number(/^\| all \| (\d+) \|$/m.exec(page)?.[1]);
    // The base is this machine's Debian, which may have another size.
    expect(imageSize / 1_000_000).toBeLessThan(1.1 * megabytes);
  });

  test('Helm installs it with the shipped roles and pod security, and everything becomes ready', async () => {
    installation = await Installation.install(cluster, gateways);
  });

  test('a LoadBalancer Service is served to an external client, and by its name to pods', async () => {
    await cluster.apply(
      webDeployment('web', 3),
      webService('web', { type: 'LoadBalancer' }),
      clientPod('client'),
    );
    await installation.rollOut('deployment/web');
    await expect
      .poll(async () => {
        const { status } = await cluster.get<ServiceObject>('service/web');
        address = status.loadBalancer.ingress?.[0]?.ip ?? '';
        return address;
      })
      .toMatch(/^192\.0\.2\./);
    await expect.poll(() => gateways.ask(`http://${address}/`)).toContain('web-');
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/client', '--timeout=300s');
    await expect.poll(() => askFromPod('http://web.default.svc.cluster.local/')).toContain('web-');
  });

  test.each([
    ['outside, through a gateway', () => gateways.ask(`http://${address}/`)],
    ['a pod', () => askFromPod('http://web.default.svc.cluster.local/')],
  ])('an idle Service is woken by a connection from %s, which is served', async (_, connect) => {
    await installation.causeway('idle', 'web');
    expect(await replicas()).toBe(0);
    await expect.poll(() => cluster.kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).toBe('');
    // The connection that wakes it waits, and is served.
    expect(await connect()).toContain('web-');
    await expect.poll(replicas).toBe(3);
    await installation.rollOut('deployment/web');
    await expect
      .poll(async () => JSON.stringify(await cluster.get('service/web')))
      .not.toContain('idled-at');
  });

  test('after the documented uninstallation, nothing is left', async () => {
    await cluster.kubectl('delete', 'service', 'web', '--timeout=300s');
    const services = await cluster.kubectl('get', 'services', '-A', '-o', 'json');
    expect(services).not.toContain('causeway.dev');
    await installation.uninstall();
    for (const { machine } of cluster.nodes) {
      expect(await machine.run('nft', 'list', 'tables')).not.toContain('causeway');
      expect(await machine.run('ip', '-brief', 'link')).not.toContain('causeway');
    }
    const kinds = 'clusterroles,clusterrolebindings,roles,rolebindings,daemonsets,deployments,pods';
    const ours = ['-l', 'app.kubernetes.io/name=causeway', '-o', 'name'];
    await expect.poll(() => cluster.kubectl('get', kinds, '-A', ...ours)).toBe('');
    for (const { machine } of gateways.gateways) {
      expect(await machine.run('ip', '-brief', 'address')).not.toContain(address);
    }
  });
});
