import { Command } from 'commander';
import { fenceChange, writeGatewayConfigMap } from '../../gateway/controller/gateway-config-map.ts';
import { systemClock } from '@causeway/base/time/clock';
import { addQueryOptions } from '../config/options.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { gatewayFlags } from '../controller/query-options.ts';
import { checkName, withGatewayConfigMap } from './gateway-session.ts';

/** `causeway gateways fence`: requests a fence around a gateway. */
export function fenceGatewayCommand(): Command {
  const command = new Command('fence')
    .description(
      "fence a gateway: its addresses are released without its acknowledgement. Switch it off first if Neutron can't block it",
    )
    .argument('<name>', "the gateway's name")
    .requiredOption('-r, --reason <text>', 'reason, for other operators');
  addQueryOptions(command, controllerCommandSettings, gatewayFlags);
  return command.action(async (name: string, { reason }: { reason: string }) => {
    await withGatewayConfigMap(command, async (client, gateways, settings, signal) => {
      checkName(name, gateways, settings);
      const since = new Date(systemClock.wallTime()).toISOString();
      const change = fenceChange(name, { reason, since });
      await writeGatewayConfigMap(client, settings.leaderElection.namespace, change, signal);
      say(`Requested. \`causeway gateways list\` shows when the fence around ${name} is in force.`);
    });
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
