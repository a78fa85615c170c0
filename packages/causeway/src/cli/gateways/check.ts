import { Command } from 'commander';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { addQueryOptions, readConfig } from '../config/options.ts';
import { openStackOf } from '../controller/gateway.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** Flags to reach Neutron, and the gateways' requirements there. */
const neutronFlags = [
  '--kubeconfig',
  '--context',
  '--cloud',
  '--gateway-port-manager',
  '--gateway-subnets',
  '--gateway-address-pairs-mode',
  '--gateway-address-pairs-networks',
  '--gateway-address-pairs-limit',
] as const;

/** `causeway gateways check`: compares Neutron with the requirements of the gateways. */
export function checkGatewaysCommand(): Command {
  const command = new Command('check').description(
    'show whether Neutron lets each gateway use its addresses, how, and why',
  );
  addOutputOption(addQueryOptions(command, controllerCommandSettings, neutronFlags));
  return command.action(async ({ output }: { output: OutputFormat }) => {
    const settings = await readConfig(command, controllerCommandSettings);
    if (settings.gateway.portManager === 'static') {
      say('Addresses come from a list: Causeway does not know the network around the gateways.');
      return;
    }
    const surroundings = { log: discardLog, metrics: noMetrics, clock: systemClock };
    const signal = stopSignal();
    const { pairWriter } = await openStackOf(settings, surroundings, signal);
    const reports = await pairWriter.inspect(signal);
    printObjects(output, reports, [
      { title: 'gateway', value: ({ gateway }) => gateway },
      { title: 'fine', value: ({ isFine }) => (isFine ? 'yes' : 'NO') },
      { title: 'how', value: ({ text }) => text },
    ]);
    if (reports.some(({ isFine }) => !isFine)) process.exitCode = 1;
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
