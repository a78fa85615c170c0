import { Command, Option } from 'commander';
import { readServices } from '../../console/overview/read-cluster.ts';
import { findSystemNamespace, readClusterFacts } from '../../console/overview/cluster-facts.ts';
import type { ServiceRow } from '../../console/overview/rows.ts';
import { clusterHealth } from '../../health/service-health.ts';
import { healthStates, type HealthState } from '../../health/state.ts';
import { systemClock } from '@causeway/base/time/clock';
import {
  addClusterOptions,
  addSystemNamespaceOption,
  withCluster,
  type ClusterOptions,
} from '../cluster/cluster-connection.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';

interface ServicesOptions extends ClusterOptions {
  readonly output: OutputFormat;
  readonly all: boolean;
  readonly state?: HealthState;
  readonly systemNamespace?: string;
}

/** `causeway services`: every Service with its address, provider, state and reason. */
export function servicesCommand(): Command {
  const command = new Command('services')
    .description('list Services with addresses, providers and problems')
    .option('-a, --all', 'also Services that are not reachable from outside of the cluster', false)
    .addOption(new Option('--state <state>', 'only Services in this state').choices(healthStates))
    .addOption(
      new Option('-A, --all-namespaces', 'Services of every namespace (the default)').conflicts(
        'namespace',
      ),
    );
  addSystemNamespaceOption(command);
  addOutputOption(addClusterOptions(command, 'only Services of this namespace'));
  return command.action(async (options: ServicesOptions) => {
    await withCluster(options, async ({ client, signal }) => {
      const { namespace } = options;
      const systemNamespace =
        options.systemNamespace ?? (await findSystemNamespace(client, signal));
      const facts = await readClusterFacts(client, systemNamespace, systemClock, signal);
      const found = await readServices(client, namespace, clusterHealth(facts), signal);
      const rows = found.map(({ row }) => row);
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
    { title: 'since', isWide: true, value: ({ since }) => since || '-' },
    { title: 'cause', isWide: true, value: ({ reason }) => reason || '-' },
    { title: 'reason', value: ({ state, message }) => (state === 'serving' ? '' : message) },
    { title: 'remedy', isWide: true, value: ({ remedy }) => remedy },
  ]);
}
