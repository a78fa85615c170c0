import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import type { ClusterApi } from '../../packages/fake-kubernetes/src/cluster-api.ts';
import type { Node } from '../../packages/fake-kubernetes/src/resources/node.ts';
import type { Topology } from '../kernel/gateway/topology.ts';
import { ensureProgram } from '../services/programs.ts';
import { logTail } from '../services/service-process.ts';
import { openForwarder, type Forwarder } from '../services/tcp-forwarder.ts';
import { HopelessError, waitFor } from '../services/wait-for.ts';

const relay = path.join(import.meta.dirname, '..', 'kernel', 'proxy', 'programs', 'relay.ts');
const main = path.join(import.meta.dirname, '../../packages/causeway/src/cli/main.ts');
const podNetworks = '10.79.0.0/16,2001:db8:79::/48';
/** Numbers of nodes with pods. The topology has built the first two of them. */
export const podNodes = [1, 2, 3] as const;
/** Nodes without pods, which clients reach directly on node ports. */
export const comparisonNodes = { 'kube-proxy': 4, 'causeway proxy': 5 } as const;
const allNodes = [...podNodes, ...Object.values(comparisonNodes)];

export const nodeName = (number: number) => `n${number}`;
export const nodeAddresses = (number: number) => ({
  v4: `10.78.0.2${number}`,
  v6: `2001:db8:78::2${number}`,
});

/** Adds the third node with its pods, the nodes for comparison, and a client in the network of the nodes. */
export async function buildNodes({ network }: Topology): Promise<void> {
  for (const number of [3, 4, 5]) {
    const node = nodeName(number);
    const { v4, v6 } = nodeAddresses(number);
    await network.addMachine(node);
    await network.plug(node, 'int', 'internal', [`${v4}/24`, `${v6}/64`]);
    await network.sysctl(node, 'net.ipv4.ip_forward', 1);
    await network.sysctl(node, 'net.ipv6.conf.all.forwarding', 1);
    await routeToGateways(network, node);
  }
  await network.addMachine('p3');
  await network.cable(
    { machine: 'n3', link: 'pod', addresses: ['10.79.3.1/24', '2001:db8:79:3::1/64'] },
    { machine: 'p3', link: 'eth0', addresses: ['10.79.3.2/24', '2001:db8:79:3::2/64'] },
  );
  await network.ip('p3', 'route add default via 10.79.3.1');
  await network.ip('p3', '-6 route add default via 2001:db8:79:3::1');
  await network.addMachine('l');
  await network.plug('l', 'int', 'internal', ['10.78.0.50/24', '2001:db8:78::50/64']);
  await routeToGateways(network, 'l');
  const routes = [
    [1, 3],
    [2, 3],
    [3, 1],
    [3, 2],
    ...[4, 5].flatMap((n) => podNodes.map((p) => [n, p])),
  ];
  for (const [from = 0, to = 0] of routes) await routePods(network, nodeName(from), to);
}

/** Routes of a gateway that the topology does not know: to the pods of the third node and to Services. */
export async function routeOnGateway({ network }: Topology, gateway: string): Promise<void> {
  await routePods(network, gateway, 3);
  const { v4, v6 } = nodeAddresses(1);
  await network.ip(gateway, `route add 10.96.0.0/16 via ${v4}`);
  await network.ip(gateway, `-6 route add fd00:96::/112 via ${v6}`);
}

async function routeToGateways(network: Topology['network'], machine: string): Promise<void> {
  await network.ip(machine, 'route add default via 10.78.0.1');
  await network.ip(machine, '-6 route add default via 2001:db8:78::1');
}

async function routePods(network: Topology['network'], machine: string, to: number): Promise<void> {
  const { v4, v6 } = nodeAddresses(to);
  await network.ip(machine, `route add 10.79.${to}.0/24 via ${v4}`);
  await network.ip(machine, `-6 route add 2001:db8:79:${to}::/64 via ${v6}`);
}

/** Nodes for comparison have no pods and get nothing from gateways. */
export function createNodeObjects(api: ClusterApi): void {
  const compared = new Set<number>(Object.values(comparisonNodes));
  for (const number of allNodes) {
    const isCompared = compared.has(number);
    const name = nodeName(number);
    const excluded = { 'node.kubernetes.io/exclude-from-external-load-balancers': '' };
    api.create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, ...(isCompared ? { labels: excluded } : {}) },
      spec: isCompared ? { unschedulable: true } : {},
      status: {
        addresses: Object.values(nodeAddresses(number)).map((address) => ({
          type: 'InternalIP',
          address,
        })),
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
      },
    });
  }
}

export function setUnschedulable(api: ClusterApi, name: string, unschedulable: boolean): void {
  const node = structuredClone(api.store.get('nodes', undefined, name)) as Node;
  api.update('nodes', { ...node, spec: { ...node.spec, unschedulable } });
}

export function setNodeReady(api: ClusterApi, name: string, isReady: boolean): void {
  const node = structuredClone(api.store.get('nodes', undefined, name)) as Node;
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'Unknown', reason: 'Kubelet' }];
  const status = { ...node.status, conditions };
  api.update('nodes', { ...node, status }, { subresource: 'status' });
}

/** Causeway's proxy on all nodes but one, which has the real kube-proxy. */
export async function startNodeProxies(
  topology: Topology,
  api: { readonly url: string; readonly kubeconfig: string },
): Promise<Forwarder> {
  const port = Number(new URL(api.url).port);
  const socket = path.join(topology.directory, 'api.sock');
  const forwarder = await openForwarder({ path: socket }, { host: '127.0.0.1', port });
  for (const number of allNodes) {
    const name = nodeName(number);
    topology.start(name, `window-${name}`, [relay, String(port), socket]);
    await waitFor(`the forwarder from ${name} to the API`, async () =>
      (await fs.readFile(topology.log(`window-${name}`), 'utf8')).includes('ready'),
    );
    const isCompared = number === comparisonNodes['kube-proxy'];
    const program = isCompared
      ? [await ensureProgram('kube-proxy')]
      : [process.execPath, main, 'proxy', '--services=all'];
    const config = await writeConfig(topology, name, api.kubeconfig);
    await startProxy(topology, name, [...program, '--config', config], isCompared);
  }
  return forwarder;
}

async function writeConfig(topology: Topology, name: string, kubeconfig: string): Promise<string> {
  const config = path.join(topology.directory, `proxy-${name}.yaml`);
  const settings = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    hostnameOverride: name,
    mode: 'nftables',
    clusterCIDR: podNetworks,
    conntrack: { maxPerCore: 0, min: 0 },
  };
  await fs.writeFile(config, stringify(settings));
  return config;
}

async function startProxy(
  topology: Topology,
  name: string,
  command: readonly string[],
  isKubeProxy: boolean,
): Promise<void> {
  const child = topology.startProgram(name, `proxy-${name}`, command);
  const table = isKubeProxy ? 'table ip kube-proxy' : 'table inet causeway-proxy';
  await waitFor(`the proxy of ${name}`, async () => {
    if (!child.isRunning()) throw new HopelessError(logTail(topology.log(`proxy-${name}`)));
    return (await topology.network.run(name, ['nft', 'list', 'tables'])).includes(table);
  });
}
