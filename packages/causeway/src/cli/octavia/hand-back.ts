import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { FrontendSpec } from '../../services/frontend-spec.ts';
import { keyOf, nameFromKey } from '@causeway/kubernetes/objects/object';
import { leases, services } from '@causeway/kubernetes/objects/resources';
import { handBack, holderOf, type HandBackDecision } from '../../services/hand-back.ts';
import { systemClock } from '@causeway/base/time/clock';
import { withCluster } from '../cluster/cluster-connection.ts';
import { addQueryOptions, readConfig } from '../config/options.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { clusterFlags } from '../controller/query-options.ts';

/** `hand-back`: returns Services to their previous controller. */
export function handBackCommand(
  receiver: string,
  decide: (frontend: FrontendSpec) => HandBackDecision,
): Command {
  const command = new Command('hand-back')
    .description(
      `return the Services to ${receiver} with their addresses, after the controller was stopped`,
    )
    .option('--dry-run', 'only print the changes');
  addQueryOptions(command, controllerCommandSettings, [...clusterFlags, '--leader-election-name']);
  return command.action(async ({ dryRun = false }: { dryRun?: boolean }) => {
    const { kubeconfig, context, leaderElection } = await readConfig(
      command,
      controllerCommandSettings,
    );
    await withCluster({ kubeconfig, context }, async ({ client, signal }) => {
      const lease = await client.find(leases, leaderElection, { signal });
      const holder = holderOf(lease, systemClock.wallTime());
      if (holder !== undefined && !dryRun) {
        throw new CausewayError('conflict', `the controller ${holder} is running`, {
          hint: 'Stop every controller first; it would take the Services over again.',
        });
      }
      for await (const service of client.list(services, { signal })) {
        const step = handBack(service, decide);
        if (step.kind === 'none') continue;
        const name = keyOf(service);
        if (step.kind === 'keep') {
          say(`${name}: kept: ${step.because}`);
          continue;
        }
        if (!dryRun) await client.patchMerge(services, nameFromKey(name), step.patch, { signal });
        say(`${name}: ${dryRun ? 'would be handed back' : 'handed back'}`);
      }
    });
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
