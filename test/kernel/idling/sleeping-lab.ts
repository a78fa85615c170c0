import fs from 'node:fs/promises';
import { idledAt } from '../../../packages/causeway/src/idling/annotations.ts';
import { endpointSlices, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { logTail, type ServiceProcess } from '../../services/service-process.ts';
import { HopelessError, patienceMs, waitFor } from '../../services/wait-for.ts';
import { CommandLab } from '../proxy/command-lab.ts';
import { endpoint, heard, pods } from '../proxy/proxy-lab.ts';

const virtual = '10.96.7.1';
const slice = { namespace: 'shop', name: 'web-1' };

/** An idle Service on a node that runs the proxy's command; its pod runs all the time. */
export class SleepingLab {
  readonly #lab: CommandLab;
  readonly #count: number;
  #proxy: ServiceProcess | undefined;

  private constructor(lab: CommandLab, count: number) {
    this.#lab = lab;
    this.#count = count;
  }

  /** For this number of clients at once. The proxy is not started yet. */
  static async create(count: number): Promise<SleepingLab> {
    const lab = await CommandLab.create();
    await lab.client.create(services, {
      metadata: {
        namespace: 'shop',
        name: 'web',
        annotations: { [idledAt]: '2026-01-01T00:00:00Z' },
      },
      spec: { clusterIP: virtual, ports: [{ port: 80 }] },
    });
    await lab.client.create(endpointSlices, {
      metadata: { ...slice, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [],
    });
    // A client gives up after its seventh packet, a minute later; on a slow machine a start takes longer.
    await lab.lab.host('p2').setting('net.ipv4.tcp_syn_retries', 127);
    return new SleepingLab(lab, count);
  }

  remove(): Promise<void> {
    return this.#lab.remove();
  }

  /** Runs something on the node. */
  onNode(program: string, ...args: string[]): Promise<string> {
    return this.#lab.lab.host('node').run(program, ...args);
  }

  /** The proxy's log so far. */
  log(): Promise<string> {
    return fs.readFile(this.#lab.logFile, 'utf8');
  }

  async start(): Promise<void> {
    this.#proxy = await this.#lab.start({ conntrack: { maxPerCore: 0, min: 0 } }, '--services=all');
  }

  async kill(): Promise<void> {
    this.#proxy?.kill('SIGKILL');
    await this.#proxy?.exited;
  }

  /** Waits until all clients wait. */
  async waiting(): Promise<void> {
    await waitFor(
      `${this.#count} to wait`,
      async () => {
        if (this.#proxy?.isRunning() !== true) throw new HopelessError(logTail(this.#lab.logFile));
        const packets = await this.metric('causeway_holder_waiting_packets');
        if (packets < this.#count) throw new Error(`${packets} wait`);
        return true;
      },
      { intervalMs: 250 },
    );
  }

  /** Value of the proxy's metrics; 0 if absent. */
  async metric(name: string): Promise<number> {
    const { body } = await this.#lab.get('http://127.0.0.1:10249/metrics');
    const line = body.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length) ?? 0);
  }

  async setEndpoints(isReady: boolean): Promise<void> {
    const endpoints = isReady ? [endpoint('p1')] : [];
    await this.#lab.client.patchMerge(endpointSlices, slice, { endpoints });
  }

  async connectAll(): Promise<string[]> {
    const one = { address: virtual, port: 80, timeoutMs: patienceMs };
    const answers = await this.#lab.lab.ask(
      'p2',
      ...Array.from({ length: this.#count }, () => one),
    );
    return answers.map(heard);
  }

  /** Answers to clients that were served with their own address. */
  get all(): string[] {
    return Array.from({ length: this.#count }, () => `p1 ${pods.p2.v4}`);
  }

  async asleep(): Promise<void> {
    await waitFor('the rules to hold', async () => {
      const rules = await this.onNode('nft', 'list', 'table', 'inet', 'causeway-proxy');
      return rules.includes(`${virtual} . tcp . 80 : goto hold-`);
    });
  }
}
