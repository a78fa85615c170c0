import { Command } from 'commander';
import { purgeBackend } from '../../discovery/purge.ts';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { systemClock } from '@causeway/base/time/clock';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';
import { ProgressBars } from '../terminal/progress.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

interface Options {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly confirm: boolean;
  readonly output: OutputFormat;
}

/** `causeway discover purge`: objects of a former backend. */
export function discoverPurgeCommand(): Command {
  const command = new Command('purge')
    .description('list the objects of a renamed or removed backend, and delete them')
    .argument('<backend>', 'name of the backend')
    .option('--kubeconfig <file>', 'kubeconfig; else KUBECONFIG, the pod, or ~/.kube/config')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--confirm', 'delete the listed objects; namespaces stay', false);
  addOutputOption(command);
  return command.action((backend: string, options: Options) => purge(backend, options));
}

async function purge(backend: string, options: Options): Promise<void> {
  const { kubeconfig, context, confirm, output } = options;
  const clock = systemClock;
  const connection = await findConnection({ kubeconfig, context, env: process.env, clock });
  const client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  try {
    const progress = new ProgressBars();
    const found = await purgeBackend(client, backend, confirm, stopSignal(), progress).finally(() =>
      progress.clear(),
    );
    printObjects(output, found, [
      { title: 'resource', value: ({ resource }) => resource },
      { title: 'namespace', value: ({ namespace }) => namespace },
      { title: 'name', value: ({ name }) => name },
    ]);
    if (output !== 'table') return;
    const hint = confirm ? 'deleted' : 'found; --confirm deletes them';
    process.stdout.write(`${found.length} objects ${hint}\n`);
  } finally {
    await client.close();
  }
}
