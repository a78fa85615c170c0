import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { KeptProcess } from '../services/kept-process.ts';
import { agentSecret, Gateways, servedAddresses } from '../services/real-cluster/gateways.ts';
import {
  controlPlaneAddress,
  machinesNetwork,
  podNetwork,
} from '../services/real-cluster/layout.ts';
import type { Machine } from '../services/real-cluster/machine.ts';
import type { RealCluster } from '../services/real-cluster/real-cluster.ts';
import { waitFor } from '../services/wait-for.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);
/** The router between the nodes' network and the external one, which is the control plane. */
const router = '192.0.2.1';
/**
 * Address from which the client connects to nodes and pods directly: their answers come back through the
 * router.
 */
const directAddress = '192.0.2.200';

/** Implementation of LoadBalancers. */
export interface LoadBalancer {
  /** Adds a client machine outside, where the suite runs, and returns it. */
  readonly start: (cluster: RealCluster) => Promise<Machine>;
  /** Tests of features that it does not support. */
  readonly leavesOut?: RegExp;
  /** Number of parallel tests, if limited. */
  readonly processes?: number;
}

/** The tests' own; only a proxy can fail with it. */
const routed: LoadBalancer = {
  async start(cluster) {
    const client = await addClient(cluster);
    const program = path.join(import.meta.dirname, 'programs', 'routed-load-balancer.ts');
    cluster.controlPlane.start('load-balancer', process.execPath, [program, cluster.kubeconfig]);
    return client;
  },
};

/** Two gateways; the nodes' default route leads to them. */
const gateway: LoadBalancer = {
  async start(cluster) {
    const { client, gateways } = await Gateways.start(cluster);
    await openRouter(cluster);
    await client.run('ip', 'address', 'add', `${directAddress}/32`, 'dev', 'outside');
    for (const network of [machinesNetwork, podNetwork]) {
      await client.run('ip', 'route', 'add', network, 'via', router, 'src', directAddress);
    }
    for (const { machine } of cluster.nodes) {
      await machine.run('ip', 'route', 'add', `${directAddress}/32`, 'via', controlPlaneAddress);
    }
    const secretFile = path.join(cluster.files.root, 'agents.secret');
    await fs.writeFile(secretFile, agentSecret);
    await startController(cluster, {
      defaultProvider: 'gateway',
      gateway: {
        enabled: true,
        addresses: [servedAddresses],
        secretFile,
        agents: gateways.map(({ name, url }) => ({ name, url })),
      },
    });
    return client;
  },
};

/** The first node's own address. Nothing is reserved, so there is no ledger. */
const poolNode: LoadBalancer = {
  // One node gets all traffic: with the policy Local, pods on other nodes get nothing.
  leavesOut:
    /target (all )?nodes with endpoints|work for type=LoadBalancer|Local traffic|Policy=Local/,
  // All Services have the same address, and most of them the same port.
  processes: 1,
  async start(cluster) {
    const client = await addClient(cluster);
    await startController(cluster, {
      defaultProvider: 'pool',
      pool: { enabled: true, announcer: 'node', node: cluster.nodes[0]?.name },
    });
    return client;
  },
};

export const loadBalancers: Readonly<Record<string, LoadBalancer>> = {
  routed,
  gateway,
  'pool-node': poolNode,
};

/** Outside the nodes' network: some tests take a client within it for masqueraded. */
async function addClient(cluster: RealCluster): Promise<Machine> {
  await cluster.addSwitch('outside');
  await openRouter(cluster);
  const client = await cluster.addMachine('client');
  await cluster.plug(client, 'outside', '192.0.2.2/24');
  await client.run('ip', 'route', 'add', 'default', 'via', router);
  return client;
}

async function openRouter({ controlPlane }: RealCluster): Promise<void> {
  await controlPlane.run('ip', 'address', 'add', `${router}/24`, 'dev', 'outside');
  await controlPlane.run('sysctl', '-qw', 'net.ipv4.fib_multipath_hash_policy=1');
}

/** The controller ends with the cluster. */
async function startController(cluster: RealCluster, settings: object): Promise<void> {
  const config = path.join(cluster.files.root, 'controller.yaml');
  const common = {
    clusterId: 'upstream',
    kubeconfig: cluster.kubeconfig,
    log: { level: 'debug', format: 'text' },
  };
  await fs.writeFile(config, stringify({ ...common, ...settings }));
  const words = [main, 'controller', '--config', config];
  const start = () => cluster.controlPlane.start('causeway-controller', process.execPath, words);
  const kept = new KeptProcess(start);
  void cluster.controlPlane.hasEnded.then(() => kept.stop());
  await waitFor('the controller to be ready', async () => {
    const ask = ['-sSf', '--max-time', '5', 'http://127.0.0.1:15203/readyz'];
    return (await cluster.controlPlane.attempt('curl', ask)).code === 0;
  });
}
