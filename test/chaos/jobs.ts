import type { GatewayName } from '../kernel/gateway/topology.ts';
import { JobDirectory } from './job-unit.ts';
import { clusterName, site, type LedgerServers } from './ledger.ts';
import type { Networks } from './networks.ts';
import type { Pace } from './pace.ts';
import type { Unit } from './unit.ts';
import type { Ways } from './ways.ts';

const log = { level: 'debug', format: 'text' };
const observe = { port: 0 };
/** Account of the project with the load balancers that discovery reads. */
export const discoveredAccount = 'alt';

export interface JobsPlan {
  readonly directory: string;
  readonly pace: Pace;
  readonly ways: Ways;
  readonly networks: Networks;
  readonly ledger: LedgerServers;
  readonly secretFile: string;
  /** Sockets of the agents by gateway name. */
  readonly agents: ReadonlyMap<GatewayName, string>;
}

/** A controller with all its providers. */
export async function controllerUnit(name: string, plan: JobsPlan): Promise<Unit> {
  const { directory, pace, ways, networks, ledger, secretFile } = plan;
  const { driftSeconds, resyncSeconds } = pace;
  const own = new JobDirectory(directory, name);
  const clouds = await own.write('clouds.yaml', await ways.clouds(name, 'demo'));
  const agents = [];
  for (const [gateway, socket] of plan.agents) {
    const url = await ways.socket(`${name} to ${gateway}`, socket);
    agents.push({ name: gateway, url, port: networks.gatewayPorts.get(gateway) });
  }
  const servers = [];
  for (const url of ledger.urls) servers.push(await ways.http(`${name} to ipam`, url));
  const { subnets, floatingNetwork, balancerSubnet } = networks;
  const config = await own.write('controller.yaml', {
    clusterId: 'chaos',
    kubeconfig: await own.write('kubeconfig', await ways.kubeconfig(name)),
    cloud: 'demo',
    driftSeconds,
    idling: { enabled: true },
    observe,
    log,
    gateway: {
      enabled: true,
      layer: 'Pod',
      portManager: 'openstack',
      resyncSeconds,
      subnets,
      floatingNetwork,
      secretFile,
      agents,
      // Shorter than the pauses, so that gateways are fenced now and then.
      fenceAfterSeconds: 8,
      restSeconds: 5,
    },
    octavia: { enabled: true, members: 'Pod', subnets: [balancerSubnet], floatingNetwork },
    pool: {
      enabled: true,
      servers,
      site,
      cluster: clusterName,
      announcer: 'plain',
      tokenFile: await own.write('ledger.token', ledger.clusterToken),
      heartbeatSeconds: 2,
      withdrawalSeconds: 2,
    },
  });
  return own.unit(['controller', '--config', config], { OS_CLIENT_CONFIG_FILE: clouds });
}

export async function discoveryUnit({ directory, pace, ways }: JobsPlan): Promise<Unit> {
  const name = 'discovery';
  const own = new JobDirectory(directory, name);
  const clouds = await own.write('clouds.yaml', await ways.clouds(name, discoveredAccount));
  const config = await own.write('discovery.yaml', {
    backendName: 'cloud',
    cloud: discoveredAccount,
    kubeconfig: await own.write('kubeconfig', await ways.kubeconfig(name)),
    intervalSeconds: pace.discoverySeconds,
    projects: [discoveredAccount],
    observe,
    log,
  });
  return own.unit(['discover', '--config', config], { OS_CLIENT_CONFIG_FILE: clouds });
}
