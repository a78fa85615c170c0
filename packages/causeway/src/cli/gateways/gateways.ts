import { Command } from 'commander';
import { handBackToLbaas } from '../../gateway/controller/hand-back.ts';
import { handBackCommand } from '../octavia/hand-back.ts';
import { checkGatewaysCommand } from './check.ts';
import { fenceGatewayCommand } from './fence.ts';
import { listGatewaysCommand } from './list.ts';
import { unfenceGatewayCommand } from './unfence.ts';

/** `causeway gateways`: state of the gateways, and fences for unreachable ones. */
export function gatewaysCommand(): Command {
  const gateways = new Command('gateways').description(
    'state of the gateways, and fences for gateways that do not answer',
  );
  for (const command of [
    listGatewaysCommand(),
    fenceGatewayCommand(),
    unfenceGatewayCommand(),
    checkGatewaysCommand(),
    handBackCommand('ch-k8s-lbaas', handBackToLbaas),
  ]) {
    gateways.addCommand(command, { isDefault: command.name() === 'list' });
  }
  return gateways;
}
