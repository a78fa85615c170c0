import fs from 'node:fs/promises';
import path from 'node:path';
import { AgentClient } from '../agent/client/agent-client.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Jobs } from './child-process.ts';
import type { Namespaces } from './namespaces.ts';
import { gatewayNames, plan } from './plan.ts';
import { forwardTo, type Forwarder } from './tcp-forwarder.ts';

export interface GatewayPlace {
  readonly name: string;
  /** Its own address in the tenant's network, which the cloud has given it. */
  readonly address: string;
  /** The id of its Neutron port there. */
  readonly port: string;
}

export interface PlaygroundGateway {
  readonly name: string;
  /** Where its agent can be called from this machine. */
  readonly url: string;
  readonly netns: string;
  readonly exec: readonly string[];
}

export interface GatewaysOptions {
  readonly namespaces: Namespaces;
  readonly jobs: Jobs;
  readonly directory: string;
  readonly places: readonly GatewayPlace[];
  /** The secret that agents and controller share. */
  readonly secret: Buffer;
  readonly clock: Clock;
}

/** Two machines with real nftables and keepalived, each with its agent. */
export class PlaygroundGateways {
  readonly #options: GatewaysOptions;
  readonly #forwarders: Forwarder[] = [];

  constructor(options: GatewaysOptions) {
    this.#options = options;
  }

  async start(signal: AbortSignal): Promise<PlaygroundGateway[]> {
    const { places } = this.#options;
    return Promise.all(places.map((_, index) => this.#startOne(index, signal)));
  }

  /** The gateway that holds the addresses, once one does. */
  async master(signal: AbortSignal): Promise<string> {
    const [first] = gatewayNames;
    return this.#options.jobs.until(
      first,
      async () => {
        const states = await Promise.all(
          gatewayNames.map(async (name) => {
            const client = this.#client(name);
            try {
              const { vrrp } = await client.status(signal);
              return vrrp.state === 'MASTER' ? name : undefined;
            } finally {
              await client.close();
            }
          }),
        );
        return states.find((name) => name !== undefined);
      },
      signal,
    );
  }

  #client(name: string): AgentClient {
    const { secret, clock } = this.#options;
    const socketPath = path.join(this.#runtimeDirectory(name), 'api.sock');
    return new AgentClient({
      ...{ url: 'http://localhost', name, secret, clock, limitMs: 5_000, socketPath },
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#forwarders.map((forwarder) => forwarder.close()));
  }

  async #startOne(index: number, signal: AbortSignal): Promise<PlaygroundGateway> {
    const { namespaces, jobs, places } = this.#options;
    const name = gatewayNames[index] ?? '';
    const place = places[index];
    if (place === undefined) throw new Error(`the gateway ${name} has no place`);
    await this.#plug(name, place.address, plan.nodes.gateways[index] ?? '');
    const config = await this.#writeConfig(name, index);
    jobs.start({
      name,
      words: ['agent', 'run', '--config', config],
      exec: namespaces.exec(name),
      isRestarted: true,
    });
    const socketPath = path.join(this.#runtimeDirectory(name), 'api.sock');
    const client = this.#client(name);
    await jobs.until(name, () => client.status(signal), signal);
    await client.close();
    const forwarder = await forwardTo(socketPath);
    this.#forwarders.push(forwarder);
    return {
      name,
      url: `http://127.0.0.1:${forwarder.port}`,
      netns: namespaces.nameOf(name),
      exec: namespaces.exec(name),
    };
  }

  async #plug(name: string, external: string, internal: string): Promise<void> {
    const { namespaces } = this.#options;
    const { tenant, nodes, node, pods } = plan;
    await namespaces.add(name);
    await namespaces.plug(name, 'ext', 'tenant', [`${external}/${tenant.bits}`]);
    await namespaces.plug(name, 'int', 'nodes', [`${internal}/${nodes.bits}`]);
    await namespaces.ip(name, [
      `route add default via ${tenant.router}`,
      `route add ${pods.prefix} via ${node.address}`,
    ]);
  }

  async #writeConfig(name: string, index: number): Promise<string> {
    const { directory, places, secret } = this.#options;
    const own = path.join(directory, name);
    await fs.mkdir(own, { recursive: true });
    const secretsFile = path.join(own, 'secrets');
    await fs.writeFile(secretsFile, secret.toString('base64'), { mode: 0o600 });
    const others = places.filter((_, other) => other !== index).map(({ address }) => address);
    const peers = plan.nodes.gateways.filter((_, other) => other !== index);
    const config = {
      name,
      stateDirectory: path.join(own, 'state'),
      runtimeDirectory: this.#runtimeDirectory(name),
      secretsFile,
      seedFile: secretsFile,
      log: { format: 'text' },
      nftables: { localSources: [plan.pods.prefix, plan.nodes.prefix] },
      addresses: { start: 'spawn', priority: 250 - index * 10 },
      external: {
        interface: 'ext',
        virtualRouterId: 51,
        address4: places[index]?.address,
        peers4: others,
      },
      internal: {
        interface: 'int',
        virtualRouterId: 52,
        address4: plan.nodes.gateways[index],
        peers4: peers,
        routes: [plan.nodes.shared],
      },
    };
    const file = path.join(own, 'agent.yaml');
    // JSON is YAML too.
    await fs.writeFile(file, JSON.stringify(config, undefined, 2));
    return file;
  }

  #runtimeDirectory(name: string): string {
    return path.join(this.#options.directory, name, 'run');
  }
}
