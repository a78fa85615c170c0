import path from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePrefix as prefix } from '../../../packages/base/src/address/prefix.ts';
import { idledAt } from '../../../packages/causeway/src/idling/annotations.ts';
import type {
  Service,
  ServicePort,
  ServiceSpec,
} from '../../../packages/kubernetes/src/objects/core-objects.ts';
import type { EndpointSlice } from '../../../packages/kubernetes/src/objects/network-objects.ts';
import { Conntrack } from '../../../packages/nftables/src/conntrack/conntrack.ts';
import { NetlinkDriver } from '../../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import type { Insiders } from '../../../packages/nftables/src/compile/virtual-service.ts';
import { Holder } from '../../../packages/causeway/src/node-proxy/holder/holder.ts';
import type { IdlingStage } from '../../../packages/causeway/src/node-proxy/holder/idling-stage.ts';
import { KernelPacketTap } from '../../../packages/causeway/src/node-proxy/holder/packet-tap.ts';
import { ProxyPipeline } from '../../../packages/causeway/src/node-proxy/proxy-pipeline.ts';
import { ProxyProgress } from '../../../packages/causeway/src/node-proxy/proxy-progress.ts';
import { ProxyStore } from '../../../packages/causeway/src/node-proxy/proxy-store.ts';
import { StoreWriter } from '../../../packages/causeway/src/node-proxy/testing/store-writer.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { TestNetwork, type Host } from '../../services/namespaces.ts';

const programs = path.join(import.meta.dirname, 'programs');
const table = 'causeway-proxy';
const logGroup = 7;
export const insideDevice = 'causeway-inside';

export const virtual4 = '10.96.0.10';
export const virtual6 = 'fd00:96::10';
export const nodePort = 30_080;
const ports: readonly ServicePort[] = [
  { name: 'tcp', protocol: 'TCP', port: 80, nodePort },
  { name: 'udp', protocol: 'UDP', port: 80, nodePort },
];
const serviceName = 'kubernetes.io/service-name';

/** The Service `shop/web`, idle or awake. */
export function webService(isAsleep: boolean, spec: ServiceSpec = {}): Service {
  const annotations = isAsleep ? { [idledAt]: '2026-01-01T00:00:00Z' } : {};
  return {
    metadata: { namespace: 'shop', name: 'web', uid: 'web', annotations },
    spec: {
      type: 'NodePort',
      clusterIP: virtual4,
      clusterIPs: [virtual4, virtual6],
      ipFamilies: ['IPv4', 'IPv6'],
      ports,
      ...spec,
    },
  };
}

/** Its endpoints in both families: the pod, or none. */
export function webSlices(isReady: boolean): EndpointSlice[] {
  return (['10.1.2.2', 'fd00:2::2'] as const).map((pod) => ({
    metadata: {
      namespace: 'shop',
      name: pod.includes(':') ? 'web-6' : 'web-4',
      labels: { [serviceName]: 'web' },
    },
    addressType: pod.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
    ports: ports.map(({ name = '', protocol = 'TCP' }) => ({ name, protocol, port: 8080 })),
    endpoints: isReady ? [{ addresses: [pod], nodeName: 'node1' }] : [],
  }));
}

export interface Result {
  readonly served: number;
  readonly seen: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  /** Begin of the first, and the time of each answer, in milliseconds since 1970. */
  readonly began: number;
  readonly times: readonly number[];
}

/** A node with a client pod, a serving pod, and a client outside the cluster. */
export class Node {
  readonly network: TestNetwork;
  readonly host: Host;
  readonly clientPod: Host;
  readonly outside: Host;
  readonly server: Host;

  private constructor(network: TestNetwork, hosts: readonly [Host, Host, Host, Host]) {
    this.network = network;
    [this.host, this.clientPod, this.server, this.outside] = hosts;
  }

  static async create(): Promise<Node> {
    const network = await TestNetwork.create();
    const hosts = [
      await network.host('node'),
      await network.host('client'),
      await network.host('server'),
      await network.host('outside'),
    ] as const;
    const node = new Node(network, hosts);
    const [host, ...others] = hosts;
    for (const [index, name] of ['front', 'back', 'out'].entries()) {
      const number = index + 1;
      const other = others[index];
      if (other === undefined) continue;
      const net4 = name === 'out' ? '192.0.2' : `10.1.${number}`;
      const net6 = name === 'out' ? 'fd00:3' : `fd00:${number}`;
      await network.segment(name);
      await network.join(host, name, `${net4}.1/24`, `${net6}::1/64`);
      await network.join(other, name, `${net4}.2/24`, `${net6}::2/64`);
      await other.ip('route', 'add', 'default', 'via', `${net4}.1`);
      await other.ip('-6', 'route', 'add', 'default', 'via', `${net6}::1`);
      await other.setting('net.ipv4.ip_local_port_range', '10000 65000');
    }
    await node.host.setting('net.ipv4.ip_forward', 1);
    await node.host.setting('net.ipv6.conf.all.forwarding', 1);
    // Default of distributions; the replayed packets come in on another device than the client's.
    await node.host.setting('net.ipv4.conf.all.rp_filter', 1);
    for (const host of [node.server, node.host]) {
      await host.setting('net.core.somaxconn', 16_384);
      await host.setting('net.ipv4.tcp_max_syn_backlog', 16_384);
    }
    // The route of cluster addresses without rules: away from the node.
    await node.host.ip('route', 'add', 'default', 'via', '192.0.2.2');
    await node.host.ip('-6', 'route', 'add', 'default', 'via', 'fd00:3::2');
    return node;
  }

  /**
   * A proxy in its own process, with listeners on the node. It wakes the Service on SIGUSR1. The words
   * precede its command, to run it confined.
   */
  startAcceptingProxy(...confinement: string[]): Promise<ChildProcess> {
    return this.#start(this.host, 'accepting-proxy.ts', '', 'asleep', () => {}, confinement);
  }

  /** The same, with parked connections until SIGHUP. */
  startParkingProxy(): Promise<ChildProcess> {
    return this.#start(this.host, 'accepting-proxy.ts', 'parked', 'parked');
  }

  startPod(): Promise<ChildProcess> {
    return this.#start(this.server, 'pod.ts', '8080', 'ready');
  }

  /** Starts clients; resolves once all have begun. */
  async clients(
    host: Host,
    order: object,
  ): Promise<{
    readonly result: Promise<Result>;
    readonly connected: Promise<void>;
    /** Starts no more of them. */
    readonly enough: () => void;
  }> {
    const full = { address: virtual4, port: 80, count: 1, limitMs: 120_000, ...order };
    let output = '';
    const connected = Promise.withResolvers<void>();
    const child = await this.#start(host, 'clients.ts', JSON.stringify(full), 'started', (text) => {
      output += text;
      if (output.includes('connected')) connected.resolve();
    });
    const result = new Promise<Result>((resolve, reject) => {
      child.once('close', (code, signal) => {
        const last = output.split('\n').at(-2) ?? '';
        if (last.startsWith('{')) resolve(JSON.parse(last) as Result);
        else reject(new Error(`the clients ended without a result: ${signal ?? code}`));
      });
    });
    // Both may be unobserved: a test that is over ends its clients.
    connected.promise.catch(() => {});
    result.then(
      (ended) => connected.reject(new Error(`ended: ${JSON.stringify(ended)}`)),
      (error: unknown) => connected.reject(error),
    );
    return { result, connected: connected.promise, enough: () => void child.kill('SIGTERM') };
  }

  async #start(
    host: Host,
    program: string,
    argument: string,
    word: string,
    onText: (text: string) => void = () => {},
    confinement: readonly string[] = [],
  ): Promise<ChildProcess> {
    const file = path.join(programs, program);
    const words = [...confinement, process.execPath, file, argument];
    const child = host.start(words[0] ?? file, ...words.slice(1));
    child.stderr?.pipe(process.stderr);
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`${program} ended with ${code}`)));
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        onText(text);
        if (text.includes(word)) resolve();
      });
    });
    return child;
  }

  remove(): Promise<void> {
    return this.network.remove();
  }
}

const nodeContext = {
  name: 'node1',
  zone: undefined,
  addresses: [address('192.0.2.1')],
  nodePortAddresses: [address('192.0.2.1'), address('fd00:3::1')],
  masqueradeAll: false,
  knowsInsiders: true,
};

export interface PipelineParts {
  readonly insiders?: Insiders | undefined;
  readonly idling?: IdlingStage;
}

/** The pipeline of the node's proxy, over a store that the test writes. */
export async function openPipeline(networkNamespace: string, parts: PipelineParts = {}) {
  const { idling } = parts;
  const insiders = parts.insiders ?? {
    networks: [prefix('10.1.0.0/16'), prefix('fd00:1::/64')],
    interfaces: [],
  };
  const driver = await NetlinkDriver.open({ table, networkNamespace });
  const connections = await Conntrack.open({ networkNamespace });
  const store = new ProxyStore({ node: nodeContext, clock: systemClock, log: discardLog });
  const pipeline = new ProxyPipeline({
    store,
    driver,
    connections,
    idling,
    progress: new ProxyProgress(systemClock, noMetrics),
    layout: {
      table,
      hashSeed: 7,
      localSources: [],
      hairpin: true,
      resumeConnections: false,
      insiders,
    },
    pace: { minIntervalMs: 0, maxIntervalMs: 60_000 },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
  });
  const close = async () => {
    await connections.close();
    await driver.close();
  };
  return { pipeline, store, objects: new StoreWriter(store), driver, connections, close };
}

type OpenPipeline = Awaited<ReturnType<typeof openPipeline>>;

/** The proxy of the node, as a process would run it, without Kubernetes. */
export class NodeProxy {
  readonly objects: StoreWriter;
  readonly holder: Holder;
  readonly #pipeline: ProxyPipeline;
  readonly #closePipeline: () => Promise<void>;
  readonly #tap: KernelPacketTap;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(
    { pipeline, objects, close }: OpenPipeline,
    holder: Holder,
    tap: KernelPacketTap,
  ) {
    this.objects = objects;
    this.#closePipeline = close;
    this.#pipeline = pipeline;
    this.holder = holder;
    this.#tap = tap;
    pipeline.onCommit((served) => holder.onCommit(served));
    this.#running = Promise.all([
      pipeline.run(this.#stop.signal),
      holder.run(this.#stop.signal).catch(() => {}),
    ]);
  }

  static async start(
    node: Node,
    onNeedPods: (service: string) => void = () => {},
    insiders?: Insiders,
  ): Promise<NodeProxy> {
    const networkNamespace = node.host.path;
    const listen = () => Promise.resolve(undefined);
    const idling = { graceMs: 30_000, logGroup, listen };
    const opened = await openPipeline(networkNamespace, { insiders, idling });
    const holder = new Holder({
      bounds: {
        perService: { packets: 20_000, bytes: 8_000_000 },
        inAll: { packets: 20_000, bytes: 8_000_000 },
        perFlow: 8,
        holdMs: 60_000,
      },
      needPods: onNeedPods,
      clock: systemClock,
      metrics: noMetrics,
    });
    const tap = await KernelPacketTap.open(
      { logGroup, device: 'causeway-hold', insideDevice, networkNamespace },
      holder,
    );
    holder.attach(tap);
    return new NodeProxy(opened, holder, tap);
  }

  /** Sends a change, and waits until the kernel has it. */
  async apply(service: Service, slices: readonly EndpointSlice[]): Promise<void> {
    const committed = new Promise<void>((resolve) => {
      const end = this.#pipeline.onCommit(() => {
        end();
        resolve();
      });
    });
    this.objects.setService(service);
    for (const slice of slices) this.objects.setSlice(slice);
    this.objects.synced();
    await committed;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#tap.close();
    await this.#closePipeline();
  }
}
