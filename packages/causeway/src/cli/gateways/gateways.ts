import { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import {
  gatewayConfigMapName,
  fenceChange,
  readGatewayConfigMap,
  writeGatewayConfigMap,
  type GatewayEntry,
} from '../../gateway/controller/gateway-config-map.ts';
import { handBackToLbaas } from '../../gateway/controller/hand-back.ts';
import type { ControllerSettings } from '../controller/settings.ts';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { addQueryOptions, readConfig } from '../config/options.ts';
import { openStackOf } from '../controller/gateway.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { gatewayFlags } from '../controller/query-options.ts';
import { askGateways, printGateways } from './list.ts';
import { handBackCommand } from '../octavia/hand-back.ts';
import { addOutputOption, printObjects, type OutputFormat } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** `causeway gateways`: state of the gateways, and fences for unreachable ones. */
export function gatewaysCommand(): Command {
  const gateways = new Command('gateways').description(
    'state of the gateways, and fences for gateways that do not answer',
  );
  for (const command of [
    listCommand(),
    fenceCommand(),
    unfenceCommand(),
    checkCommand(),
    handBackCommand('ch-k8s-lbaas', handBackToLbaas),
  ]) {
    gateways.addCommand(command, { isDefault: command.name() === 'list' });
  }
  return gateways;
}

function listCommand(): Command {
  const command = new Command('list').description(
    'state of each gateway, as the controller sees it, and as the agent reports it if its secret is available',
  );
  addOutputOption(addQueryOptions(command, controllerCommandSettings, gatewayFlags));
  return command.action(async ({ output }: { output: OutputFormat }) => {
    await withGatewayConfigMap(command, async (_client, gateways, settings, signal) => {
      printGateways(output, await askGateways(gateways, settings, signal));
    });
  });
}

function fenceCommand(): Command {
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

function unfenceCommand(): Command {
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

function checkCommand(): Command {
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

type Work = (
  client: KubeClient,
  gateways: readonly GatewayEntry[],
  settings: ControllerSettings,
  signal: AbortSignal,
) => Promise<void>;

async function withGatewayConfigMap(command: Command, work: Work): Promise<void> {
  const settings = await readConfig(command, controllerCommandSettings);
  const { kubeconfig, context, leaderElection } = settings;
  const clock = systemClock;
  const connection = await findConnection({ kubeconfig, context, env: process.env, clock });
  const client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  const signal = stopSignal();
  try {
    const name = { namespace: leaderElection.namespace, name: gatewayConfigMapName };
    const configMap = await client.find(configMaps, name, { signal });
    await work(
      client,
      configMap === undefined ? [] : readGatewayConfigMap(configMap),
      settings,
      signal,
    );
  } finally {
    await client.close();
  }
}

/** Rejects an unknown name: a fence around it would have no effect, but appear effective. */
function checkName(
  name: string,
  gateways: readonly GatewayEntry[],
  { gateway }: ControllerSettings,
): void {
  const known = new Set([...gateways, ...gateway.agents].map((each) => each.name));
  if (known.has(name)) return;
  throw new CausewayError('not-found', `no gateway has the name ${JSON.stringify(name)}`, {
    hint:
      known.size === 0
        ? 'Name the settings of the controller with --config.'
        : `The gateways are ${[...known].sort().join(', ')}.`,
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
