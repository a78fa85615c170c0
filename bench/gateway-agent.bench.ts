import type { Frontend } from '../packages/causeway/src/gateway/protocol/frontend.ts';
import { writeDelta, writeState } from '../packages/causeway/src/gateway/protocol/write-update.ts';
import { Topology } from '../test/kernel/gateway/topology.ts';
import { allServices, nothing, service, serviceCount } from './agent-load.ts';
import { besideMedian, type BenchmarkSuite, type Measurement } from './benchmark.ts';

const requests = 200;
const { signal } = new AbortController();

/** A gateway that serves many Services, each on its address, with two backends. */
class LoadedGateway {
  readonly topology: Topology;
  #generation = 0;

  constructor(topology: Topology) {
    this.topology = topology;
  }

  async fill(): Promise<number> {
    this.#generation += 1;
    const state = { ...nothing, frontends: allServices() };
    const started = performance.now();
    await this.#push(writeState(state, { generation: this.#generation }));
    return performance.now() - started;
  }

  /**
   * The median times of a request that replaces one backend of one Service, and of one that changes nothing
   * but is stored all the same. They alternate, so that load affects both.
   */
  async compareRequests(): Promise<Measurement> {
    const replacing: number[] = [];
    const noOps: number[] = [];
    for (let index = 0; index < requests; index += 1) {
      noOps.push(await this.#request([]));
      replacing.push(await this.#request([service(index % serviceCount, this.#generation)]));
    }
    return besideMedian(replacing, noOps);
  }

  async changeNothing(): Promise<void> {
    for (let index = 0; index < requests; index += 1) await this.#request([]);
  }

  /** Number of writes to the kernel so far. */
  commits(): Promise<number> {
    return this.#metric('causeway_agent_ruleset_commits_total');
  }

  async #metric(name: string): Promise<number> {
    const response = await this.topology.network.run('g1', [
      ...['curl', '--silent', '--globoff', 'http://[::1]:15214/metrics'],
    ]);
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(response)?.[1]);
  }

  async #request(frontends: readonly Frontend[]): Promise<number> {
    const base = this.#generation;
    this.#generation += 1;
    const lines = writeDelta({ ...nothing, frontends }, { generation: this.#generation, base });
    const started = performance.now();
    await this.#push(lines);
    return performance.now() - started;
  }

  async #push(lines: Iterable<string>): Promise<void> {
    await this.topology.client('g1').push(lines, signal);
  }
}

export const suite: BenchmarkSuite<'agent-request-to-commit' | 'agent-no-op-commits'> = {
  name: 'gateway-agent',
  bars: {
    'agent-request-to-commit': { of: 'ratio', comparison: 'at most', limit: 2, unit: 'ms' },
    'agent-no-op-commits': { of: 'value', comparison: 'at most', limit: 0, unit: 'commits' },
  },
  async run() {
    const topology = await Topology.start();
    try {
      await topology.startAgent('g1', {
        addresses: { mover: 'foreign' },
        external: undefined,
        internal: undefined,
        log: { level: 'warn' },
      });
      const gateway = new LoadedGateway(topology);
      console.log(
        `  ${serviceCount} services from nothing in ${Math.round(await gateway.fill())} ms`,
      );
      await gateway.compareRequests();
      const ratio = await gateway.compareRequests();
      const before = await gateway.commits();
      await gateway.changeNothing();
      const commits = (await gateway.commits()) - before;
      return {
        'agent-request-to-commit': ratio,
        'agent-no-op-commits': { value: commits, baseline: null },
      };
    } finally {
      await topology.stop();
    }
  },
};
