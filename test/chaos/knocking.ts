import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Topology } from '../kernel/gateway/topology.ts';
import type { Knock, Target } from './knock.ts';

export interface Knocking {
  /** Whom to knock at from now on. */
  at(targets: readonly Target[]): void;
  stop(): Promise<void>;
}

/** Starts somebody far away who knocks at Services and tells each time what came of it. */
export function startKnocking(topology: Topology, tell: (knock: Knock) => void): Knocking {
  const script = path.join(import.meta.dirname, 'programs', 'knocker.ts');
  const there = ['ip', 'netns', 'exec', topology.network.namespace('world')];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...there, process.execPath, script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  createInterface({ input: child.stdout }).on('line', (line) => tell(JSON.parse(line) as Knock));
  let last = '';
  return {
    at(targets) {
      const line = `${JSON.stringify(targets)}\n`;
      if (line === last) return;
      last = line;
      child.stdin.write(line);
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
