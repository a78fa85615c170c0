import { waitFor } from '../../services/wait-for.ts';
import { gateways, type Topology } from '../gateway/topology.ts';

const rulesFor = (clusterAddress: string) => `table ip attempts {
  counter cluster {}
  counter nodes {}
  chain output {
    type filter hook output priority 0;
    tcp flags & (syn | ack) == syn ip daddr ${clusterAddress} counter name cluster
    tcp flags & (syn | ack) == syn tcp dport 10256 counter name nodes
  }
}
`;

/** How often gateways themselves open a connection to a cluster address, and to nodes. */
export class AttemptCounts {
  readonly #topology: Topology;

  private constructor(topology: Topology) {
    this.#topology = topology;
  }

  static async start(topology: Topology, clusterAddress: string): Promise<AttemptCounts> {
    for (const gateway of gateways) {
      await topology.network.run(gateway, ['nft', '-f', '-'], rulesFor(clusterAddress));
    }
    return new AttemptCounts(topology);
  }

  /** One number for each gateway. */
  async at(target: 'cluster' | 'nodes'): Promise<number[]> {
    const counts: number[] = [];
    for (const gateway of gateways) {
      const words = ['nft', 'list', 'counter', 'ip', 'attempts', target];
      const text = await this.#topology.network.run(gateway, words);
      counts.push(Number(/packets (\d+)/.exec(text)?.[1]));
    }
    return counts;
  }

  /** Waits until every gateway has probed nodes this many more times. */
  async untilNodesWere(times: number): Promise<void> {
    const before = await this.at('nodes');
    await waitFor('gateways to probe nodes', async () => {
      const now = await this.at('nodes');
      return now.every((count, index) => count >= (before[index] ?? 0) + times);
    });
  }
}
