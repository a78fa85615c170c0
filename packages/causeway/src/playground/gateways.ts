import fs from 'node:fs/promises';
import path from 'node:path';
import { HttpAgentClient } from '../gateway/protocol/agent-client.ts';
import type { Clock } from '@causeway/base/time/clock';
import type { Jobs } from './child-process.ts';
import type { DataPath, GatewayPlace, GatewaySettings } from './data-path.ts';
import { gatewayNames, plans } from './plan.ts';
import { startRelay, type Relay } from './relay.ts';

export interface PlaygroundGateway {
  readonly name: string;
  /** URL of its agent, reachable from this machine. */
  readonly url: string;
}

export interface GatewaysOptions {
  readonly dataPath: DataPath;
  readonly jobs: Jobs;
  readonly directory: string;
  readonly places: readonly GatewayPlace[];
  /** The secret that agents and controller share. */
  readonly secret: Buffer;
  readonly clock: Clock;
}

/** Two machines, each with its agent. */
export class PlaygroundGateways {
  readonly #options: GatewaysOptions;
  readonly #relays: Relay[] = [];

  constructor(options: GatewaysOptions) {
    this.#options = options;
  }

  async start(signal: AbortSignal): Promise<PlaygroundGateway[]> {
    const { places } = this.#options;
    return Promise.all(places.map((_, index) => this.#startOne(index, signal)));
  }

  /** The active gateway, once there is one. */
  async active(signal: AbortSignal): Promise<string> {
    const [first] = gatewayNames;
    return this.#options.jobs.until(
      first,
      async () => {
        const states = await Promise.all(
          gatewayNames.map(async (name) => {
            const client = this.#client(name);
            try {
              const { announcer } = await client.status(signal);
              return announcer.role === 'active' ? name : undefined;
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

  #client(name: string): HttpAgentClient {
    const { secret, clock } = this.#options;
    const socketPath = this.#socket(name);
    return new HttpAgentClient({
      url: 'http://localhost',
      name,
      secret,
      clock,
      limitMs: 5_000,
      socketPath,
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#relays.map((relay) => relay.close()));
  }

  async #startOne(index: number, signal: AbortSignal): Promise<PlaygroundGateway> {
    const { dataPath, jobs, places } = this.#options;
    const name = gatewayNames[index] ?? '';
    const config = await this.#writeConfig(name, await dataPath.addGateway(index, places));
    jobs.start({
      name,
      words: ['agent', 'run', '--config', config],
      exec: dataPath.words(name),
      isRestarted: true,
    });
    const client = this.#client(name);
    await jobs.until(name, () => client.status(signal), signal);
    await client.close();
    const relay = await startRelay({ port: 0 }, { path: this.#socket(name) });
    this.#relays.push(relay);
    return { name, url: `http://127.0.0.1:${relay.port}` };
  }

  async #writeConfig(name: string, { nftables, ...place }: GatewaySettings): Promise<string> {
    const { directory, secret } = this.#options;
    const own = path.join(directory, name);
    await fs.mkdir(own, { recursive: true });
    const secretsFile = path.join(own, 'secrets');
    await fs.writeFile(secretsFile, secret.toString('base64'), { mode: 0o600 });
    const localSources = plans.flatMap(({ pods, inside }) => [pods.prefix, inside.prefix]);
    const config = {
      name,
      stateDirectory: path.join(own, 'state'),
      runtimeDirectory: this.#runtimeDirectory(name),
      secretsFile,
      seedFile: secretsFile,
      log: { format: 'text' },
      nftables: { localSources, ...nftables },
      ...place,
    };
    const file = path.join(own, 'agent.yaml');
    // JSON is valid YAML.
    await fs.writeFile(file, JSON.stringify(config, undefined, 2));
    return file;
  }

  #socket(name: string): string {
    return path.join(this.#runtimeDirectory(name), 'api.sock');
  }

  #runtimeDirectory(name: string): string {
    return path.join(this.#options.directory, name, 'run');
  }
}
