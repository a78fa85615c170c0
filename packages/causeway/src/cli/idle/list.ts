import { Command } from 'commander';
import { listIdle } from '../../idling/list-idle.ts';
import {
  addClusterOptions,
  withCluster,
  type ClusterOptions,
} from '../cluster/cluster-connection.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';

/** `causeway idle list`: idle Services. */
export function listIdleCommand(): Command {
  const command = new Command('list')
    .description('list idle Services')
    .option('-A, --all-namespaces', 'of every namespace');
  addOutputOption(addClusterOptions(command));
  return command.action(
    async (options: ClusterOptions & { allNamespaces?: boolean; output: OutputFormat }) => {
      await withCluster(options, async ({ client, namespace, signal }) => {
        const where = options.allNamespaces === true ? undefined : namespace;
        printObjects(options.output, await listIdle(client, where, signal), [
          { title: 'namespace', value: (row) => row.namespace },
          { title: 'service', value: (row) => row.service },
          { title: 'idled at', value: (row) => row.idledAt },
          { title: 'starts', value: (row) => row.targets.join(', ') },
          { title: 'note', value: (row) => row.note },
        ]);
      });
    },
  );
}
