import { Command, Option } from 'commander';
import { readServices } from '../../console/overview/read-cluster.ts';
import type { ServiceRow, ServiceState } from '../../console/overview/rows.ts';
import {
  addClusterOptions,
  withCluster,
  type ClusterOptions,
} from '../cluster/cluster-connection.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';

const states: readonly ServiceState[] = [
  'serving',
  'pending',
  'failed',
  'idle',
  'internal',
  'unmatched',
  'deleting',
];

interface ServicesOptions extends ClusterOptions {
  readonly output: OutputFormat;
  readonly all: boolean;
  readonly state?: ServiceState;
}

/** `causeway services`: every Service with its address, provider, state and reason. */
export function servicesCommand(): Command {
  const command = new Command('services')
    .description('list Services with addresses, providers and problems')
    .option('-a, --all', 'also Services that are not reachable from outside of the cluster', false)
    .addOption(new Option('--state <state>', 'only Services in this state').choices(states))
    .addOption(
      new Option('-A, --all-namespaces', 'Services of every namespace (the default)').conflicts(
        'namespace',
      ),
    );
  addOutputOption(addClusterOptions(command, 'only Services of this namespace'));
  return command.action(async (options: ServicesOptions) => {
    await withCluster(options, async ({ client, signal }) => {
      const rows = await readServices(client, options.namespace, signal);
      printServices(
        options.output,
        rows.filter((row) => isWanted(row, options)),
      );
    });
  });
}

function isWanted(row: ServiceRow, { all, state }: ServicesOptions): boolean {
  if (state !== undefined) return row.state === state;
  return all || row.state !== 'internal' || row.backend !== '';
}

function printServices(output: OutputFormat, rows: readonly ServiceRow[]): void {
  printObjects(output, rows, [
    { title: 'service', value: ({ key }) => key },
    { title: 'state', value: ({ state }) => state },
    { title: 'address', value: ({ addresses }) => addresses.join(',') || '-' },
    { title: 'ports', value: ({ ports }) => ports.join(',') || '-' },
    { title: 'provider', value: ({ provider, backend }) => provider || backend || '-' },
    { title: 'ready', value: ({ endpoints }) => `${endpoints.ready}/${endpoints.all}` },
    { title: 'reason', value: ({ state, message }) => (state === 'serving' ? '' : message) },
  ]);
}
