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

/** Where somebody stands who knocks, how often, and how long he waits for an answer. */
export interface Knocker {
  readonly machine: string;
  readonly everyMs: number;
  readonly limitMs: number;
}

/** Starts somebody who knocks at Services and tells each time what came of it. */
export function startKnocking(
  topology: Topology,
  { machine, everyMs, limitMs }: Knocker,
  tell: (probeTcp: Knock) => void,
): Knocking {
  const script = path.join(import.meta.dirname, 'programs', 'knocker.ts');
  const there = ['ip', 'netns', 'exec', topology.network.namespace(machine)];
  const words = [process.execPath, script, String(everyMs), String(limitMs)];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...there, ...words], {
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
