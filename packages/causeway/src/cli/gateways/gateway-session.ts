import type { Command } from 'commander';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { configMaps } from '@causeway/kubernetes/objects/resources';
import {
  gatewayConfigMapName,
  readGatewayConfigMap,
  type GatewayEntry,
} from '../../gateway/controller/gateway-config-map.ts';
import type { ControllerSettings } from '../controller/settings.ts';
import { systemClock } from '@causeway/base/time/clock';
import { readConfig } from '../config/options.ts';
import { controllerCommandSettings } from '../controller/load-settings.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

type Work = (
  client: KubeClient,
  gateways: readonly GatewayEntry[],
  settings: ControllerSettings,
  signal: AbortSignal,
) => Promise<void>;

/** Reads the controller's records of the gateways, and closes the client after the work. */
export async function withGatewayConfigMap(command: Command, work: Work): Promise<void> {
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
export function checkName(
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
