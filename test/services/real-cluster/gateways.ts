import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { logTail } from '../service-process.ts';
import { HopelessError, waitFor } from '../wait-for.ts';
import { machinesNetwork, podNetwork } from './layout.ts';
import type { Machine } from './machine.ts';
import type { RealCluster } from './real-cluster.ts';

const main = path.join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');
/** Where nodes send what is not for them; the gateway that is master has it. */
const nodesDefaultRoute = '10.213.0.254';
export const agentSecret = Buffer.from('the secret of the gateways').toString('base64');
/** Addresses of the outer network that Services may have. */
export const servedAddresses = '192.0.2.64/28';
const clientAddress = '192.0.2.100';

export interface Gateway {
  readonly name: string;
  /** Where the controller finds its agent. */
  readonly url: string;
  readonly machine: Machine;
}

/**
 * Two gateways with agent and keepalived between the nodes' network and an outer one, and a client that
 * has nothing but the outer one.
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
    const gateways = await Promise.all([1, 2].map((number) => startGateway(cluster, number)));
    for (const { machine } of cluster.nodes) {
      await machine.run('ip', 'route', 'replace', 'default', 'via', nodesDefaultRoute);
    }
    return new Gateways(gateways, client);
  }

  /** What the client outside gets from there, undefined when it gets nothing. */
  async ask(url: string): Promise<string | undefined> {
    const words = ['-sS', '--max-time', '120', url];
    const { code, stdout } = await this.client.attempt('curl', words);
    return code === 0 ? stdout : undefined;
  }
}

async function startGateway(cluster: RealCluster, number: number): Promise<Gateway> {
  const name = `g${number}`;
  const machine = await cluster.addMachine(name);
  await cluster.plug(machine, 'outside', `192.0.2.${10 + number}/24`);
  await cluster.plug(machine, 'machines', `10.213.0.${20 + number}/24`);
  await machine.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
  for (const { place } of cluster.nodes) {
    await machine.run('ip', 'route', 'add', place.pods, 'via', place.address);
  }
  const config = await writeSettings(cluster, name, number);
  const log = `agent-${name}`;
  const agent = machine.start(log, process.execPath, [main, 'agent', 'run', '--config', config]);
  const url = `http://10.213.0.${20 + number}:15213`;
  await waitFor(`the agent of ${name}`, async () => {
    if (!agent.isRunning()) throw new HopelessError(logTail(cluster.files.log(log)));
    const words = ['-sS', '--max-time', '5', 'http://127.0.0.1:15214/healthz'];
    return (await machine.attempt('curl', words)).code === 0;
  });
  return { name, url, machine };
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
    // So rare that a machine that is busy for a moment is not taken for a dead gateway.
    addresses: { start: 'spawn', priority: 250 - number, advertMs: 500 },
    external: {
      ...{ interface: 'outside', virtualRouterId: 51 },
      ...{ address4: `192.0.2.${10 + number}`, peers4: [`192.0.2.${10 + other}`] },
    },
    internal: {
      ...{ interface: 'machines', virtualRouterId: 52, routes: [nodesDefaultRoute] },
      ...{ address4: `10.213.0.${20 + number}`, peers4: [`10.213.0.${20 + other}`] },
    },
  };
  const file = path.join(directory, 'agent.yaml');
  await fs.writeFile(file, stringify(config));
  return file;
}
