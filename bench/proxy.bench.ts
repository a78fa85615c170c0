// Cost of a change for the node's proxy, and of its rules for the first packet of a connection.

import { addressFromInteger, parseAddress } from '../packages/base/src/address/address.ts';
import { parsePrefix } from '../packages/base/src/address/prefix.ts';
import type { Service } from '../packages/kubernetes/src/objects/core-objects.ts';
import type { EndpointSlice } from '../packages/kubernetes/src/objects/network-objects.ts';
import { withSlimMetadata } from '../packages/kubernetes/src/cache/projection.ts';
import { Conntrack } from '../packages/nftables/src/conntrack/conntrack.ts';
import { NetlinkDriver } from '../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import { ProxyPipeline } from '../packages/causeway/src/node-proxy/proxy-pipeline.ts';
import { ProxyProgress } from '../packages/causeway/src/node-proxy/proxy-progress.ts';
import { ProxyStore } from '../packages/causeway/src/node-proxy/proxy-store.ts';
import { StoreWriter } from '../packages/causeway/src/node-proxy/testing/store-writer.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';
import { noMetrics } from '../packages/base/src/observability/metrics.ts';
import { TestNetwork, type Host } from '../test/services/namespaces.ts';
import { compare, median, type BenchmarkSuite } from './benchmark.ts';
import { alternate, packetProgram, servedPort } from './alternate-packets.ts';
import { fillConntrack } from './conntrack-load.ts';

const nodeAddress = parseAddress('10.77.0.1');
const backend = '10.78.0.21';
const layout = {
  table: 'causeway-proxy',
  hashSeed: 0x5eed,
  localSources: [],
  hairpin: true,
  resumeConnections: false,
  insiders: { networks: [parsePrefix('10.78.0.0/16')], interfaces: [] },
  dropsUnplaced: true,
  retriesRefused: true,
};

const serviceAddress = (number: number) => addressFromInteger(0x0a600000n + BigInt(number + 1), 4);

function service(number: number): Service {
  return {
    metadata: { namespace: 'bench', name: `s${number}` },
    spec: {
      type: 'NodePort',
      clusterIP: serviceAddress(number),
      ports: [{ port: servedPort, nodePort: 20_000 + number }],
    },
  };
}

let version = 0;

function slice(number: number, ...addresses: string[]): EndpointSlice {
  version += 1;
  const labels = { 'kubernetes.io/service-name': `s${number}` };
  const name = `s${number}-1`;
  return {
    metadata: { namespace: 'bench', name, uid: name, labels, resourceVersion: String(version) },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints: addresses.map((address) => ({ addresses: [address], nodeName: 'node1' })),
  };
}

/** A proxy with this many Services, fed by a store like by a reflector. */
class Loaded {
  readonly #pipeline: ProxyPipeline;
  readonly #store: ProxyStore;
  readonly stop: () => Promise<void>;

  private constructor(pipeline: ProxyPipeline, store: ProxyStore, stop: () => Promise<void>) {
    this.#pipeline = pipeline;
    this.#store = store;
    this.stop = stop;
  }

  static async start(host: Host, count: number): Promise<Loaded> {
    const networkNamespace = host.path;
    const driver = await NetlinkDriver.open({ table: layout.table, networkNamespace });
    const connections = await Conntrack.open({ networkNamespace });
    const node = {
      name: 'node1',
      zone: undefined,
      addresses: [nodeAddress],
      nodePortAddresses: [nodeAddress],
      masqueradeAll: false,
      knowsInsiders: true,
    };
    const store = new ProxyStore({ node, clock: systemClock, log: discardLog });
    const pipeline = new ProxyPipeline({
      store,
      driver,
      connections,
      layout,
      progress: new ProxyProgress(systemClock, noMetrics),
      pace: { minIntervalMs: 0, maxIntervalMs: 600_000 },
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    });
    const abort = new AbortController();
    const running = pipeline.run(abort.signal);
    const loaded = new Loaded(pipeline, store, async () => {
      abort.abort();
      await running;
      await connections.close();
      await driver.close();
    });
    for (let number = 0; number < count; number += 1) {
      store.services.put(service(number));
      store.slices.put(slice(number, backend, serverAddress(number)));
    }
    const first = loaded.#committed();
    new StoreWriter(store).synced();
    await first;
    return loaded;
  }

  /** From the line of a watch to the kernel, in milliseconds: the median of many. */
  async changeEndpoints(): Promise<number> {
    const times: number[] = [];
    for (let index = 0; index < changesInARow; index += 1) {
      const object = slice(index % 50, backend, serverAddress(100_000 + version));
      const line = JSON.stringify({ type: 'MODIFIED', object });
      const committed = this.#committed();
      const started = performance.now();
      const event = JSON.parse(line) as { object: EndpointSlice };
      this.#store.slices.put(withSlimMetadata(event.object));
      await committed;
      times.push(performance.now() - started);
    }
    return median(times);
  }

  /** Leaves only the endpoint that answers. */
  async leaveOneEndpoint(number: number): Promise<void> {
    const committed = this.#committed();
    this.#store.slices.put(slice(number, backend));
    await committed;
  }

  #committed(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#pipeline.onCommit(() => {
        stop();
        resolve();
      });
    });
  }
}

const changesInARow = 200;
const serverAddress = (number: number) => addressFromInteger(0x0a900000n + BigInt(number), 4);

async function spawnedElement(host: Host, number: number): Promise<number> {
  const address = addressFromInteger(0x01000000n + BigInt(number), 4);
  const started = performance.now();
  await host.run('nft', 'add', 'element', 'inet', 'beside', 's', `{ ${address} }`);
  return performance.now() - started;
}

/** A node where the first Services lead to the one backend; the client reaches it at the first one. */
async function addNode(network: TestNetwork, number: number): Promise<Host> {
  const host = await network.host(`node${number}`);
  await host.setting('net.ipv4.ip_forward', 1);
  await network.join(host, 'ext', `10.77.0.${number}/16`);
  await network.join(host, 'int', `10.78.0.10${number}/24`);
  return host;
}

const atMost = (limit: number) =>
  ({ of: 'ratio', comparison: 'at most', limit, unit: 'ms' }) as const;
const bars = {
  'one changed Service, among 10,000 beside among 100': atMost(1.5),
  'watch event to commit, beside one spawned nft add element into an empty table': atMost(1),
  'first packet, 10,000 Services beside 10': atMost(1.15),
};

export const suite: BenchmarkSuite<keyof typeof bars> = {
  name: 'proxy',
  bars,
  async run() {
    const network = await TestNetwork.create();
    const running: Loaded[] = [];
    try {
      const empty = await network.host('empty');
      await empty.run('nft', 'add', 'table', 'inet', 'beside');
      await empty.run('nft', 'add', 'set', 'inet', 'beside', 's', '{ type ipv4_addr ; }');
      const few = await Loaded.start(await network.host('few'), 100);
      const crowded = await network.host('many');
      await fillConntrack(crowded, 100_000, 10_000);
      const many = await Loaded.start(crowded, 10_000);
      running.push(few, many);
      await few.changeEndpoints();
      await many.changeEndpoints();
      const bySize = await compare(
        7,
        () => many.changeEndpoints(),
        () => few.changeEndpoints(),
      );
      let element = 0;
      const bySpawn = await compare(
        7,
        () => many.changeEndpoints(),
        () => spawnedElement(empty, (element += 1)),
      );
      return {
        'one changed Service, among 10,000 beside among 100': bySize,
        'watch event to commit, beside one spawned nft add element into an empty table': bySpawn,
        'first packet, 10,000 Services beside 10': await firstPacket(network, running),
      };
    } finally {
      for (const loaded of running) await loaded.stop();
      await network.remove();
    }
  },
};

/** Each node has one Service with only the one backend, after all its others. */
async function firstPacket(network: TestNetwork, running: Loaded[]) {
  await network.segment('ext');
  await network.segment('int');
  const client = await network.host('client');
  await network.join(client, 'ext', '10.77.0.100/16');
  const server = await network.host('backend');
  await network.join(server, 'int', `${backend}/24`);
  const child = server.start(process.execPath, packetProgram, 'serve', '8080');
  await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
  const targets = [];
  for (const [index, count] of [10, 10_000].entries()) {
    const host = await addNode(network, index + 1);
    const loaded = await Loaded.start(host, count);
    running.push(loaded);
    const address = serviceAddress(count - 1);
    await loaded.leaveOneEndpoint(count - 1);
    await client.ip('route', 'add', `${address}/32`, 'via', `10.77.0.${index + 1}`);
    targets.push({ address });
  }
  const [few = { address: '' }, many = { address: '' }] = targets;
  return alternate(client, ['connect', '400'], many, few);
}
