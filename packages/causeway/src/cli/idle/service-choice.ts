import type { Command } from 'commander';
import { chooseServices, type ServiceChoice } from '../../idling/choose-services.ts';
import type { ObjectName } from '@causeway/kubernetes/objects/object';
import type { ClusterOptions, ClusterSession } from '../cluster/cluster-connection.ts';
import { readTextFile } from '../terminal/read-text-file.ts';

export interface ChoiceOptions extends ClusterOptions {
  readonly all?: boolean;
  readonly selector?: string;
  readonly resourceNamesFile?: string;
  readonly allNamespaces?: boolean;
}

export function addChoiceOptions(command: Command): Command {
  return command
    .option('--all', 'every Service of the namespace')
    .option('-l, --selector <selector>', 'the Services with these labels')
    .option('--resource-names-file <file>', 'the Services in a file, one per line')
    .option('-A, --all-namespaces', 'with --all or --selector: in every namespace');
}

export async function chosen(
  { client, namespace, signal }: ClusterSession,
  names: readonly string[],
  options: ChoiceOptions,
): Promise<ObjectName[]> {
  const { all, selector, allNamespaces, resourceNamesFile } = options;
  const choice: ServiceChoice = {
    names,
    all,
    selector,
    allNamespaces,
    namesFile: resourceNamesFile === undefined ? undefined : await readTextFile(resourceNamesFile),
  };
  const found = await chooseServices(client, choice, namespace, signal);
  if (found.length === 0) process.stderr.write('causeway: no Service is chosen by that\n');
  return found;
}
