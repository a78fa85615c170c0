import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import { parsePrefix as prefix } from '../../../packages/base/src/address/prefix.ts';
import { replacement } from '../../../packages/nftables/src/plan/diff.ts';
import { buildRuleset } from '../../../packages/nftables/src/compile/layout.ts';
import { NetlinkDriver } from '../../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import type {
  LayoutInput,
  LayoutSettings,
  VirtualService,
} from '../../../packages/nftables/src/compile/virtual-service.ts';
import { TestNetwork, type Host } from '../../services/namespaces.ts';

/** A client's request: what to send to an address. */
export interface Request {
  readonly protocol?: 'TCP' | 'UDP';
  readonly address: string;
  readonly port: number;
  readonly localPort?: number;
  /** How long to wait once no more data comes; very long by default. */
  readonly timeoutMs?: number;
  /**
   * `who` by default; or `download CHUNKS`, `upload CHUNKS`. At the signal SIGUSR2, the client sends bytes
   * and closes after `close BYTES`, and the server does so after `closed BYTES`.
   */
  readonly say?: string;
}

export interface Answer {
  readonly text: string;
  readonly bytes: number;
  readonly ended: number;
  readonly error?: string;
}

interface RunningRequests {
  readonly answers: Promise<Answer[]>;
  readonly kill: () => void;
  /** For requests with `close`. */
  readonly close: () => void;
}

export const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 0x5eed,
  localSources: [prefix('10.78.0.0/24'), prefix('fd78::/64')],
  hairpin: false,
  resumeConnections: true,
};

export const virtual4 = address('10.77.0.50');
export const virtual6 = address('fd77::50');
const programs = path.join(import.meta.dirname, 'programs');

/**
 * A client, gateways and backends: clients and gateways on the network `ext` (10.77.0.0/24, fd77::/64),
 * gateways and backends on `int` (10.78.0.0/24, fd78::/64). The backends' default route is 10.78.0.1, which a
 * gateway takes together with the virtual addresses.
 */
export class Lab {
  readonly network: TestNetwork;
  readonly client: Host;
  readonly #drivers = new Map<Host, NetlinkDriver>();

  private constructor(network: TestNetwork, client: Host) {
    this.network = network;
    this.client = client;
  }

  static async create(): Promise<Lab> {
    const network = await TestNetwork.create();
    await network.segment('ext');
    await network.segment('int');
    const client = await network.host('client');
    await network.join(client, 'ext', '10.77.0.100/24', 'fd77::100/64');
    // Outside the ports that tests choose.
    await client.setting('net.ipv4.ip_local_port_range', '10000 39999');
    return new Lab(network, client);
  }

  async gateway(number: number): Promise<Host> {
    const host = await this.network.host(`gateway${number}`);
    await host.setting('net.ipv4.ip_forward', 1);
    await host.setting('net.ipv6.conf.all.forwarding', 1);
    await host.setting('net.netfilter.nf_conntrack_tcp_be_liberal', 1);
    await host.setting('net.netfilter.nf_conntrack_tcp_timeout_close', 1);
    await this.network.join(host, 'ext', `10.77.0.1${number}/24`, `fd77::1${number}/64`);
    await this.network.join(host, 'int', `10.78.0.1${number}/24`, `fd78::1${number}/64`);
    const driver = await NetlinkDriver.open({ table: settings.table, networkNamespace: host.path });
    this.#drivers.set(host, driver);
    return host;
  }

  /** Replaces the gateway's ruleset. */
  async program(gateway: Host, input: Partial<LayoutInput>): Promise<void> {
    const ruleset = buildRuleset({ settings, services: [], ...input });
    await this.driver(gateway).apply(replacement(ruleset));
  }

  driver(gateway: Host): NetlinkDriver {
    const driver = this.#drivers.get(gateway);
    if (driver === undefined) throw new Error(`${gateway.namespace} is not a gateway`);
    return driver;
  }

  /** A backend with a server on these ports, named by its number. */
  async backend(number: number, ...ports: number[]): Promise<Host> {
    const host = await this.network.host(`backend${number}`);
    await this.network.join(host, 'int', `10.78.0.2${number}/24`, `fd78::2${number}/64`);
    await host.ip('route', 'add', 'default', 'via', '10.78.0.1');
    await host.ip('-6', 'route', 'add', 'default', 'via', 'fd78::1');
    await this.serve(host, `backend${number}`, ...ports);
    return host;
  }

  async serve(host: Host, name: string, ...ports: number[]): Promise<ChildProcess> {
    const args = [path.join(programs, 'server.ts'), name, '::', ...ports.map(String)];
    const child = host.start(process.execPath, ...args);
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once('data', () => resolve());
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
    return child;
  }

  /**
   * Gives the gateway the virtual addresses and the backends' default route, and announces them to the
   * neighbors.
   */
  async take(gateway: Host, ...more: string[]): Promise<void> {
    const external = ['10.77.0.50/32', 'fd77::50/128', ...more];
    const internal = ['10.78.0.1/32', 'fd78::1/128'];
    for (const [device, list] of [
      ['ext', external],
      ['int', internal],
    ] as const) {
      for (const item of list) {
        const flags = item.includes(':') ? ['nodad'] : [];
        await gateway.ip('address', 'replace', item, 'dev', device, ...flags);
      }
    }
    await gateway.attempt('arping', ['-q', '-U', '-c', '1', '-w', '1', '-I', 'ext', virtual4]);
    await gateway.attempt('arping', ['-q', '-U', '-c', '1', '-w', '1', '-I', 'int', '10.78.0.1']);
  }

  /** Removes the addresses from the gateway, as if it had lost its links. */
  async yield(gateway: Host): Promise<void> {
    await gateway.ip('address', 'del', '10.77.0.50/32', 'dev', 'ext');
    await gateway.ip('address', 'del', '10.78.0.1/32', 'dev', 'int');
    await gateway.ip('-6', 'address', 'del', 'fd77::50/128', 'dev', 'ext');
    await gateway.ip('-6', 'address', 'del', 'fd78::1/128', 'dev', 'int');
  }

  async ask(host: Host, ...requests: Request[]): Promise<Answer[]> {
    const client = path.join(programs, 'client.ts');
    const output = await host.run(process.execPath, client, JSON.stringify(requests));
    return JSON.parse(output) as Answer[];
  }

  /**
   * Starts a client and resolves once all its connections are open; `answers` follow at its end. If it is
   * killed, its machine resets incoming packets.
   */
  async begin(host: Host, ...requests: Request[]): Promise<RunningRequests> {
    const child = host.start(
      process.execPath,
      path.join(programs, 'client.ts'),
      JSON.stringify(requests),
    );
    let output = '';
    let connected = 0;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
    const answers = new Promise<Answer[]>((resolve) => {
      child.once('close', () => resolve(JSON.parse(output || '[]') as Answer[]));
    });
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the client ended before it was connected')));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        connected += text.split('connected').length - 1;
        if (connected >= requests.length) resolve();
      });
    });
    return {
      answers,
      kill: () => child.kill('SIGKILL'),
      close: () => child.kill('SIGUSR2'),
    };
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#drivers.values()].map((driver) => driver.close()));
    await this.network.remove();
  }
}

export function backends(...numbers: number[]): VirtualService['dispatch'] {
  return {
    kind: 'slots',
    backends: numbers.map((n) => ({ address: address(`10.78.0.2${n}`), port: port(8080) })),
  };
}

export function backends6(...numbers: number[]): VirtualService['dispatch'] {
  return {
    kind: 'slots',
    backends: numbers.map((n) => ({ address: address(`fd78::2${n}`), port: port(8080) })),
  };
}

export function service(overrides: Partial<VirtualService> = {}): VirtualService {
  return {
    address: virtual4,
    protocol: 'TCP',
    port: port(80),
    dispatch: backends(1, 2),
    ...overrides,
  };
}

/** The name of the backend that answered, and the client address that it saw. */
export function whoAnswered({ text, error }: Answer): { backend: string; client: string } {
  const [backend = '', client = ''] = text.split(' ');
  return { backend: error ?? backend, client: client.replace('::ffff:', '') };
}
