import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { printableLines } from '@causeway/base/text/printable';
import { annotationsOf, describeTarget, holdAnnotation } from '../../idling/annotations.ts';
import { chooseServices, type ServiceChoice } from '../../idling/choose-services.ts';
import { Idler, type IdlePlan } from '../../idling/idler.ts';
import { listIdle } from '../../idling/list-idle.ts';
import { ScaleDiscovery } from '../../idling/scale-discovery.ts';
import { sharedPods } from '../../idling/shared-pods.ts';
import { keyOf, nameFromKey, type ObjectName } from '@causeway/kubernetes/objects/object';
import { systemClock } from '@causeway/base/time/clock';
import {
  addClusterOptions,
  withCluster,
  type ClusterOptions,
  type ClusterSession,
} from '../cluster/cluster-connection.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { readTextFile } from '../terminal/read-text-file.ts';

interface ChoiceOptions extends ClusterOptions {
  readonly all?: boolean;
  readonly selector?: string;
  readonly resourceNamesFile?: string;
  readonly allNamespaces?: boolean;
}

interface IdleOptions extends ChoiceOptions {
  readonly dryRun?: boolean;
}

/** `causeway idle`: idles Services until the next connection. */
export function idleCommand(): Command {
  const command = new Command('idle')
    .description('idle Services: scale their workloads to 0 until a client connects')
    .argument('[service...]', 'names, or namespace/name');
  addChoiceOptions(addClusterOptions(command)).option(
    '--dry-run',
    'print the changes without making them',
  );
  command.action(async (names: string[], options: IdleOptions) => {
    await withCluster(options, async (session) => {
      await idleAll(session, await chosen(session, names, options), options.dryRun === true);
    });
  });
  // Options after `list` belong to it: both commands have a namespace.
  command.enablePositionalOptions().addCommand(listCommand());
  return command;
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

/** A Service that can't be idled is reported and does not affect the others; the exit code is not 0. */
async function idleAll(
  { client, signal }: ClusterSession,
  names: readonly ObjectName[],
  isDry: boolean,
): Promise<void> {
  const discovery = new ScaleDiscovery(client);
  const idler = new Idler({ client, discovery, clock: systemClock });
  const failures: CausewayError[] = [];
  let progress = new Progress('Checking', names.length);
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (error.code === 'aborted') throw error;
      failures.push(error);
      progress.around(() => process.stderr.write(`causeway: ${printableLines(error.message)}\n`));
    }
  };
  const plans: IdlePlan[] = [];
  for (const name of names) {
    await attempt(async () => void plans.push(await idler.plan(name, signal)));
    progress.step(name.name);
  }
  progress.clear();
  for (const warning of await sharedPods(client, plans, signal)) {
    process.stderr.write(`causeway: warning: ${printableLines(warning)}\n`);
  }
  progress = new Progress('Idling', plans.length);
  for (const plan of plans) {
    const name = nameFromKey(keyOf(plan.service));
    await attempt(async () => {
      const done = isDry ? plan : await idler.idle(name, signal);
      progress.around(() => say(done, isDry));
    });
    progress.step(name.name);
  }
  progress.clear();
  const [first] = failures;
  if (first !== undefined) {
    throw new CausewayError(first.code, `${failures.length} of ${names.length} were not idled`);
  }
}

function say({ service, targets, warnings, isAsleep }: IdlePlan, isDry: boolean): void {
  const { namespace = '', name = '' } = service.metadata ?? {};
  const what = targets
    .map((target) => `${describeTarget(target)} from ${target.replicas} to 0`)
    .join(', ');
  const done = isDry ? 'would scale' : 'scaled';
  process.stdout.write(
    `${namespace}/${name}: ${isAsleep ? 'is idle already' : `${done} ${what}`}\n`,
  );
  const all = [...warnings];
  if (annotationsOf(service)[holdAnnotation] === 'accept') {
    all.push(
      `its ${holdAnnotation} is "accept": the connections that wake it come from the node's address and bypass NetworkPolicies`,
    );
  }
  for (const warning of all)
    process.stderr.write(`causeway: warning: ${name}: ${printableLines(warning)}\n`);
}

function listCommand(): Command {
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
