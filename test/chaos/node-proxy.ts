import path from 'node:path';
import type { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { nodes } from '../../packages/kubernetes/src/objects/resources.ts';
import { servers, type Topology } from '../kernel/gateway/topology.ts';
import { openForwarder } from '../kernel/proxy/command-lab.ts';
import { logTail } from '../services/service-process.ts';
import { waitFor } from '../services/wait-for.ts';
import { JobDirectory, withMovableClock } from './job-unit.ts';
import { Unit } from './unit.ts';
import type { Ways } from './ways.ts';

const name = 'proxy';
/** The node that the proxy runs on; its pods connect through the proxy. */
const node = 'n1';
const relay = path.join(import.meta.dirname, '..', 'kernel', 'proxy', 'programs', 'relay.ts');

export interface NodeProxy {
  readonly unit: Unit;
  /** Whether the node's rules contain the address. */
  serves(address: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The proxy of the first node under a simulated service manager, with a gate between it and Kubernetes. */
export async function makeNodeProxy(
  topology: Topology,
  ways: Ways,
  kube: KubeClient,
): Promise<NodeProxy> {
  await addNode(kube);
  const own = new JobDirectory(topology.directory, name);
  const kubeconfig = await own.write('kubeconfig', await ways.kubeconfig(name));
  const port = ways.gates.get(`${name} to kubernetes`)?.[0]?.port ?? 0;
  // The node has no route to the loopback address of this machine; a Unix socket leads there.
  const socket = path.join(topology.directory, 'kubernetes.sock');
  const forwarder = await openForwarder(socket, port);
  topology.start(node, 'window', [relay, String(port), socket]);
  await waitFor('the window', () => logTail(topology.log('window')).includes('ready'));
  const config = await own.write('proxy.yaml', {
    kubeconfig,
    nodeName: node,
    services: 'all',
    insiders: { networks: ['10.79.0.0/16'] },
    conntrack: { maxPerCore: 0, min: 0 },
    log: { level: 'debug', format: 'text' },
  });
  const clock = path.join(topology.directory, name, 'clock');
  const words = withMovableClock(clock, ['proxy', '--config', config]);
  const unit = new Unit(name, () => topology.startProgram(node, name, words));
  const listing = ['nft', 'list', 'table', 'inet', 'causeway-proxy'];
  return {
    unit,
    // The table does not exist at first.
    serves: async (address) =>
      (await topology.network.run(node, listing).catch(() => '')).includes(address),
    close: async () => void forwarder.close(),
  };
}

async function addNode(kube: KubeClient): Promise<void> {
  await kube.create(nodes, { metadata: { name: node } });
  const status = { addresses: [{ type: 'InternalIP', address: servers[node].v4 }] };
  await kube.patchMerge(nodes, { name: node }, { status }, { subresource: 'status' });
}
