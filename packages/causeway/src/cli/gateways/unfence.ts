import { Command } from 'commander';
import { fenceChange, writeGatewayConfigMap } from '../../gateway/controller/gateway-config-map.ts';
import { addQueryOptions } from '../config/options.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { gatewayFlags } from '../controller/query-options.ts';
import { checkName, withGatewayConfigMap } from './gateway-session.ts';

/** `causeway gateways unfence`: requests the removal of a fence. */
export function unfenceGatewayCommand(): Command {
  const command = new Command('unfence')
    .description('remove a fence, once the gateway has acknowledged the lost addresses')
    .argument('<name>', "the gateway's name");
  addQueryOptions(command, controllerCommandSettings, gatewayFlags);
  return command.action(async (name: string) => {
    await withGatewayConfigMap(command, async (client, gateways, settings, signal) => {
      checkName(name, gateways, settings);
      const change = fenceChange(name, undefined);
      await writeGatewayConfigMap(client, settings.leaderElection.namespace, change, signal);
      say(
        `The fence around ${name} is removed as soon as the gateway has acknowledged the newest state.`,
      );
    });
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
