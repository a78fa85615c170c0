import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Machine, ReadyFile } from '../../packages/causeway/src/playground/ready-file.ts';
import { runOrThrow, runProgram, type ProgramResult } from '../services/run-program.ts';
import { HopelessError, waitFor } from '../services/wait-for.ts';

export const repository = path.join(import.meta.dirname, '..', '..');
export const launcher = path.join(repository, 'bin', 'causeway.js');

const nobody = 65534;
/** Words that run a command as an unprivileged user. */
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] as const;

export interface PlaygroundStart {
  /** A directory of the test. */
  readonly directory: string;
  readonly words?: readonly string[];
  /** Previous content of the ready file. */
  readonly stale?: string;
  /** An unprivileged user instead of root. */
  readonly isUnprivileged?: boolean;
}

/** A running playground, as a user has it. */
export interface RunningPlayground {
  readonly ready: ReadyFile;
  readonly exited: Promise<number | null>;
  /** The process that does the work; the ones before it only forward signals. */
  readonly mainPid: number;
  /** Signals the process that the user has started. */
  kill(signal: NodeJS.Signals): void;
  /** Runs a command on one of its machines, as the user that started it. */
  run(exec: readonly string[], ...command: string[]): Promise<ProgramResult>;
}

export async function startPlayground(start: PlaygroundStart): Promise<RunningPlayground> {
  const { directory, words = [], stale, isUnprivileged = false } = start;
  const readyFile = path.join(directory, 'ready.json');
  fs.rmSync(readyFile, { force: true });
  if (stale !== undefined) fs.writeFileSync(readyFile, stale);
  const args = ['playground', '--ready-file', readyFile, ...words];
  const [program, ...rest] = isUnprivileged
    ? unprivileged(directory, args)
    : [process.execPath, launcher, ...args];
  const child = spawn(program ?? '', rest, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, TMPDIR: directory, ...(isUnprivileged ? { HOME: directory } : {}) },
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const text = await waitFor('the ready file', () => {
    if (child.exitCode !== null) throw new HopelessError(`ended with ${child.exitCode}`);
    const found = fs.existsSync(readyFile) ? fs.readFileSync(readyFile, 'utf8') : undefined;
    return found === stale ? undefined : found;
  });
  const ready = JSON.parse(text) as ReadyFile;
  return {
    ready,
    exited,
    mainPid: Number(/\d+$/.exec(path.dirname(ready.kubeconfig))?.[0]),
    kill: (signal) => void child.kill(signal),
    run(exec, ...command) {
      const [first = '', ...others] = [...(isUnprivileged ? asNobody : []), ...exec, ...command];
      return runProgram(first, others);
    },
  };
}

/** The clone may be in a private directory, so it is mounted elsewhere. */
function unprivileged(directory: string, args: readonly string[]): string[] {
  const clone = path.join(directory, 'clone');
  fs.mkdirSync(clone, { recursive: true });
  fs.chownSync(directory, nobody, nobody);
  const script = `mount --bind ${repository} ${clone} && cd / && exec "$@"`;
  const node = [process.execPath.replace(repository, clone), path.join(clone, 'bin/causeway.js')];
  return ['unshare', '--mount', 'sh', '-c', script, 'sh', ...asNobody, ...node, ...args];
}

/** Waits until no process of a playground runs any more. */
export async function untilGone(playground: RunningPlayground): Promise<void> {
  await waitFor('its processes to end', async () => {
    const left = await processesOf(playground);
    if (left.length > 0) throw new Error(left.join('\n'));
    return true;
  });
}

/** Running processes of a playground, by the mark that all of them carry. */
async function processesOf({ ready }: RunningPlayground): Promise<string[]> {
  const mark = `CAUSEWAY_PLAYGROUND=${path.dirname(ready.kubeconfig)}`;
  const found: string[] = [];
  for (const pid of await fs.promises.readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const read = (file: string) => fs.promises.readFile(`/proc/${pid}/${file}`, 'utf8');
    const environment = await read('environ').catch(() => '');
    if (environment.split('\0').includes(mark)) found.push(await read('cmdline').catch(() => pid));
  }
  return found;
}

/** Calls its Kubernetes API. */
export function kubectlFor(kubectl: string, { ready }: RunningPlayground) {
  return (...args: string[]) =>
    runOrThrow(kubectl, args, { env: { KUBECONFIG: ready.kubeconfig } });
}

/** The external address of a Service, once it has one. */
export function addressOf(
  ask: ReturnType<typeof kubectlFor>,
  namespace: string,
  service: string,
  index = 0,
): Promise<string> {
  return waitFor(`the address of ${service}`, async () => {
    const wanted = `jsonpath={.status.loadBalancer.ingress[${index}].ip}`;
    const address = await ask('get', 'service', service, '-n', namespace, '-o', wanted);
    return address === '' ? undefined : address;
  });
}

/** What a machine gets from an address, once there is an answer. */
export function fetchFrom(
  playground: RunningPlayground,
  { exec }: Pick<Machine, 'exec'>,
  address: string,
): Promise<string> {
  return waitFor(`an answer from ${address}`, async () => {
    const host = address.includes(':') ? `http://[${address}]/` : address;
    const { code, stdout } = await playground.run(exec, 'curl', '-gsm', '5', host);
    return code === 0 && stdout;
  });
}
