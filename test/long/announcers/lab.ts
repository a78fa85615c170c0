import fs from 'node:fs/promises';
import path from 'node:path';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import type { Node } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { nodes } from '../../../packages/kubernetes/src/objects/resources.ts';
import { never, startServer, type ServerUnderTest } from '../../contract/ipam/server-under-test.ts';
import { ClusterUnderTest } from '../../contract/pool/cluster-under-test.ts';
import { openForwarder } from '../../services/tcp-forwarder.ts';
import { prepareKubernetes, startKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { canUseNamespaces, TestNetwork, type Host } from '../../services/namespaces.ts';
import { ensureProgram, type ProgramName } from '../../services/programs.ts';
import { startServiceProcess, type ServiceProcess } from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';

/** The name of the one node, and of its interface on the network that addresses are announced to. */
export const nodeName = 'node-1';
export const lan = 'lan';

const forwarder = path.join(import.meta.dirname, 'programs', 'inner-forwarder.ts');
const generous = { timeoutMs: 120_000 };

/** Whether the announcers, and a node to run them on, are available here. They are built once. */
export function canRun(programs: readonly ProgramName[]): Promise<boolean> {
  if (!canUseNamespaces()) return Promise.resolve(false);
  return isAvailable(async () => {
    await prepareKubernetes();
    for (const name of programs) await ensureProgram(name);
  });
}

/**
 * A real kube-apiserver, a node that is a network namespace where announcers run as on real nodes, the
 * ledger, and the controller with it.
 */
export class AnnouncerLab {
  readonly cluster: ClusterUnderTest;
  /** With the cluster's own credential. */
  readonly ipam: IpamClient;
  readonly #directory: string;
  readonly #kubeconfig: string;
  readonly #server: ServerUnderTest;
  readonly #network: TestNetwork;
  readonly #node: Host;
  readonly #announcers: ServiceProcess[] = [];

  private constructor(parts: {
    directory: string;
    kubeconfig: string;
    cluster: ClusterUnderTest;
    server: ServerUnderTest;
    ipam: IpamClient;
    network: TestNetwork;
    node: Host;
  }) {
    this.cluster = parts.cluster;
    this.ipam = parts.ipam;
    this.#directory = parts.directory;
    this.#kubeconfig = parts.kubeconfig;
    this.#server = parts.server;
    this.#network = parts.network;
    this.#node = parts.node;
  }

  static async start(): Promise<AnnouncerLab> {
    const kubernetes = await startKubernetes();
    const { directory, kubeconfig } = kubernetes;
    const network = await TestNetwork.create();
    const node = await network.host('node');
    await network.segment(lan);
    await network.join(node, lan, '203.0.113.2/24', '2001:db8:1::2/64');
    const socket = path.join(directory, 'apiserver.sock');
    const port = Number(new URL(kubernetes.url).port);
    const outside = await openForwarder({ path: socket }, { host: '127.0.0.1', port });
    const inside = node.start(process.execPath, forwarder, String(port), socket);
    await new Promise<void>((resolve, reject) => {
      inside.stdout?.once('data', () => resolve());
      inside.once('exit', () => reject(new Error('the namespace is not reachable')));
    });
    const cluster = await ClusterUnderTest.on(kubeconfig, async () => {
      await outside.close();
      await kubernetes.stop();
    });
    await cluster.client.create<Node>(nodes, { metadata: { name: nodeName } });
    const { server, ipam } = await startLedger();
    return new AnnouncerLab({ directory, kubeconfig, cluster, server, ipam, network, node });
  }

  /** Starts an announcer on the node, as an administrator of the cluster. */
  async startAnnouncer(
    program: ProgramName,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const home = path.join(this.#directory, program);
    await fs.mkdir(path.join(home, '.kube'), { recursive: true });
    await fs.copyFile(this.#kubeconfig, path.join(home, '.kube', 'config'));
    const inNode = [`--net=${this.#node.path}`, await ensureProgram(program), ...args];
    const logFile = path.join(this.#directory, `${program}.log`);
    const environment = { HOME: home, KUBECONFIG: this.#kubeconfig, ...env };
    this.#announcers.push(startServiceProcess('nsenter', inNode, { logFile, env: environment }));
  }

  /** Whether the address is on the node's interface now. */
  async isOnInterface(address: string): Promise<boolean> {
    const text = await this.#node.ip('-o', 'address', 'show', 'dev', lan);
    return text.includes(` ${address}/`);
  }

  /** Waits until the address is, or is no longer, on the node's interface. */
  async onInterface(address: string, expected: boolean): Promise<void> {
    const what = `${address} to be ${expected ? 'on' : 'off'} the interface`;
    await waitFor(what, async () => (await this.isOnInterface(address)) === expected, generous);
  }

  /** Waits until the Service's status shows this number of addresses, and returns them. */
  shown(name: string, count: number): Promise<readonly string[]> {
    return waitFor(
      `${name} to show ${count} addresses`,
      async () => {
        const addresses = await this.cluster.addressesOf(name);
        return addresses.length === count ? addresses : undefined;
      },
      generous,
    );
  }

  gone(name: string): Promise<true> {
    return waitFor(
      `${name} to be gone`,
      async () => (await this.cluster.read(name)) === undefined,
      generous,
    );
  }

  async stateOf(address: string) {
    const asked = { params: { site: 'edge', address } };
    return this.#server.operator.call('whoHas', asked, never);
  }

  /** Waits until the address is in quarantine, and returns how long it stays there. */
  async restOf(address: string): Promise<number> {
    return waitFor(
      `${address} to be in quarantine`,
      async () => {
        const { state, until = 0 } = await this.stateOf(address);
        return state === 'resting' ? until - Date.now() : undefined;
      },
      generous,
    );
  }

  /**
   * Reclaims the cluster's addresses while its controller is stopped, and assigns the address to another
   * owner.
   */
  async giveToOthers(address: string): Promise<void> {
    const call = this.#server.operator.call.bind(this.#server.operator);
    const params = { site: 'edge' };
    await call('setSite', { params, body: { ...times, quarantineMs: 0 } }, never);
    await call('createCluster', { params, body: { cluster: 'green' } }, never);
    const reclaim = { params: { ...params, cluster: 'blue' }, body: { withdrawn: true } };
    await call('reclaimCluster', reclaim, never);
    const body = { uid: 'rival', addresses: [address] };
    await call('reserve', { params: { ...params, cluster: 'green' }, body }, never);
    await call('setSite', { params, body: times }, never);
  }

  async stop(): Promise<void> {
    await this.cluster.stopController();
    for (const announcer of this.#announcers) await announcer.stop();
    await this.#network.remove();
    await this.cluster.stop();
    await this.#server.stop();
  }
}

/** An address that is seen withdrawn stays in quarantine for one minute, any other for ten. */
const times = { quarantineMs: 60_000, unconfirmedQuarantineMs: 600_000 };

async function startLedger(): Promise<{ server: ServerUnderTest; ipam: IpamClient }> {
  const server = await startServer();
  const call = server.operator.call.bind(server.operator);
  await call('setSite', { params: { site: 'edge' }, body: times }, never);
  const pool = {
    addresses: ['203.0.113.100-203.0.113.109', '2001:db8:1::100-2001:db8:1::109'],
  };
  await call('setPool', { params: { site: 'edge', pool: 'public' }, body: pool }, never);
  const created = { params: { site: 'edge' }, body: { cluster: 'blue' } };
  const { token } = await call('createCluster', created, never);
  return { server, ipam: server.client(token) };
}
