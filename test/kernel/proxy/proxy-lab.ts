import path from 'node:path';
import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePrefix as prefix } from '../../../packages/base/src/address/prefix.ts';
import type { Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import type { EndpointSlice } from '../../../packages/kubernetes/src/objects/network-objects.ts';
import { Conntrack } from '../../../packages/nftables/src/conntrack/conntrack.ts';
import { NetlinkDriver } from '../../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import type { LayoutSettings } from '../../../packages/nftables/src/compile/virtual-service.ts';
import { ProxyPipeline } from '../../../packages/causeway/src/node-proxy/proxy-pipeline.ts';
import { ProxyProgress } from '../../../packages/causeway/src/node-proxy/proxy-progress.ts';
import { ProxyStore } from '../../../packages/causeway/src/node-proxy/proxy-store.ts';
import { StoreWriter } from '../../../packages/causeway/src/node-proxy/testing/store-writer.ts';
import type { NodeContext } from '../../../packages/causeway/src/node-proxy/translate-service.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { TestNetwork, type Host } from '../../services/namespaces.ts';
import type { Answer, Request } from '../nftables/lab.ts';

export const nodeIp = '192.168.1.10';
export const nodeIp6 = 'fd99::10';
export const clientIp = '192.168.1.100';
export const pods = {
  p1: { v4: '10.1.1.6', v6: 'fd01:0:0:1::2' },
  p2: { v4: '10.1.1.10', v6: 'fd01:0:0:2::2' },
  /** On another node. */
  remote: { v4: '10.1.2.1', v6: 'fd01:0:0:9::2' },
} as const;
export type PodName = keyof typeof pods;

export const layout: LayoutSettings = {
  table: 'causeway-proxy',
  hashSeed: 0x5eed,
  localSources: [],
  hairpin: true,
  resumeConnections: false,
  insiders: { networks: [prefix('10.1.0.0/16'), prefix('fd01::/48')], interfaces: [] },
  dropsUnplaced: true,
  retriesRefused: true,
};

const nodeContext: NodeContext = {
  name: 'node1',
  zone: undefined,
  addresses: [address(nodeIp), address(nodeIp6)],
  nodePortAddresses: [address(nodeIp), address(nodeIp6)],
  masqueradeAll: false,
  knowsInsiders: true,
};

const programs = path.join(import.meta.dirname, '..', 'nftables', 'programs');

/**
 * A node with two pods, another node with one, and a client outside. Each pod has its own link to its node,
 * as with most network plugins; the nodes and the client share the network `ext`.
 */
export class ProxyLab {
  readonly network: TestNetwork;
  readonly hosts = new Map<'node' | 'client' | PodName, Host>();
  #proxy: RunningProxy | undefined;

  private constructor(network: TestNetwork) {
    this.network = network;
  }

  static async create(): Promise<ProxyLab> {
    const lab = new ProxyLab(await TestNetwork.create());
    await lab.#build();
    return lab;
  }

  host(name: 'node' | 'client' | PodName): Host {
    const host = this.hosts.get(name);
    if (host === undefined) throw new Error(`there is no ${name}`);
    return host;
  }

  get objects(): StoreWriter {
    return this.#running.objects;
  }

  get #running(): RunningProxy {
    if (this.#proxy === undefined) throw new Error('the proxy is not running');
    return this.#proxy;
  }

  async startProxy(): Promise<void> {
    this.#proxy = await RunningProxy.start(this.host('node'));
  }

  /** The rules stay. */
  async stopProxy(): Promise<void> {
    await this.#proxy?.stop();
    this.#proxy = undefined;
  }

  /** Sends a change to the proxy and waits until the kernel has it. */
  async change(write: (objects: StoreWriter) => void): Promise<void> {
    const { objects, pipeline } = this.#running;
    const committed = new Promise<void>((resolve) => {
      const stop = pipeline.onCommit(() => {
        stop();
        resolve();
      });
    });
    write(objects);
    await committed;
  }

  /** Serves only this. */
  async serve(service: Service, ...slices: EndpointSlice[]): Promise<void> {
    await this.change((objects) => {
      for (const slice of slices) objects.setSlice(slice);
      objects.setService(service);
    });
  }

  async ask(from: 'node' | 'client' | PodName, ...requests: Request[]): Promise<Answer[]> {
    const client = path.join(programs, 'client.ts');
    const output = await this.host(from).run(process.execPath, client, JSON.stringify(requests));
    return JSON.parse(output) as Answer[];
  }

  async remove(): Promise<void> {
    await this.stopProxy();
    await this.network.remove();
  }

  async #build(): Promise<void> {
    const { network } = this;
    for (const segment of ['ext', 'pod1', 'pod2']) await network.segment(segment);
    for (const name of ['node', 'client', 'p1', 'p2', 'remote'] as const) {
      this.hosts.set(name, await network.host(name));
    }
    const node = this.host('node');
    await node.setting('net.ipv4.ip_forward', 1);
    await node.setting('net.ipv6.conf.all.forwarding', 1);
    await network.join(node, 'ext', `${nodeIp}/24`, `${nodeIp6}/64`);
    // Refusals and redirects share one rate limit; here the outgoing interface is the incoming one.
    await node.setting('net.ipv4.icmp_ratelimit', 0);
    await node.setting('net.ipv6.icmp.ratelimit', 0);
    await network.join(this.host('client'), 'ext', `${clientIp}/24`, 'fd99::100/64');
    await this.#joinPod('p1', 'pod1', '10.1.1.5/30', 'fd01:0:0:1::1/64');
    await this.#joinPod('p2', 'pod2', '10.1.1.9/30', 'fd01:0:0:2::1/64');
    await this.#joinRemote();
    // Services are reached through the node.
    for (const [to, via] of [
      ['10.96.0.0/16', nodeIp],
      ['198.51.100.0/24', nodeIp],
      ['fd96::/64', nodeIp6],
    ] as const) {
      await this.host('client').ip('route', 'add', to, 'via', via);
    }
    // The node itself needs a route for packets to a Service, as every node has one.
    await node.ip('route', 'add', 'default', 'via', clientIp);
    await node.ip('-6', 'route', 'add', 'default', 'via', 'fd99::100');
    for (const name of ['p1', 'p2', 'remote'] as const) await this.listen(name, name, 8080);
  }

  async #joinPod(name: 'p1' | 'p2', segment: string, gateway4: string, gateway6: string) {
    const pod = this.host(name);
    await this.network.join(this.host('node'), segment, gateway4, gateway6);
    await this.network.join(pod, segment, `${pods[name].v4}/30`, `${pods[name].v6}/64`);
    await pod.ip('route', 'add', 'default', 'via', gateway4.split('/')[0] ?? '');
    await pod.ip('-6', 'route', 'add', 'default', 'via', gateway6.split('/')[0] ?? '');
  }

  async #joinRemote(): Promise<void> {
    const remote = this.host('remote');
    await this.network.join(remote, 'ext', '192.168.1.20/24', 'fd99::20/64');
    await remote.ip('address', 'add', `${pods.remote.v4}/32`, 'dev', 'lo');
    await remote.ip('address', 'add', `${pods.remote.v6}/128`, 'dev', 'lo', 'nodad');
    await remote.ip('route', 'add', '10.1.1.0/24', 'via', nodeIp);
    await remote.ip('route', 'add', 'fd01::/62', 'via', nodeIp6);
    const node = this.host('node');
    await node.ip('route', 'add', '10.1.2.0/24', 'via', '192.168.1.20');
    await node.ip('route', 'add', 'fd01:0:0:9::/64', 'via', 'fd99::20');
  }

  /** A server that answers with its name. */
  async listen(at: 'node' | PodName, name: string, port: number): Promise<void> {
    const server = path.join(programs, 'server.ts');
    const child = this.host(at).start(process.execPath, server, name, '::', String(port));
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once('data', () => resolve());
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
  }
}

/** The pipeline of a proxy with its rules in a node's namespace. */
class RunningProxy {
  readonly pipeline: ProxyPipeline;
  readonly objects: StoreWriter;
  readonly #stop: () => Promise<void>;

  private constructor(pipeline: ProxyPipeline, objects: StoreWriter, stop: () => Promise<void>) {
    this.pipeline = pipeline;
    this.objects = objects;
    this.#stop = stop;
  }

  static async start(node: Host): Promise<RunningProxy> {
    const networkNamespace = node.path;
    const driver = await NetlinkDriver.open({ table: layout.table, networkNamespace });
    const connections = await Conntrack.open({ networkNamespace });
    const store = new ProxyStore({ node: nodeContext, clock: systemClock, log: discardLog });
    const pipeline = new ProxyPipeline({
      store,
      driver,
      connections,
      layout,
      progress: new ProxyProgress(systemClock, noMetrics),
      pace: { minIntervalMs: 0, maxIntervalMs: 60_000 },
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    });
    const abort = new AbortController();
    const running = pipeline.run(abort.signal);
    return new RunningProxy(pipeline, new StoreWriter(store), async () => {
      abort.abort();
      await running;
      await connections.close();
      await driver.close();
    });
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

export function endpoint(name: PodName, family: 'v4' | 'v6' = 'v4') {
  return { addresses: [pods[name][family]], nodeName: name === 'remote' ? 'node2' : 'node1' };
}

/** `p1 10.1.1.10`: the pod that answered and the client address that it saw; or the error. */
export function heard({ text, error }: Answer): string {
  const [who = '', seen = ''] = text.split(' ');
  return error ?? `${who} ${seen.replace('::ffff:', '')}`;
}
