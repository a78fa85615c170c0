import fs from 'node:fs/promises';
import path from 'node:path';
import { runAgent } from '../../../packages/causeway/src/gateway/agent/agent.ts';
import { MemoryKernel } from '../../../packages/causeway/src/gateway/agent/memory-kernel.ts';
import { agentSettings } from '../../../packages/causeway/src/gateway/agent/settings.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';

const layout = {
  table: 'causeway',
  hashSeed: 1,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};

export interface MemoryGateways {
  /** In the form of the controller's settings. */
  readonly agents: readonly { readonly name: string; readonly url: string }[];
  readonly secret: string;
  stop(): Promise<void>;
}

/** Gateways with real agents and kernels in memory. */
export async function startMemoryGateways(
  directory: string,
  names: readonly string[],
): Promise<MemoryGateways> {
  const secret = Buffer.from('a secret that only tests share').toString('base64');
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const agents: { name: string; url: string }[] = [];
  for (const name of names) {
    const home = path.join(directory, name);
    await fs.mkdir(home, { recursive: true });
    await fs.writeFile(path.join(home, 'secrets'), secret);
    const ready = Promise.withResolvers<string>();
    const agent = runAgent(
      {
        settings: agentSettings.parse({
          name,
          listen: { address: '127.0.0.1', port: 0 },
          stateDirectory: path.join(home, 'state'),
          runtimeDirectory: path.join(home, 'run'),
          secretsFile: path.join(home, 'secrets'),
          addresses: { mover: 'foreign' },
          probe: { intervalMs: 0 },
        }),
        kernel: new MemoryKernel(layout),
        clock: systemClock,
        log: discardLog,
        metrics: noMetrics,
        version: '0.0.0',
        metricsPage: () => Promise.resolve({ type: 'text/plain', body: '' }),
        onReady: ready.resolve,
      },
      stop.signal,
    );
    running.push(agent);
    const url = await Promise.race([ready.promise, agent.then(() => 'it ended')]);
    agents.push({ name, url });
  }
  return {
    agents,
    secret,
    async stop() {
      stop.abort();
      await Promise.all(running);
    },
  };
}
