import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import type { ConfigMap } from '@causeway/kubernetes/objects/core-objects';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import {
  confirmation,
  damagedReports,
  describeDamage,
  orphanRegisterName,
  readOrphanRegister,
  type RegisteredReport,
} from '../../services/orphan-register.ts';
import { countOrphans, type Orphan } from '../../services/orphan.ts';
import { withoutControls } from '@causeway/base/text/printable';
import { systemClock } from '@causeway/base/time/clock';
import {
  withCluster,
  type ClusterOptions,
  type ClusterSession,
} from '../cluster/cluster-connection.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';

interface OrphanOptions extends ClusterOptions {
  readonly systemNamespace: string;
}

/** An orphan in the commands' output. */
export interface ListedOrphan extends Orphan {
  readonly provider: string;
  readonly state: 'held' | 'confirmed';
}

/** `causeway orphans`: cloud objects of this cluster that no Service uses. */
export function orphansCommand(): Command {
  const orphans = new Command('orphans').description(
    'cloud objects with a mark of this cluster that no Service uses; the controller keeps them until their deletion is confirmed',
  );
  orphans.addCommand(listCommand(), { isDefault: true });
  orphans.addCommand(deleteCommand());
  return orphans;
}

function addOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig; else KUBECONFIG, the pod, or ~/.kube/config')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--system-namespace <name>', "namespace of the controller's lease", 'kube-system');
}

function listCommand(): Command {
  const command = new Command('list').description('list the orphans that the controller keeps');
  addOutputOption(addOptions(command));
  return command.action(async (options: OrphanOptions & { readonly output: OutputFormat }) => {
    await withCluster(options, async (session) => {
      const register = await readRegister(session, options.systemNamespace);
      const reports = readOrphanRegister(register);
      print(options.output, listOrphans(reports));
      for (const damage of damagedReports(register)) complain(describeDamage(damage));
      if (options.output !== 'table') return;
      for (const report of reports) for (const note of notesBelow(report)) say(note);
    });
  });
}

function deleteCommand(): Command {
  const command = new Command('delete')
    .description('confirm that the controller deletes these orphans, each named by its ID')
    .argument('<id...>', 'IDs of orphans, as `causeway orphans list` shows them')
    .option('--yes', 'confirm; otherwise only print what would be confirmed', false);
  addOptions(command);
  return command.action(
    async (ids: readonly string[], options: OrphanOptions & { readonly yes: boolean }) => {
      await withCluster(options, (session) => confirm(session, ids, options));
    },
  );
}

async function confirm(
  session: ClusterSession,
  ids: readonly string[],
  { systemNamespace, yes }: OrphanOptions & { readonly yes: boolean },
): Promise<void> {
  const register = await readRegister(session, systemNamespace);
  const chosen = chooseOrphans(listOrphans(readOrphanRegister(register)), ids);
  print('table', chosen);
  if (!yes) {
    say(`Nothing is confirmed yet: ${countOrphans(chosen)}. Repeat the command with --yes.`);
    return;
  }
  const metadata = { namespace: systemNamespace, name: orphanRegisterName };
  const now = new Date(systemClock.wallTime()).toISOString();
  for (const provider of new Set(chosen.map((orphan) => orphan.provider))) {
    const own = chosen.filter((orphan) => orphan.provider === provider).map(({ id }) => id);
    const change = confirmation(provider, own, now);
    await patchOrCreate(session.client, configMaps, { metadata }, change, session.signal);
  }
  say(
    `Confirmed: ${countOrphans(chosen)}. The controller deletes them at its next drift detection (driftSeconds).`,
  );
}

/** Each ID must be an orphan's: a typo must not count as a confirmation. */
export function chooseOrphans(
  all: readonly ListedOrphan[],
  ids: readonly string[],
): readonly ListedOrphan[] {
  return [...new Set(ids)].map((id) => {
    const orphan = all.find((each) => each.id === id);
    if (orphan !== undefined) return orphan;
    throw new CausewayError('not-found', `no orphan has the ID ${JSON.stringify(id)}`, {
      hint: '`causeway orphans list` shows the IDs.',
    });
  });
}

export function listOrphans(reports: readonly RegisteredReport[]): ListedOrphan[] {
  return reports.flatMap(({ provider, orphans, confirmed }) =>
    orphans.map((orphan) => ({
      ...orphan,
      provider,
      state: confirmed.includes(orphan.id) ? ('confirmed' as const) : ('held' as const),
    })),
  );
}

/** Facts of a report that no table row shows. */
export function notesBelow(report: RegisteredReport): string[] {
  const { provider, clusterId, count, orphans, otherClusters } = report;
  const left = count - orphans.length;
  const more = `${provider} keeps ${left} more, which do not fit into the list. They follow when orphans of this list are deleted or used again.`;
  return [
    ...(left > 0 ? [more] : []),
    ...otherClusters.map(
      (uid) => `Another cluster (UID ${uid}) uses the clusterId ${clusterId} too.`,
    ),
  ];
}

async function readRegister(
  { client, signal }: ClusterSession,
  namespace: string,
): Promise<ConfigMap> {
  const name = { namespace, name: orphanRegisterName };
  return (await client.find(configMaps, name, { signal })) ?? {};
}

/** An incomplete list must not look like an empty one, also to scripts. */
function complain(problem: string): void {
  process.stderr.write(`causeway: ${withoutControls(problem)}\n`);
  process.exitCode = 1;
}

function print(format: OutputFormat, orphans: readonly ListedOrphan[]): void {
  printObjects(format, orphans, [
    { title: 'provider', value: ({ provider }) => provider },
    { title: 'kind', value: ({ kind }) => kind },
    { title: 'id', value: ({ id }) => id },
    { title: 'address', value: ({ address = '' }) => address },
    { title: 'service', value: ({ service = '' }) => service },
    { title: 'cluster', value: ({ mark }) => (mark === 'own' ? 'this one' : 'not certain') },
    { title: 'state', value: ({ state }) => state },
  ]);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
