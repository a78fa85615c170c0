import fs from 'node:fs/promises';
import path from 'node:path';
import { SignJWT } from 'jose';
import { Agent, request } from 'undici';
import { stringify } from 'yaml';
import { HttpAgentClient } from '../../../packages/causeway/src/gateway/protocol/agent-client.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import {
  logTail,
  startServiceProcess,
  type ServiceProcess,
} from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import { TestNetwork } from './network.ts';

export type GatewayName = 'g1' | 'g2';

/** First port of every server in these networks. */
export const serverPort = 8080;
const serverPorts = 8;
export const secret = Buffer.from('the secret of the kernel tests');
/** Servers on the nodes themselves, and in pods behind them. */
export const servers = {
  n1: { v4: '10.78.0.21', v6: '2001:db8:78::21' },
  n2: { v4: '10.78.0.22', v6: '2001:db8:78::22' },
  p1: { v4: '10.79.1.2', v6: '2001:db8:79:1::2' },
  p2: { v4: '10.79.2.2', v6: '2001:db8:79:2::2' },
} as const;

const sourceRoot = path.join(import.meta.dirname, '..', '..', '..');
const nodeProgram = process.execPath;
const { signal } = new AbortController();

/**
 * A client, two gateways, two nodes with a pod each. The gateways are in the external network with the client
 * and in the internal one with the nodes; the nodes' default route moves between the gateways.
 */
export class Topology {
  readonly network: TestNetwork;
  readonly directory: string;
  readonly agents = new Map<GatewayName, ServiceProcess>();
  readonly #clients = new Map<GatewayName, HttpAgentClient>();
  readonly #processes: ServiceProcess[] = [];
  #clientCount = 0;
  /** Last settings of the agents. */
  #changes: AgentChanges = {};

  private constructor(network: TestNetwork, directory: string) {
    this.network = network;
    this.directory = directory;
  }

  static async start(): Promise<Topology> {
    const network = await TestNetwork.create(['external', 'internal']);
    const topology = new Topology(network, await scratchDirectory('gateway'));
    try {
      await topology.#build();
      return topology;
    } catch (error) {
      await topology.stop();
      throw error;
    }
  }

  /** Starts the agents on both gateways and waits until one of them is active. */
  async startAgents(changes: AgentChanges = {}): Promise<void> {
    this.#changes = changes;
    await Promise.all(gateways.map((name) => this.startAgent(name)));
    await waitFor('an active gateway', () => this.active());
  }

  /** The words precede the agent's own command, to run it confined. */
  async startAgent(
    name: GatewayName,
    changes: AgentChanges = this.#changes,
    confinement: readonly string[] = [],
  ): Promise<void> {
    const config = await this.writeConfig(name, changes);
    const main = path.join(sourceRoot, 'packages/causeway/src/cli/main.ts');
    const process = this.startProgram(name, `agent-${name}`, [
      ...[...confinement, nodeProgram, main, 'agent', 'run', '--config', config],
    ]);
    this.agents.set(name, process);
    const client = this.client(name);
    await waitFor(`the agent of ${name}`, () => {
      if (!process.isRunning()) throw new HopelessError(logTail(this.log(`agent-${name}`)));
      return client.status(signal);
    });
  }

  /** Runs a command of `causeway agent` like an operator on the gateway. */
  async command(name: GatewayName, ...words: string[]): Promise<string> {
    const main = path.join(sourceRoot, 'packages/causeway/src/cli/main.ts');
    const config = path.join(this.directory, name, 'agent.yaml');
    const [verb = '', ...rest] = words;
    const command = [nodeProgram, main, 'agent', verb, '--config', config, ...rest];
    return this.network.run(name, command);
  }

  client(name: GatewayName): HttpAgentClient {
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = new HttpAgentClient({
      url: 'http://localhost',
      socketPath: path.join(this.#runtimeDirectory(name), 'api.sock'),
      name,
      secret,
      clock: systemClock,
      limitMs: 20_000,
    });
    this.#clients.set(name, client);
    return client;
  }

  /** The only active gateway, undefined while there is none or more than one. */
  async active(): Promise<GatewayName | undefined> {
    const states = await Promise.all(
      gateways.map(async (name) => {
        const status = await this.client(name)
          .status(signal)
          .catch(() => undefined);
        return status?.announcer.role === 'active' ? name : undefined;
      }),
    );
    const activeNames = states.filter((name) => name !== undefined);
    return activeNames.length === 1 ? activeNames[0] : undefined;
  }

  /** Sends the same update to both gateways. */
  async push(lines: Iterable<string>): Promise<void> {
    const all = [...lines];
    await Promise.all(gateways.map((name) => this.client(name).push(all, signal)));
  }

  /** Sends a configuration like ch-k8s-lbaas's controller, and returns the status. */
  async applyV1(name: GatewayName, config: object): Promise<number> {
    const token = await new SignJWT({ 'load-balancer-config': config })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setExpirationTime('15s')
      .sign(secret);
    const dispatcher = new Agent({ connect: { socketPath: this.runtimeFile(name, 'api.sock') } });
    try {
      const response = await request('http://localhost/v1/apply', {
        method: 'POST',
        headers: { 'content-type': 'application/jwt' },
        body: token,
        dispatcher,
      });
      await response.body.dump();
      return response.statusCode;
    } finally {
      await dispatcher.close();
    }
  }

  /** Runs a client on a machine and returns its output. */
  async ask<T>(machine: string, ...args: (string | number)[]): Promise<T> {
    const script = path.join(import.meta.dirname, 'client.ts');
    const command = [process.execPath, script, ...args.map(String)];
    return JSON.parse(await this.network.run(machine, command)) as T;
  }

  /** Starts a client that keeps running, and waits until all its transfers are under way. */
  async startClient(machine: string, ...args: (string | number)[]): Promise<RunningClient> {
    this.#clientCount += 1;
    const name = `client-${this.#clientCount}`;
    const script = path.join(import.meta.dirname, 'client.ts');
    const child = this.start(machine, name, [script, ...args.map(String)]);
    const read = () => fs.readFile(this.log(name), 'utf8');
    await waitFor(`${args.join(' ')} to flow`, async () => (await read()).includes('flowing'));
    return {
      stop: () => child.kill('SIGTERM'),
      says: (text) => waitFor(`${name} to say ${text}`, async () => (await read()).includes(text)),
      async result<T>() {
        await child.exited;
        return JSON.parse((await read()).trim().split('\n').at(-1) ?? '') as T;
      },
    };
  }

  /** Starts a program of the tests on a machine, under Node. */
  start(machine: string, name: string, args: readonly string[]): ServiceProcess {
    return this.startProgram(machine, name, [nodeProgram, ...args]);
  }

  startProgram(machine: string, name: string, command: readonly string[]): ServiceProcess {
    const child = startServiceProcess(
      'ip',
      ['netns', 'exec', this.network.namespace(machine), ...command],
      { logFile: this.log(name) },
    );
    this.#processes.push(child);
    return child;
  }

  log(name: string): string {
    return path.join(this.directory, `${name}.log`);
  }

  runtimeFile(name: GatewayName, file: string): string {
    return path.join(this.#runtimeDirectory(name), file);
  }

  stateFile(name: GatewayName, file: string): string {
    return path.join(this.directory, name, 'state', file);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.values()) await client.close();
    await Promise.all(this.#processes.map((child) => child.stop()));
    await this.network.remove();
    await removeDirectory(this.directory);
  }

  async writeConfig(name: GatewayName, changes: AgentChanges): Promise<string> {
    const directory = path.join(this.directory, name);
    await fs.mkdir(directory, { recursive: true });
    await fs.writeFile(path.join(directory, 'secrets'), secret.toString('base64'));
    const other = name === 'g1' ? 'g2' : 'g1';
    const network = (link: string, subnet: number, routerId: number, routes: string[]) => ({
      interface: link,
      virtualRouterId: routerId,
      address4: `10.${subnet}.0.${hostOf[name]}`,
      peers4: [`10.${subnet}.0.${hostOf[other]}`],
      address6: `2001:db8:${subnet}::${hostOf[name]}`,
      peers6: [`2001:db8:${subnet}::${hostOf[other]}`],
      routes,
    });
    const config = {
      name,
      stateDirectory: path.join(directory, 'state'),
      runtimeDirectory: this.#runtimeDirectory(name),
      secretsFile: path.join(directory, 'secrets'),
      v1: { secretsFile: path.join(directory, 'secrets'), masquerade: 'needed' },
      log: { level: 'debug', format: 'text' },
      nftables: {
        localSources: ['10.78.0.0/24', '10.79.0.0/16', '2001:db8:78::/64', '2001:db8:79::/48'],
      },
      external: network('ext', 77, 51, []),
      internal: network('int', 78, 52, ['10.78.0.1', '2001:db8:78::1']),
      probe: { intervalMs: 0 },
      ...changes,
      addresses: {
        start: 'spawn',
        priority: name === 'g1' ? 250 : 240,
        // Long enough that a busy machine is not taken for a failed gateway.
        advertMs: 300,
        ...changes.addresses,
      },
    };
    const file = path.join(directory, 'agent.yaml');
    await fs.writeFile(file, stringify(config));
    return file;
  }

  #runtimeDirectory(name: GatewayName): string {
    return path.join(this.directory, name, 'run');
  }

  async #build(): Promise<void> {
    const { network } = this;
    for (const machine of ['c', ...gateways, 'n1', 'n2', 'p1', 'p2']) {
      await network.addMachine(machine);
    }
    await network.plug('c', 'ext', 'external', ['10.77.0.100/16', '2001:db8:77::100/64']);
    for (const name of gateways) await this.#plugGateway(name);
    for (const [node, pod, number] of [
      ['n1', 'p1', 1],
      ['n2', 'p2', 2],
    ] as const) {
      await this.#buildNode(node, pod, number);
    }
    await this.#routePods('n1', 2);
    await this.#routePods('n2', 1);
    await Promise.all(Object.keys(servers).map((machine) => this.#startServer(machine)));
  }

  /** Removes everything on the gateway at once, like a power cut. */
  async cutPower(name: GatewayName): Promise<void> {
    // Both cables at once, so that no process on the gateway can send a last packet.
    const unplug = ['ext', 'int'].map((link) => `link set ${name}-${link} down\n`).join('');
    await this.network.run('switch', ['ip', '-batch', '-'], unplug);
    await this.network.killAll(name);
  }

  /** Stops the agent like a service manager. */
  async stopAgent(name: GatewayName): Promise<void> {
    await this.agents.get(name)?.stop();
  }

  /** Kills the agent; keepalived and the kernel keep running. */
  async killAgent(name: GatewayName): Promise<void> {
    const agent = this.agents.get(name);
    agent?.kill('SIGKILL');
    await agent?.exited;
  }

  /**
   * The state of a gateway's kernel and keepalived, as text that is the same for the same configuration. Elements that
   * expire depend on connections.
   */
  async describe(name: GatewayName): Promise<string> {
    const rules = await this.network.run(name, ['nft', '-n', 'list', 'table', 'inet', 'causeway']);
    const words = rules
      .replaceAll(/counter packets \d+ bytes \d+/g, 'counter')
      .split(/[,{}\n]/)
      .map((word) => word.trim())
      .filter((word) => word !== '' && word !== 'elements =' && !word.startsWith('#'))
      .filter((word) => !word.includes(' expires '));
    const keepalived = await fs.readFile(this.runtimeFile(name, 'keepalived.conf'), 'utf8');
    return [...words.sort(), keepalived].join('\n');
  }

  /** The gateway comes back with empty tables and the content of its disk. */
  async restorePower(name: GatewayName): Promise<void> {
    await this.restoreMachine(name);
    await this.startAgent(name);
  }

  /** The same, without starting its agent. */
  async restoreMachine(name: GatewayName): Promise<void> {
    // Only now, because removing a namespace holds a lock that the other gateway needs as well.
    await this.network.removeMachine(name);
    await this.network.addMachine(name);
    await this.#plugGateway(name);
    await removeDirectory(this.#runtimeDirectory(name));
  }

  async #plugGateway(name: GatewayName): Promise<void> {
    const host = hostOf[name];
    const { network } = this;
    const { v4, v6 } = externalAddressesOf(name);
    await network.plug(name, 'ext', 'external', [`${v4}/16`, `${v6}/64`]);
    await network.plug(name, 'int', 'internal', [`10.78.0.${host}/24`, `2001:db8:78::${host}/64`]);
    await this.#routePods(name);
  }

  async #buildNode(node: string, pod: string, number: number): Promise<void> {
    const { network } = this;
    await network.plug(node, 'int', 'internal', [
      `10.78.0.2${number}/24`,
      `2001:db8:78::2${number}/64`,
    ]);
    await network.sysctl(node, 'net.ipv4.ip_forward', 1);
    await network.sysctl(node, 'net.ipv6.conf.all.forwarding', 1);
    await network.ip(node, 'route add default via 10.78.0.1');
    await network.ip(node, '-6 route add default via 2001:db8:78::1');
    await network.cable(
      {
        machine: node,
        link: 'pod',
        addresses: [`10.79.${number}.1/24`, `2001:db8:79:${number}::1/64`],
      },
      {
        machine: pod,
        link: 'eth0',
        addresses: [`10.79.${number}.2/24`, `2001:db8:79:${number}::2/64`],
      },
    );
    await network.ip(pod, `route add default via 10.79.${number}.1`);
    await network.ip(pod, `-6 route add default via 2001:db8:79:${number}::1`);
  }

  async #routePods(machine: string, only?: number): Promise<void> {
    for (const number of only === undefined ? [1, 2] : [only]) {
      await this.network.ip(machine, `route add 10.79.${number}.0/24 via 10.78.0.2${number}`);
      await this.network.ip(
        machine,
        `-6 route add 2001:db8:79:${number}::/64 via 2001:db8:78::2${number}`,
      );
    }
  }

  async #startServer(machine: string): Promise<void> {
    const script = path.join(import.meta.dirname, 'peer.ts');
    const name = `server-${machine}`;
    this.start(machine, name, [script, machine, String(serverPort), String(serverPorts)]);
    await waitFor(name, async () => (await fs.readFile(this.log(name), 'utf8')).includes('ready'));
  }
}

export const gateways: readonly GatewayName[] = ['g1', 'g2'];
const hostOf = { g1: 11, g2: 12 } as const;

/** A gateway's own addresses in the external network. */
export function externalAddressesOf(name: GatewayName): { v4: string; v6: string } {
  return { v4: `10.77.0.${hostOf[name]}`, v6: `2001:db8:77::${hostOf[name]}` };
}

export interface RunningClient {
  stop(): void;
  /** Waits until it has printed this text. */
  says(text: string): Promise<unknown>;
  /** Its output at its end. */
  result<T>(): Promise<T>;
}

/** Changes of an agent's settings for a test. */
export interface AgentChanges {
  readonly addresses?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}
