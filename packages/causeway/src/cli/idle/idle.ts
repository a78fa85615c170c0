import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { printableLines } from '@causeway/base/text/printable';
import { annotationsOf, describeTarget, holdAnnotation } from '../../idling/annotations.ts';
import { Idler, type IdlePlan } from '../../idling/idler.ts';
import { ScaleDiscovery } from '../../idling/scale-discovery.ts';
import { sharedPods } from '../../idling/shared-pods.ts';
import { keyOf, nameFromKey, type ObjectName } from '@causeway/kubernetes/objects/object';
import { systemClock } from '@causeway/base/time/clock';
import {
  addClusterOptions,
  withCluster,
  type ClusterSession,
} from '../cluster/cluster-connection.ts';
import { Progress } from '../terminal/progress.ts';
import { listIdleCommand } from './list.ts';
import { addChoiceOptions, chosen, type ChoiceOptions } from './service-choice.ts';

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
  command.enablePositionalOptions().addCommand(listIdleCommand());
  return command;
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
