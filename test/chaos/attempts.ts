import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Topology } from '../kernel/gateway/topology.ts';
import type { Attempt, Target } from './attempt.ts';

export interface Attempts {
  /** Sets the targets to connect to from now on. */
  at(targets: readonly Target[]): void;
  stop(): Promise<void>;
}

/** Network namespace to connect from, interval, and timeout of each attempt. */
export interface AttemptOptions {
  readonly machine: string;
  readonly everyMs: number;
  readonly limitMs: number;
}

/** Starts a process that connects to Services at an interval and reports each result. */
export function startAttempts(
  topology: Topology,
  { machine, everyMs, limitMs }: AttemptOptions,
  report: (attempt: Attempt) => void,
): Attempts {
  const script = path.join(import.meta.dirname, 'programs', 'attempt-client.ts');
  const there = ['ip', 'netns', 'exec', topology.network.namespace(machine)];
  const words = [process.execPath, script, String(everyMs), String(limitMs)];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...there, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  createInterface({ input: child.stdout }).on('line', (line) =>
    report(JSON.parse(line) as Attempt),
  );
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
