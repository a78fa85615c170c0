import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';

export interface ServiceProcess {
  readonly pid: number;
  readonly exited: Promise<void>;
  isRunning(): boolean;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, then SIGKILL after the grace time. Resolves when it has ended. */
  stop(graceMs?: number): Promise<void>;
}

export interface ServiceProcessOptions {
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const started = new Map<ServiceProcess, string>();

/** Running processes of this process with logs in the directory. */
export function processesIn(directory: string): ServiceProcess[] {
  return [...started]
    .filter(([service, log]) => log.startsWith(`${directory}/`) && service.isRunning())
    .map(([service]) => service);
}

/** Starts a program that the kernel kills when this process ends, however it ends. */
export function startServiceProcess(
  program: string,
  args: readonly string[],
  options: ServiceProcessOptions,
): ServiceProcess {
  const log = fs.openSync(options.logFile, 'a');
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...options.env },
    cwd: options.cwd,
  });
  fs.closeSync(log);
  const service = watchChild(child, program);
  started.set(service, options.logFile);
  void service.exited.then(() => started.delete(service));
  return service;
}

function watchChild(child: ChildProcess, program: string): ServiceProcess {
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} could not be started`);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    exited,
    isRunning,
    kill: (signal) => void child.kill(signal),
    async stop(graceMs = 5_000) {
      if (!isRunning()) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The end of a log, for error messages. */
export function logTail(file: string, lines = 15): string {
  if (!fs.existsSync(file)) return '(no log)';
  return fs.readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}
