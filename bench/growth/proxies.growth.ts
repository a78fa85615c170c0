// Causeway's node proxy compared with the real kube-proxy in nftables mode, both as processes on their own
// nodes.

import fs from 'node:fs/promises';
import { TestNetwork, type Host } from '../../test/services/namespaces.ts';
import { ensureProgram } from '../../test/services/programs.ts';
import { removeDirectory, scratchDirectory } from '../../test/services/scratch.ts';
import type { ServiceProcess } from '../../test/services/service-process.ts';
import { compileProgram } from '../compiled-program.ts';
import { addGateway, build, programLinear, type Gateway } from '../packet-gateways.ts';
import { exchangeWithAll, packetProgram, servedPort } from '../alternate-packets.ts';
import { Ratios, serviceCounts, type GrowthSuite } from './curve.ts';
import { clusterAddress, ServiceApi } from './node-proxy.ts';

/** With many Services one start takes a minute, and noise matters little. */
const startsWith = (services: number) => (services > 1_000 ? 1 : 3);
const rounds = 7;
const exchanges = 60;

interface Kind {
  readonly series: string;
  readonly words: readonly string[];
}

interface Started {
  readonly address: string;
  readonly readyMs: number;
  readonly resident: number;
}

interface Way {
  readonly series: string;
  readonly at: number;
  readonly address: string;
}

class ProxyNodes {
  readonly #network: TestNetwork;
  readonly #client: Host;
  #nodes = 1;

  constructor(network: TestNetwork, client: Host) {
    this.#network = network;
    this.#client = client;
  }

  /**
   * A node with the proxy, from its start until a Service answers; then the proxy ends and its rules stay.
   */
  async start(api: ServiceApi, { words }: Kind, address: string): Promise<Started> {
    this.#nodes += 1;
    const node = await addGateway(this.#network, this.#nodes);
    const via = node.address.replace('10.77.1.', '10.77.0.');
    await this.#client.ip('route', 'replace', `${address}/32`, 'via', via);
    const begun = performance.now();
    const proxy = await api.run(node, words);
    await this.#client.run(process.execPath, packetProgram, 'reach', String(servedPort), address);
    const readyMs = performance.now() - begun;
    const resident = await residentWhenSettled(proxy);
    await proxy.stop();
    return { address, readyMs, resident };
  }
}

/** In kB, once it no longer grows: its peak at the start is not what it keeps. */
async function residentWhenSettled({ pid }: ServiceProcess): Promise<number> {
  let before = 0;
  for (;;) {
    const status = await fs.readFile(`/proc/${pid}/status`, 'utf8');
    const now = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
    if (Math.abs(now - before) < before / 100) return now;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
}

/** All nodes alternately, compared with one manual rule. */
async function firstAnswers(client: Host, byHand: Gateway, ways: readonly Way[]): Promise<Ratios> {
  const packets = new Ratios();
  for (let round = 0; round < rounds; round += 1) {
    const [reference = 1, ...times] = await exchangeWithAll(client, exchanges, [byHand, ...ways]);
    for (const [index, { series, at }] of ways.entries()) {
      packets.add(series, at, (times[index] ?? Number.NaN) / reference);
    }
  }
  return packets;
}

export const suite: GrowthSuite = {
  name: 'proxies',
  async run() {
    const network = await TestNetwork.create();
    const directory = await scratchDirectory('bench-growth');
    try {
      const { client } = await build(network);
      const byHand = await addGateway(network, 1);
      await programLinear(byHand, 1);
      const theirs = { series: 'kube-proxy', words: [await ensureProgram('kube-proxy')] };
      const program = await compileProgram(directory);
      const ours = {
        series: 'Causeway',
        words: [process.execPath, program, 'proxy', '--services=all'],
      };
      const nodes = new ProxyNodes(network, client);
      const [ready, resident] = [new Ratios(), new Ratios()];
      const ways: Way[] = [];
      for (const at of serviceCounts) {
        const api = await ServiceApi.start(at);
        for (let turn = 0; turn < startsWith(at); turn += 1) {
          const address = (place: number) => clusterAddress(at - 1 - turn * 2 - place);
          const their = await nodes.start(api, theirs, address(0));
          const our = await nodes.start(api, ours, address(1));
          ready.add('Causeway', at, our.readyMs / their.readyMs);
          resident.add('Causeway', at, our.resident / their.resident);
          if (turn > 0) continue;
          ways.push(
            { series: 'kube-proxy', at, address: their.address },
            { series: 'Causeway', at, address: our.address },
          );
        }
        await api.stop();
      }
      const packets = await firstAnswers(client, byHand, ways);
      const along = 'Services';
      const baseline = 'kube-proxy in nftables mode';
      return {
        'proxy-first-answer-by-services': {
          title: 'Connect and get the first byte, through a node proxy',
          along,
          baseline: 'one DNAT rule written by hand',
          series: packets.series(),
        },
        'proxy-start-by-services': {
          title: 'A node proxy, from its start until the last Service answers',
          along,
          baseline,
          series: ready.series(),
        },
        'proxy-memory-by-services': {
          title: 'Memory of a node proxy',
          along,
          baseline,
          series: resident.series(),
        },
      };
    } finally {
      await network.remove();
      await removeDirectory(directory);
    }
  },
};
