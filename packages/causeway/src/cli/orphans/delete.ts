import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import {
  confirmation,
  orphanRegisterName,
  readOrphanRegister,
} from '../../services/orphan-register.ts';
import { countOrphans } from '../../services/orphan.ts';
import { systemClock } from '@causeway/base/time/clock';
import { withCluster, type ClusterSession } from '../cluster/cluster-connection.ts';
import {
  addOrphanOptions,
  listOrphans,
  printOrphans,
  readRegister,
  type ListedOrphan,
  type OrphanOptions,
} from './listed-orphans.ts';

/** `causeway orphans delete`: confirms the deletion of orphans. */
export function deleteOrphansCommand(): Command {
  const command = new Command('delete')
    .description('confirm that the controller deletes these orphans, each named by its ID')
    .argument('<id...>', 'IDs of orphans, as `causeway orphans list` shows them')
    .option('--yes', 'confirm; otherwise only print what would be confirmed', false);
  addOrphanOptions(command);
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
  printOrphans('table', chosen);
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

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
