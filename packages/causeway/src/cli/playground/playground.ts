import fs from 'node:fs/promises';
import { Command, Option } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { createLog } from '@causeway/base/observability/logger';
import { chooseDataPath } from '../../playground/choose-data-path.ts';
import type { ReadyFile } from '../../playground/ready-file.ts';
import { parseScenario, type Scenario } from '../../playground/scenario.ts';
import { startPlayground } from '../../playground/start.ts';
import { enterUserNamespace, isInUserNamespace } from '../../playground/user-namespace.ts';
import { systemClock } from '@causeway/base/time/clock';
import { runProgram } from '@causeway/base/process/run-program';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { style } from '../terminal/output.ts';
import { makePlaygroundDirectory, markVariable, sweepPlaygrounds } from './directory.ts';
import { tour } from './tour.ts';
import { readTextFile } from '../terminal/read-text-file.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

interface PlaygroundOptions {
  readonly readyFile?: string;
  readonly port?: string;
  readonly scenario?: string;
  readonly datapath?: string;
}

/** `causeway playground`: everything on one machine, without installation. */
export function playgroundCommand(): Command {
  return new Command('playground')
    .description(
      'run everything on this machine, without installation, to try it with kubectl and curl',
    )
    .option('--ready-file <file>', 'write a JSON file once everything is running, for scripts')
    .option('--port <number>', 'port of the Kubernetes API (default: a free one)')
    .option('--scenario <file>', 'YAML file with initial objects')
    .addOption(
      new Option(
        '--datapath <kind>',
        'kernel: network namespaces; memory: no traffic (default: kernel if supported)',
      ).choices(['kernel', 'memory']),
    )
    .addHelpText('after', '\nStop it with Ctrl-C; nothing is left behind.')
    .action((options: PlaygroundOptions) => runPlayground(options, stopSignal()));
}

async function runPlayground(options: PlaygroundOptions, signal: AbortSignal): Promise<void> {
  const port = options.port === undefined ? 0 : parsePortOption(options.port);
  const scenario =
    options.scenario === undefined
      ? undefined
      : parseScenario(await readTextFile(options.scenario), options.scenario);
  const { readyFile } = options;
  // A file of an earlier run must not be mistaken for this one's.
  if (readyFile !== undefined) await clearReadyFile(readyFile);
  addSystemPrograms();
  // Sweep now: inside a user namespace, processes and owners of other namespaces are not visible.
  if (!isInUserNamespace()) await sweepPlaygrounds();
  const choice = await chooseDataPath(options.datapath);
  if (choice.kind === 'user-namespace') {
    process.exitCode = await enterUserNamespace(signal);
    return;
  }
  const why = choice.kind === 'memory' ? choice.why : undefined;
  const directory = await makePlaygroundDirectory();
  process.env[markVariable] = directory;
  try {
    await serve({ port, directory, scenario, readyFile, why }, signal);
  } finally {
    if (readyFile !== undefined) await fs.rm(readyFile, { force: true });
    await fs.rm(directory, { recursive: true, force: true });
  }
}

/** Adds the directories of nft and keepalived, which only root has in the PATH on some machines. */
function addSystemPrograms(): void {
  const present = (process.env['PATH'] ?? '').split(':');
  const missing = ['/usr/sbin', '/sbin'].filter((directory) => !present.includes(directory));
  process.env['PATH'] = [...present, ...missing].join(':');
}

interface Serving {
  readonly port: number;
  readonly directory: string;
  readonly scenario: Scenario | undefined;
  readonly readyFile: string | undefined;
  readonly why: string | undefined;
}

async function serve(
  { port, directory, scenario, readyFile, why }: Serving,
  signal: AbortSignal,
): Promise<void> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const options = {
    datapath: why === undefined ? ('kernel' as const) : ('memory' as const),
    directory,
    port,
    scenario,
    clock: systemClock,
    log: createLog({ level: 'warn', format: 'text', destination: process.stderr }),
    onStep(text: string) {
      if (process.stderr.isTTY) process.stderr.write(style('dim', `Starting ${text}…\n`));
    },
    onDeath: (error: CausewayError) => failed.reject(error),
  };
  const playground = await startPlayground(options, signal).catch((error: unknown) => {
    throw explainPort(error, port);
  });
  try {
    const { ready, active, cloud } = playground;
    if (readyFile !== undefined) await writeReadyFile(readyFile, ready);
    process.stdout.write(tour(ready, { active, cloud, why, missing: await missingPrograms() }));
    await Promise.race([whenAborted(signal), failed.promise]);
    process.stdout.write('\nStopping.\n');
  } finally {
    await playground.stop();
  }
}

async function missingPrograms(): Promise<string[]> {
  const missing: string[] = [];
  for (const program of ['kubectl', 'curl', 'openstack']) {
    const { code } = await runProgram('sh', ['-c', `command -v ${program}`]);
    if (code !== 0) missing.push(program);
  }
  return missing;
}

function explainPort(error: unknown, port: number): unknown {
  if (!isAddressInUse(error)) return error;
  return new CausewayError('unavailable', `--port: ${port} is in use by another process`, {
    cause: error,
    hint: 'Choose another one, or omit --port to use a free one.',
  });
}

/** Whether the error, or a cause of it, is that another process has the port. */
function isAddressInUse(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE' || isAddressInUse(error.cause);
}

function parsePortOption(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) {
    throw new CausewayError('invalid', `--port: ${JSON.stringify(text)} is not a port`, {
      hint: 'Ports are whole numbers from 1 to 65535; 0 uses a free one.',
    });
  }
  return port;
}

/** Removes an earlier file, and checks that it can be written before anything is started. */
async function clearReadyFile(file: string): Promise<void> {
  await writable(file, async () => {
    await fs.rm(file, { force: true });
    const trial = `${file}.${process.pid}`;
    await fs.writeFile(trial, '');
    await fs.rm(trial);
  });
}

/** Written atomically, because a script may be waiting for it. */
async function writeReadyFile(file: string, ready: ReadyFile): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await writable(file, async () => {
    await fs.writeFile(unfinished, `${JSON.stringify(ready, undefined, 2)}\n`, { mode: 0o600 });
    await fs.rename(unfinished, file);
  });
}

async function writable(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CausewayError('invalid', `--ready-file: ${file} can't be written (${code})`, {
      cause: error,
      hint: 'Its directory must exist and be writable.',
    });
  }
}
