import path from 'node:path';
import { request } from 'undici';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { prepareSite } from '../../contract/ipam/fleet.ts';
import { clientOf } from '../../contract/ipam/history.ts';
import { openForwarder, type Forwarder } from '../../services/tcp-forwarder.ts';
import { TestNetwork, type Host } from '../../services/namespaces.ts';
import { ensureProgram } from '../../services/programs.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import {
  logTail,
  startServiceProcess,
  type ServiceProcess,
} from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);
const pairWriter = path.join(import.meta.dirname, 'programs', 'forwarders.ts');
const members = [1, 2, 3] as const;
const peerPort = 2380;

/** The direction in which packets between an allocator and etcd are dropped. */
export type Direction = 'to etcd' | 'from etcd';

export interface Allocator {
  readonly name: string;
  /** The network of the addresses at which only this allocator reaches etcd. */
  readonly network: string;
  readonly cluster: string;
  readonly process: ServiceProcess;
  readonly client: IpamClient;
  readonly logFile: string;
  /** The status and the text of /readyz. */
  readiness(): Promise<{ readonly isReady: boolean; readonly text: string }>;
}

/**
 * An etcd of three members on one host and several allocators on another. Each allocator uses its own
 * addresses for the members, so that its packets can be dropped separately.
 */
export class LedgerLab {
  readonly allocators: Allocator[] = [];
  readonly site = 'edge';
  readonly #network: TestNetwork;
  readonly #directory: string;
  readonly #etcdHost: Host;
  readonly #allocatorHost: Host;
  readonly #processes: ServiceProcess[] = [];
  readonly #pairWriter = new Map<number, Forwarder>();

  private constructor(network: TestNetwork, directory: string, hosts: readonly [Host, Host]) {
    this.#network = network;
    this.#directory = directory;
    [this.#etcdHost, this.#allocatorHost] = hosts;
  }

  static async start(size: number): Promise<LedgerLab> {
    const network = await TestNetwork.create();
    const hosts = [await network.host('etcd'), await network.host('alloc')] as const;
    const lab = new LedgerLab(network, await scratchDirectory('ledger-lab'), hosts);
    const numbers = Array.from({ length: size }, (_, index) => index);
    await network.segment('ledger');
    await network.join(hosts[0], 'ledger', ...numbers.flatMap(addressesOfEtcd));
    await network.join(hosts[1], 'ledger', ...numbers.map((index) => `10.99.${index}.9/24`));
    await lab.#startEtcd(numbers);
    const token = await lab.#createOperator();
    await lab.#openForwarders(numbers);
    for (const index of numbers) lab.allocators.push(await lab.#startAllocator(index, token));
    await Promise.all(lab.allocators.map(isReady));
    return lab;
  }

  /** A site without quarantine, and a cluster for each allocator. */
  async prepareSite(addresses: string, quota: number): Promise<void> {
    const quotas = Object.fromEntries(this.allocators.map(({ cluster }) => [cluster, quota]));
    const [first] = this.allocators;
    if (first === undefined) throw new Error('no allocator');
    await prepareSite(first.client, this.site, addresses, quotas);
  }

  /** Drops every packet between an allocator and etcd in one direction, without an error. */
  async drop({ name, network }: Allocator, direction: Direction): Promise<void> {
    const [hook, match] = direction === 'to etcd' ? ['input', 'daddr'] : ['output', 'saddr'];
    await this.#etcdHost.loadRules(`
      table ip ${name} {
        chain drops {
          type filter hook ${hook} priority 0;
          ip ${match} ${network} tcp ${direction === 'to etcd' ? 'dport' : 'sport'} 2379 drop
        }
      }`);
  }

  async letThrough({ name }: Allocator): Promise<void> {
    await this.#etcdHost.loadRules(`delete table ip ${name}`);
  }

  /** Drops every packet between the members of etcd: none of them has a quorum. */
  async dropBetweenMembers(): Promise<void> {
    await this.#etcdHost.loadRules(`
      table ip members {
        chain drops {
          type filter hook input priority 0;
          tcp dport ${peerPort} drop
          tcp sport ${peerPort} drop
        }
      }`);
  }

  async letThroughBetweenMembers(): Promise<void> {
    await this.#etcdHost.loadRules('delete table ip members');
  }

  async stop(): Promise<void> {
    await Promise.all(this.allocators.map(({ client }) => client.close()));
    for (const process of this.#processes) process.kill('SIGKILL');
    await Promise.all(this.#processes.map(({ exited }) => exited));
    await Promise.all([...this.#pairWriter.values()].map((forwarder) => forwarder.close()));
    await this.#network.remove();
    await removeDirectory(this.#directory);
  }

  async #startEtcd(numbers: readonly number[]): Promise<void> {
    const program = await ensureProgram('etcd');
    const peer = (member: number) => `http://10.99.0.${member}:${peerPort}`;
    for (const member of members) {
      const urls = numbers.map((index) => `http://10.99.${index}.${member}:2379`);
      this.#start(this.#etcdHost, `etcd-${member}`, program, [
        ...[`--name=m${member}`, `--data-dir=${path.join(this.#directory, `m${member}`)}`],
        ...[`--listen-client-urls=${urls.join(',')}`, `--advertise-client-urls=${urls.join(',')}`],
        ...[`--listen-peer-urls=${peer(member)}`, `--initial-advertise-peer-urls=${peer(member)}`],
        `--initial-cluster=${members.map((each) => `m${each}=${peer(each)}`).join(',')}`,
        ...['--heartbeat-interval=50', '--election-timeout=500', '--log-level=warn'],
        '--unsafe-no-fsync',
      ]);
    }
  }

  /** Retries until etcd is up. */
  #createOperator(): Promise<string> {
    const words = [main, 'ipam', 'init', '--ledger', endpointsOf(0), '--name', 'test'];
    return waitFor('an operator', async () => {
      const { code, stdout } = await this.#allocatorHost.attempt(process.execPath, words);
      return code === 0 && stdout.trim();
    });
  }

  async #openForwarders(numbers: readonly number[]): Promise<void> {
    const ports = numbers.flatMap((index) => [apiPort(index), healthPort(index)]);
    const words = ports.map((port) => `${this.#socket(port)}=${port}`);
    this.#start(this.#allocatorHost, 'forwarders', process.execPath, [pairWriter, ...words]);
    for (const port of ports) {
      const from = { host: '127.0.0.1', port: 0 };
      this.#pairWriter.set(port, await openForwarder(from, { path: this.#socket(port) }));
    }
  }

  async #startAllocator(index: number, token: string): Promise<Allocator> {
    const name = `allocator-${index}`;
    const started = this.#start(this.#allocatorHost, name, process.execPath, [
      ...[main, 'ipam', 'serve', '--ledger', endpointsOf(index)],
      ...['--listen-port', String(apiPort(index)), '--metrics-port', String(healthPort(index))],
      ...['--rate-limit-per-second', '100000', '--rate-limit-burst', '100000'],
    ]);
    const url = (port: number) => `http://127.0.0.1:${this.#pairWriter.get(port)?.port ?? 0}`;
    return {
      name: `allocator${index}`,
      network: `10.99.${index}.0/24`,
      cluster: `cluster-${index}`,
      process: started,
      client: clientOf(url(apiPort(index)), token, 10_000),
      logFile: this.#log(name),
      async readiness() {
        const answer = await request(`${url(healthPort(index))}/readyz`);
        return { isReady: answer.statusCode === 200, text: await answer.body.text() };
      },
    };
  }

  #start(host: Host, name: string, program: string, args: readonly string[]): ServiceProcess {
    const words = [`--net=${host.path}`, program, ...args];
    const started = startServiceProcess('nsenter', words, { logFile: this.#log(name) });
    this.#processes.push(started);
    return started;
  }

  #log(name: string): string {
    return path.join(this.#directory, `${name}.log`);
  }

  #socket(port: number): string {
    return path.join(this.#directory, `${port}.sock`);
  }
}

/** Waits until an allocator reports that it is ready. Fails at once if its process has ended. */
export async function isReady(allocator: Allocator): Promise<void> {
  await waitFor(`${allocator.name} to be ready`, async () => {
    if (!allocator.process.isRunning()) {
      throw new HopelessError(`${allocator.name} ended:\n${logTail(allocator.logFile)}`);
    }
    return (await allocator.readiness()).isReady;
  });
}

const apiPort = (index: number) => 8500 + index;
const healthPort = (index: number) => 9500 + index;
const addressesOfEtcd = (index: number) => members.map((member) => `10.99.${index}.${member}/24`);
const endpointsOf = (index: number) =>
  `etcd:${members.map((member) => `http://10.99.${index}.${member}:2379`).join(',')}`;
