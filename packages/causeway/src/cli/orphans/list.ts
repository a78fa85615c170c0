import { Command } from 'commander';
import {
  damagedReports,
  describeDamage,
  readOrphanRegister,
  type RegisteredReport,
} from '../../services/orphan-register.ts';
import { withoutControls } from '@causeway/base/text/printable';
import { withCluster } from '../cluster/cluster-connection.ts';
import { addOutputOption, type OutputFormat } from '../terminal/output.ts';
import {
  addOrphanOptions,
  listOrphans,
  printOrphans,
  readRegister,
  type OrphanOptions,
} from './listed-orphans.ts';

/** `causeway orphans list`: orphans that the controller keeps. */
export function listOrphansCommand(): Command {
  const command = new Command('list').description('list the orphans that the controller keeps');
  addOutputOption(addOrphanOptions(command));
  return command.action(async (options: OrphanOptions & { readonly output: OutputFormat }) => {
    await withCluster(options, async (session) => {
      const register = await readRegister(session, options.systemNamespace);
      const reports = readOrphanRegister(register);
      printOrphans(options.output, listOrphans(reports));
      for (const damage of damagedReports(register)) complain(describeDamage(damage));
      if (options.output !== 'table') return;
      for (const report of reports) for (const note of notesBelow(report)) say(note);
    });
  });
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

/** An incomplete list must not look like an empty one, also to scripts. */
function complain(problem: string): void {
  process.stderr.write(`causeway: ${withoutControls(problem)}\n`);
  process.exitCode = 1;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
