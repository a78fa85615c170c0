import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientPod, webDeployment, webService } from '../../cluster/real/workloads.ts';
import { requireNetworkTools } from '../../kernel/gateway/network.ts';
import { OctaviaLab } from '../../octavia/lab.ts';
import { ensureEarlierVersion, type EarlierVersion } from '../../services/image/earlier-version.ts';
import { ensureProductImage } from '../../services/image/product-image.ts';
import { isAvailable } from '../../services/missing.ts';
import { prepareOpenStack, startOpenStack, type RealOpenStack } from '../../services/openstack.ts';
import { ensureProgram } from '../../services/programs.ts';
import { bringIntoReach, type CloudInReach } from '../../services/real-cluster/cloud-in-reach.ts';
import { Gateways } from '../../services/real-cluster/gateways.ts';
import {
  chart,
  Installation,
  namespace,
  removeOurRules,
} from '../../services/real-cluster/installation.ts';
import { prepareRealCluster, RealCluster } from '../../services/real-cluster/real-cluster.ts';
import { Traffic } from '../../services/real-cluster/traffic.ts';
import { writeOverlay } from './kustomization.ts';
import { Ledger, prepareLedger } from '../ledger.ts';
import { controllerSecret, everySetting, everyValue, poolAddresses, site } from './settings.ts';

/**
 * Commit to upgrade from. There is no release yet: the first commit where the allocator creates its own
 * operator.
 */
const earlierCommit = '4257b61f656be52bb5595479a249b8a5d5b07717';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(prepareOpenStack)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureEarlierVersion(earlierCommit))) &&
  (await isAvailable(() => ensureProgram('helm')));

interface ServiceObject {
  readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] };
  readonly spec: { readonly clusterIP: string };
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
}

const root = path.join(import.meta.dirname, '..', '..', '..');
const { version } = JSON.parse(await fs.readFile(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const nodePort = 30_080;
const providers = ['gateway', 'octavia', 'pool'] as const;

/** The tests run in order: each continues from the state of the previous one. */
describe.skipIf(!isRunnable)('every job at once, with the shipped roles and pod security', () => {
  let earlier: EarlierVersion;
  let cluster: RealCluster;
  let gateways: Gateways;
  let openStack: RealOpenStack;
  let cloud: CloudInReach;
  let eyes: OctaviaLab;
  let installation: Installation;
  let ledger: Ledger;
  let authority = '';

  beforeAll(async () => {
    const { archive } = await ensureProductImage();
    earlier = await ensureEarlierVersion(earlierCommit);
    [cluster, openStack] = await Promise.all([
      RealCluster.start({ kubeProxy: false, images: [archive, earlier.image.archive] }),
      startOpenStack(),
    ]);
    gateways = await Gateways.start(cluster);
    cloud = await bringIntoReach(cluster, openStack);
    eyes = await OctaviaLab.open({
      ...openStack,
      kubeconfig: await cluster.kubectl('config', 'view', '--raw'),
    });
    installation = await Installation.prepare(cluster);
    authority = await prepareLedger(cluster, installation);
    await installation.addSecret('causeway-discovery-cloud', cloud.secret);
    ledger = new Ledger(cluster);
  });
  afterAll(async () => {
    await eyes?.close();
    await cloud?.close();
    await cluster?.stop();
    await openStack?.stop();
  });

  const settings = () => everySetting(gateways, eyes.privateSubnet);
  const service = (name: string) => cluster.get<ServiceObject>(`service/${name}`);
  const addressOf = async (name: string) =>
    (await service(name)).status.loadBalancer.ingress?.[0]?.ip ?? '';
  const askFromPod = (url: string) =>
    cluster.kubectl('exec', 'client', '--', '/workload', 'get', url);
  const everythingRolledOut = async () => {
    await installation.rollOut('daemonset/causeway-proxy', 'causeway-node');
    for (const name of ['controller', 'discovery']) {
      await installation.rollOut(`deployment/causeway-${name}`, namespace);
    }
    await installation.rollOut('statefulset/causeway-ipam', namespace);
  };
  const namespacesOfOurs = async () => {
    const names = await cluster.kubectl('get', 'namespaces', '-o', 'name');
    const found = [...names.matchAll(/^namespace\/(causeway.*)$/gm)];
    return found.map(([, name]) => name);
  };
  const imagesInUse = async () => {
    const words = ['get', 'pods', '-A', '-l', 'app.kubernetes.io/name=causeway'];
    const found = await cluster.kubectl(
      ...words,
      '-o',
      'jsonpath={.items[*].spec.containers[*].image}',
    );
    return [...new Set(found.split(' '))];
  };

  test('Helm installs an earlier version, proxy and allocator first, then the rest', async () => {
    const { ipam, proxy } = everyValue(settings());
    const from = ['causeway', earlier.chart, '--set', `image.tag=${earlier.version}`];
    await installation.helmWith({ ipam, proxy }, 'install', ...from);
    await installation.rollOut('daemonset/causeway-proxy', 'causeway-node');
    await installation.rollOut('deployment/coredns', 'kube-system');
    await installation.rollOut('statefulset/causeway-ipam', namespace);
    await ledger.begin({ site, addresses: poolAddresses });
    const ipamToken = await ledger.addCluster(site, 'real');
    const { cloudsYaml } = cloud;
    const secret = controllerSecret({ cloudsYaml, ipamToken, authority });
    await installation.addSecret('causeway-controller', secret);
    await installation.helmWith(everyValue(settings()), 'upgrade', ...from);
    await everythingRolledOut();
  });

  test('each provider serves its Services', async () => {
    await cluster.apply(webDeployment('web', 3), clientPod('client'));
    for (const provider of providers) {
      await cluster.apply(
        webService(`by-${provider}`, {
          type: 'LoadBalancer',
          loadBalancerClass: `causeway.dev/${provider}`,
          selector: { app: 'web' },
        }),
      );
    }
    await installation.rollOut('deployment/web');
    await expect.poll(() => addressOf('by-gateway')).toMatch(/^192\.0\.2\./);
    await expect.poll(() => addressOf('by-pool')).toMatch(/^198\.51\.100\./);
    await expect.poll(() => addressOf('by-octavia')).not.toBe('');
    const url = `http://${await addressOf('by-gateway')}/`;
    await expect.poll(() => gateways.ask(url)).toContain('web-');
    await expect
      .poll(async () =>
        (await eyes.balancers()).map(({ listeners }) => listeners[0]?.members.length),
      )
      .toEqual([3]);
  });

  test('the load balancer on Octavia is discovered, and a pod reaches its members by name', async () => {
    const [balancer] = await eyes.balancers();
    const name = `east-default-by-octavia-${balancer?.id}`;
    await expect
      .poll(() => cluster.kubectl('-n', 'demo', 'get', 'services', '-o', 'name'))
      .toContain(name);
    await cluster.kubectl('wait', '--for=condition=Ready', 'pod/client', '--timeout=300s');
    // One of them: a client's resolver prefers near addresses.
    await expect
      .poll(() => askFromPod(`http://${name}.demo.svc.cluster.local:8080/`))
      .toContain('web-');
  });

  test('an upgrade and a rollback under traffic lose no connection', async () => {
    const traffic = await startTraffic();
    await traffic.untilFlowing();
    const expectVersion = async (expected: string) => {
      await everythingRolledOut();
      await expect.poll(imagesInUse).toEqual([`causeway:${expected}`]);
      await traffic.untilFlowing();
      expect(await traffic.losses()).toEqual([]);
    };
    await installation.helmWith(everyValue(settings()), 'upgrade', 'causeway', chart);
    await expectVersion(version);
    await installation.helm('rollback', 'causeway');
    await expectVersion(earlier.version);
    process.stderr.write(`upgrade and rollback: ${await traffic.summary()}\n`);
    await traffic.stop();
    for (const provider of providers) expect(await addressOf(`by-${provider}`)).not.toBe('');
    expect(await eyes.balancers()).toHaveLength(1);
  });

  test('after the documented uninstallation, nothing is left', async () => {
    await removeServices();
    await installation.helm('uninstall', 'causeway', '--wait');
    await expectNothingLeft(namespace);
  });

  test('kustomize installs the same, which works, and leaves nothing either', async () => {
    const overlay = await writeOverlay(path.join(cluster.files.root, 'overlay'), settings());
    await cluster.kubectl('apply', '--server-side', '-k', overlay);
    await everythingRolledOut();
    for (const provider of providers) {
      await cluster.apply(
        webService(`by-${provider}`, {
          type: 'LoadBalancer',
          loadBalancerClass: `causeway.dev/${provider}`,
          selector: { app: 'web' },
        }),
      );
    }
    for (const provider of providers) {
      await expect.poll(() => addressOf(`by-${provider}`)).not.toBe('');
    }
    const url = `http://${await addressOf('by-gateway')}/`;
    await expect.poll(() => gateways.ask(url)).toContain('web-');
    await removeServices();
    await cluster.kubectl('delete', '-k', overlay, '--timeout=300s');
    await expectNothingLeft();
  });

  async function startTraffic(): Promise<Traffic> {
    const started = new Traffic(cluster);
    const ports = [{ port: 80, targetPort: 'http', nodePort }];
    await cluster.apply(webService('web', { type: 'NodePort', ports }));
    const { clusterIP } = (await service('web')).spec;
    for (const { name } of cluster.nodes) {
      await started.addPod(name, { urls: [`http://${clusterIP}/`], everyMs: 60, streams: 4 });
    }
    const throughNodes = cluster.nodes.map(({ place }) => `http://${place.address}:${nodePort}/`);
    await started.addMachine('beside the nodes', cluster.controlPlane, {
      urls: throughNodes,
      everyMs: 40,
      streams: 6,
    });
    await started.addMachine('outside', gateways.client, {
      urls: [`http://${await addressOf('by-gateway')}/`],
      everyMs: 20,
      streams: 10,
    });
    return started;
  }

  /** Removes Services with Causeway's finalizers, and those that discovery made. */
  async function removeServices(): Promise<void> {
    const names = providers.map((provider) => `by-${provider}`);
    await cluster.kubectl('delete', 'service', ...names, '--timeout=300s');
    expect(await eyes.balancers()).toEqual([]);
    await expect.poll(() => ledger.held(site)).toBe(1);
    await installation.causeway('discover', 'purge', 'east', '--confirm');
    const services = await cluster.kubectl('get', 'services', '-A', '-o', 'json');
    expect(services).not.toContain('causeway.dev');
    expect(services).not.toContain('kuryr.openstack.org');
  }

  /** Except what may hold needed data: the definitions, and these namespaces. */
  async function expectNothingLeft(...kept: string[]): Promise<void> {
    await expect.poll(namespacesOfOurs).toEqual(kept);
    for (const node of cluster.nodes) {
      await removeOurRules(node);
      expect(await node.machine.run('nft', 'list', 'tables')).not.toContain('causeway');
      expect(await node.machine.run('ip', '-brief', 'link')).not.toContain('causeway');
    }
    const kinds = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings', 'deployments'];
    const others = ['daemonsets', 'statefulsets', 'pods', 'networkpolicies'];
    const ours = ['-l', 'app.kubernetes.io/name=causeway', '-o', 'name'];
    await expect
      .poll(() => cluster.kubectl('get', [...kinds, ...others].join(), '-A', ...ours))
      .toBe('');
  }
});
