import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { descendantsOf } from '../process-tree.ts';
import { logTail, type ServiceProcess } from '../service-process.ts';
import { HopelessError, waitFor } from '../wait-for.ts';
import { machinesNetwork, podNetwork } from './layout.ts';
import type { Machine } from './machine.ts';
import type { RealCluster } from './real-cluster.ts';

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
/** Default gateway of the nodes; the active gateway has it. */
const nodesDefaultRoute = '10.213.0.254';
export const agentSecret = Buffer.from('the secret of the gateways').toString('base64');
/** Addresses of the external network for Services. */
export const servedAddresses = '192.0.2.64/28';
const clientAddress = '192.0.2.100';

const metricsUrl = 'http://127.0.0.1:15214/metrics';

/** Advert interval of a gateway. */
export const advertMs = 500;

/**
 * Two gateways with agent and keepalived between the nodes' network and an external one, and a client in the
 * external network.
 */
export class Gateways {
  readonly gateways: readonly Gateway[];
  readonly client: Machine;

  private constructor(gateways: readonly Gateway[], client: Machine) {
    this.gateways = gateways;
    this.client = client;
  }

  static async start(cluster: RealCluster): Promise<Gateways> {
    await cluster.addSwitch('outside');
    const client = await cluster.addMachine('client');
    await cluster.plug(client, 'outside', `${clientAddress}/24`);
    const gateways = [1, 2].map((number) => new Gateway(number, cluster));
    await Promise.all(gateways.map((gateway) => gateway.boot()));
    const all = new Gateways(gateways, client);
    for (const { machine } of cluster.nodes) await all.lead(machine);
    return all;
  }

  /** Makes the gateways a node's default route; to be repeated after a power cut. */
  async lead(node: Machine): Promise<void> {
    await node.run('ip', 'route', 'replace', 'default', 'via', nodesDefaultRoute);
  }

  /** The gateway with the nodes' default route and the served addresses, if there is exactly one. */
  async active(): Promise<Gateway | undefined> {
    const areActive = await Promise.all(this.gateways.map((gateway) => gateway.isActive()));
    const found = this.gateways.filter((_, index) => areActive[index]);
    return found.length === 1 ? found[0] : undefined;
  }

  /** What the external client gets from there, undefined on failure. */
  async ask(url: string): Promise<string | undefined> {
    const words = ['-sS', '--max-time', '120', url];
    const { code, stdout } = await this.client.attempt('curl', words);
    return code === 0 ? stdout : undefined;
  }
}

/** A gateway with its agent, in its own namespaces. */
export class Gateway {
  readonly name: string;
  /** URL of its agent for the controller. */
  readonly url: string;
  readonly #number: number;
  readonly #cluster: RealCluster;
  #machine: Machine | undefined;
  #agent: ServiceProcess | undefined;

  constructor(number: number, cluster: RealCluster) {
    this.name = `g${number}`;
    this.url = `http://10.213.0.${20 + number}:15213`;
    this.#number = number;
    this.#cluster = cluster;
  }

  get machine(): Machine {
    if (this.#machine === undefined) throw new Error(`${this.name} has no power`);
    return this.#machine;
  }

  /** Starts it, or restarts it with the content of its disk. */
  async boot(): Promise<void> {
    const machine = await this.#cluster.addMachine(this.name);
    this.#machine = machine;
    const plug = (network: string, address: string, kind: number) =>
      this.#cluster.plug(machine, network, address, `02:14:00:00:0${kind}:0${this.#number}`);
    await plug('outside', `192.0.2.${10 + this.#number}/24`, 1);
    await plug('machines', `10.213.0.${20 + this.#number}/24`, 2);
    await machine.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    for (const { place } of this.#cluster.nodes) {
      await machine.run('ip', 'route', 'add', place.pods, 'via', place.address);
    }
    await this.#startAgent();
  }

  /** Everything on it ends at once; its disk stays. */
  async cutPower(): Promise<void> {
    await this.machine.cutPower();
    this.#machine = undefined;
    this.#agent = undefined;
  }

  /** Restarts the agent gracefully; keepalived keeps running. */
  async restartAgent(): Promise<void> {
    // The first process below the one that entered the machine, which does not forward signals.
    const [agent] = this.#agent === undefined ? [] : await descendantsOf(this.#agent.pid);
    if (agent !== undefined) process.kill(agent, 'SIGTERM');
    await this.#agent?.exited;
    await this.#startAgent();
  }

  async isActive(): Promise<boolean> {
    if (this.#machine === undefined) return false;
    return (await this.machine.run('ip', '-brief', 'address')).includes(`${nodesDefaultRoute}/`);
  }

  /** Whether a controller is connected to its agent. */
  async isLed(): Promise<boolean> {
    return /^causeway_agent_led 1$/m.test(await this.machine.run('curl', '-sSf', metricsUrl));
  }

  async #startAgent(): Promise<void> {
    const config = await writeSettings(this.#cluster, this.name, this.#number);
    const log = `agent-${this.name}`;
    const words = [main, 'agent', 'run', '--config', config];
    const agent = this.machine.start(log, process.execPath, words);
    this.#agent = agent;
    await waitFor(`the agent of ${this.name}`, async () => {
      if (!agent.isRunning()) throw new HopelessError(logTail(this.#cluster.files.log(log)));
      const health = ['-sS', '--max-time', '5', 'http://127.0.0.1:15214/healthz'];
      return (await this.machine.attempt('curl', health)).code === 0;
    });
  }
}

async function writeSettings(cluster: RealCluster, name: string, number: number): Promise<string> {
  const directory = path.join(cluster.files.root, name);
  await fs.mkdir(directory, { recursive: true });
  await fs.writeFile(path.join(directory, 'secrets'), agentSecret);
  const other = 3 - number;
  const config = {
    name,
    stateDirectory: path.join(directory, 'state'),
    runtimeDirectory: path.join(directory, 'run'),
    secretsFile: path.join(directory, 'secrets'),
    log: { level: 'info', format: 'text' },
    nftables: { localSources: [machinesNetwork, podNetwork] },
    // Long enough that a busy machine is not taken for a failed gateway.
    addresses: { start: 'spawn', priority: 250 - number, advertMs },
    external: {
      interface: 'outside',
      virtualRouterId: 51,
      address4: `192.0.2.${10 + number}`,
      peers4: [`192.0.2.${10 + other}`],
    },
    internal: {
      interface: 'machines',
      virtualRouterId: 52,
      routes: [nodesDefaultRoute],
      address4: `10.213.0.${20 + number}`,
      peers4: [`10.213.0.${20 + other}`],
    },
  };
  const file = path.join(directory, 'agent.yaml');
  await fs.writeFile(file, stringify(config));
  return file;
}
