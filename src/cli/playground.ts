import fs from 'node:fs/promises';
import path from 'node:path';
import { Command } from 'commander';
import { CausewayError } from '../domain/error.ts';
import { parsePrefix } from '../domain/prefix.ts';
import type { ClusterApi } from '../sandbox/kubernetes/cluster-api.ts';
import { MemoryPodRunner } from '../sandbox/kubernetes/controllers/memory-pod-runner.ts';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '../sandbox/kubernetes/start.ts';
import { style } from './output.ts';
import { makePlaygroundDirectory } from './playground-directory.ts';
import { stopSignal } from './stop-signal.ts';

interface PlaygroundOptions {
  readonly readyFile?: string;
  readonly port?: string;
}

/** What scripts read from the ready file. */
interface Ready {
  readonly kubeconfig: string;
}

/** `causeway playground`: everything on one machine, with nothing to install. */
export function playgroundCommand(): Command {
  return new Command('playground')
    .description('run an embedded Kubernetes API on this machine, to try things with kubectl')
    .option('--ready-file <file>', 'write a JSON file once everything is up, for scripts')
    .option('--port <number>', 'port of the Kubernetes API (default: a free one)')
    .addHelpText('after', '\nStop it with Ctrl-C; nothing is left behind.')
    .action((options: PlaygroundOptions) => runPlayground(options, stopSignal()));
}

async function runPlayground(options: PlaygroundOptions, signal: AbortSignal): Promise<void> {
  const port = options.port === undefined ? 0 : parsePortOption(options.port);
  const { readyFile } = options;
  // A file of an earlier run must not be taken for this one's.
  if (readyFile !== undefined) await fs.rm(readyFile, { force: true });
  const directory = await makePlaygroundDirectory();
  try {
    await serve(port, directory, readyFile, signal);
  } finally {
    if (readyFile !== undefined) await fs.rm(readyFile, { force: true });
    await fs.rm(directory, { recursive: true, force: true });
  }
}

async function serve(
  port: number,
  directory: string,
  readyFile: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const kubernetes = await startKubernetes(port);
  try {
    addNode(kubernetes.cluster);
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, kubernetes.kubeconfig, { mode: 0o600 });
    if (readyFile !== undefined) await writeReadyFile(readyFile, { kubeconfig });
    process.stdout.write(welcome(kubernetes.url, kubeconfig));
    await aborted(signal);
    process.stdout.write('\nStopping.\n');
  } finally {
    await kubernetes.stop();
  }
}

async function startKubernetes(port: number): Promise<EmbeddedKubernetes> {
  const runner = new MemoryPodRunner([parsePrefix('10.244.0.0/16')], nodeAddress);
  try {
    return await startEmbeddedKubernetes({ port, controllers: { schedulesPods: true, runner } });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CausewayError('unavailable', `--port: ${port} is in use by another process`, {
      cause: error,
      hint: 'Choose another one, or leave --port out to take a free one.',
    });
  }
}

const nodeAddress = '192.0.2.1';

/** Pods need a node to be bound to. A new one is tainted as not ready until somebody says otherwise. */
function addNode(cluster: ClusterApi): void {
  const node = structuredClone(cluster.create('nodes', playgroundNode));
  cluster.update('nodes', { ...node, spec: {} });
}

const playgroundNode = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'playground', labels: { 'kubernetes.io/hostname': 'playground' } },
  status: {
    addresses: [{ type: 'InternalIP', address: nodeAddress }],
    conditions: [{ type: 'Ready', status: 'True', reason: 'Playground' }],
  },
};

function parsePortOption(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) {
    throw new CausewayError('invalid', `--port: ${JSON.stringify(text)} is not a port`, {
      hint: 'Ports are whole numbers from 1 to 65535; 0 takes a free one.',
    });
  }
  return port;
}

/** Appears whole or not at all, because a script may be waiting for it. */
async function writeReadyFile(file: string, ready: Ready): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  try {
    await fs.writeFile(unfinished, `${JSON.stringify(ready, undefined, 2)}\n`, { mode: 0o600 });
    await fs.rename(unfinished, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CausewayError('invalid', `--ready-file: ${file} can't be written (${code})`, {
      cause: error,
      hint: 'Its folder must exist and be writable.',
    });
  }
}

function welcome(url: string, kubeconfig: string): string {
  return `
${style('bold', 'The Causeway playground is ready.')}

  Kubernetes API   ${url} (embedded in this process)
  kubeconfig       ${kubeconfig}

A first thing to try, in another terminal:

  ${style('cyan', `export KUBECONFIG=${kubeconfig}`)}
  ${style('cyan', 'kubectl create deployment web --image=example.com/web --port=8080 --replicas=2')}
  ${style('cyan', 'kubectl expose deployment web --port=80 --target-port=8080')}
  ${style('cyan', 'kubectl get deployments,pods,services,endpointslices')}

Pods here run in name only: they get an address and are ready at once.

Ctrl-C stops it and leaves nothing behind.
`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
