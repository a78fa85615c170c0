import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import path from 'node:path';
import { HttpAgentClient } from '../packages/causeway/src/gateway/protocol/agent-client.ts';
import { writeDelta, writeState } from '../packages/causeway/src/gateway/protocol/write-update.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { waitFor } from '../test/services/wait-for.ts';
import { allServices, nothing, service } from './agent-load.ts';
import type { BenchmarkSuite } from './benchmark.ts';

const root = path.dirname(import.meta.dirname);
const { signal } = new AbortController();
const secret = Buffer.from('a secret of enough bytes');
const requests = 600;
/** Long enough for the agent to notice that it is idle. */
const idleMs = 20_000;

/** The agent as in a package or an image, compiled, in its own network. */
class CompiledAgent {
  readonly #child: ChildProcess;
  readonly #client: HttpAgentClient;
  #generation = 0;

  private constructor(child: ChildProcess, client: HttpAgentClient) {
    this.#child = child;
    this.#client = client;
  }

  static async start(directory: string): Promise<CompiledAgent> {
    const secretsFile = path.join(directory, 'secrets');
    await fs.writeFile(secretsFile, secret.toString('base64'), { mode: 0o600 });
    const config = path.join(directory, 'agent.yaml');
    const settings = {
      name: 'gateway',
      stateDirectory: path.join(directory, 'state'),
      runtimeDirectory: path.join(directory, 'run'),
      secretsFile,
      addresses: { mover: 'foreign' },
      log: { level: 'warn' },
    };
    await fs.writeFile(config, JSON.stringify(settings));
    const main = path.join(root, 'dist', 'cli', 'main.js');
    const command = [process.execPath, main, 'agent', 'run', '-c', config];
    const script = 'ip link set lo up && exec "$@"';
    const child = spawn('unshare', ['--net', 'sh', '-c', script, 'sh', ...command], {
      stdio: 'ignore',
    });
    const client = new HttpAgentClient({
      url: 'http://localhost',
      name: 'gateway',
      secret,
      clock: systemClock,
      limitMs: 60_000,
      socketPath: path.join(settings.runtimeDirectory, 'api.sock'),
    });
    const agent = new CompiledAgent(child, client);
    await waitFor('the agent', () => client.status(signal));
    return agent;
  }

  /** Sends everything in one update. */
  async fill(): Promise<void> {
    this.#generation += 1;
    const state = { ...nothing, frontends: allServices() };
    await this.#client.push(writeState(state, { generation: this.#generation }), signal);
  }

  /** Sends updates of one changed Service each, one after another. */
  async change(): Promise<void> {
    for (let index = 0; index < requests; index += 1) {
      const base = this.#generation;
      this.#generation += 1;
      const content = { ...nothing, frontends: [service(index, this.#generation)] };
      const lines = writeDelta(content, { generation: this.#generation, base });
      await this.#client.push(lines, signal);
    }
  }

  /** In MB. */
  async resident(): Promise<number> {
    const status = await fs.readFile(`/proc/${this.#child.pid}/status`, 'utf8');
    return (Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024) / 1_000_000;
  }

  async stop(): Promise<void> {
    await this.#client.close();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}

export const suite: BenchmarkSuite<
  'agent-resident-empty' | 'agent-resident-idle' | 'agent-resident-after-requests'
> = {
  name: 'agent-memory',
  bars: {
    'agent-resident-empty': { of: 'value', comparison: 'at most', limit: 120, unit: 'MB' },
    'agent-resident-idle': { of: 'value', comparison: 'at most', limit: 120, unit: 'MB' },
    'agent-resident-after-requests': { of: 'value', comparison: 'at most', limit: 120, unit: 'MB' },
  },
  async run() {
    await build();
    const directory = await scratchDirectory('bench-agent');
    const agent = await CompiledAgent.start(directory);
    const idle = async () => {
      await new Promise((resolve) => setTimeout(resolve, idleMs));
      return { value: await agent.resident(), baseline: null };
    };
    try {
      const empty = await idle();
      await agent.fill();
      const filled = await idle();
      await agent.change();
      const after = { value: await agent.resident(), baseline: null };
      return {
        'agent-resident-empty': empty,
        'agent-resident-idle': filled,
        'agent-resident-after-requests': after,
      };
    } finally {
      await agent.stop();
      await removeDirectory(directory);
    }
  },
};

async function build(): Promise<void> {
  const child = spawn(process.execPath, [path.join(root, 'scripts', 'build.ts')], {
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error('"npm run build" fails');
}
