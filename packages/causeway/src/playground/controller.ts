import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { request } from 'undici';
import { site, type PlaygroundAllocator } from './allocator.ts';
import type { Jobs } from './child-process.ts';
import { freePort } from './free-port.ts';
import type { PlaygroundGateway } from './gateways.ts';
import type { ClientFiles } from './start.ts';
import type { Tenant } from './tenant.ts';

export interface ControllerPlan {
  readonly directory: string;
  readonly jobs: Jobs;
  readonly files: ClientFiles;
  readonly tenant: Tenant;
  readonly agents: readonly PlaygroundGateway[];
  readonly ipam: PlaygroundAllocator;
  readonly secret: Buffer;
}

/** Starts the controller with its dashboard, and discovery. Returns the dashboard's address. */
export async function startController(
  options: ControllerPlan,
  signal: AbortSignal,
): Promise<{ url: string }> {
  const { directory, jobs, files } = options;
  const token = randomBytes(16).toString('hex');
  const [dashboardPort, health, discoveryHealth] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
  ]);
  const environment = { OS_CLIENT_CONFIG_FILE: files.clouds };
  const config = await writeConfig(directory, 'controller', {
    ...(await controllerSettings(options, token, dashboardPort)),
    observe: { address: '127.0.0.1', port: health },
  });
  jobs.start({
    name: 'controller',
    words: ['controller', '--config', config],
    environment,
    // A machine that has too much to do makes it lose its lease: it ends then, and is started again.
    isRestarted: true,
  });
  const discovery = await writeConfig(directory, 'discovery', {
    backendName: 'playground',
    cloud: 'demo',
    kubeconfig: files.kubeconfig,
    intervalSeconds: 5,
    ignoreProjects: [],
    observe: { address: '127.0.0.1', port: discoveryHealth },
    log: { format: 'text' },
  });
  jobs.start({
    name: 'discovery',
    words: ['discover', '--config', discovery],
    environment,
    isRestarted: true,
  });
  const isReady = async (port: number) => {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/readyz`);
    await body.dump();
    return statusCode === 200 ? true : undefined;
  };
  // The start doesn't wait for discovery's first cycle.
  void jobs.until('discovery', () => isReady(discoveryHealth), signal).catch(() => undefined);
  await jobs.until('controller', () => isReady(health), signal);
  return { url: `http://127.0.0.1:${dashboardPort}/?token=${token}` };
}

async function controllerSettings(
  { directory, files, tenant, agents, ipam, secret }: ControllerPlan,
  token: string,
  dashboardPort: number,
): Promise<object> {
  const secretFile = path.join(directory, 'agents-secret');
  await fs.writeFile(secretFile, secret.toString('base64'), { mode: 0o600 });
  const tokenFile = path.join(directory, 'dashboard-token');
  await fs.writeFile(tokenFile, token, { mode: 0o600 });
  return {
    clusterId: 'playground',
    defaultProvider: 'gateway',
    kubeconfig: files.kubeconfig,
    cloud: 'demo',
    log: { format: 'text' },
    idling: { enabled: true },
    gateway: {
      enabled: true,
      // Directly to the pods: they see the client's own address.
      layer: 'Pod',
      portManager: 'openstack',
      subnets: tenant.subnets,
      floatingNetwork: tenant.externalNetworkId,
      agents: agents.map(({ name, url }) => ({
        name,
        url,
        port: tenant.gateways.find((place) => place.name === name)?.port,
      })),
      secretFile,
    },
    dashboard: {
      enabled: true,
      port: dashboardPort,
      tokenFile,
      ipam: { urls: [ipam.url], sites: [site], tokenFile: ipam.tokenFile },
    },
  };
}

async function writeConfig(directory: string, name: string, settings: object): Promise<string> {
  const file = path.join(directory, `${name}.yaml`);
  // JSON is valid YAML.
  await fs.writeFile(file, JSON.stringify(settings, undefined, 2), { mode: 0o600 });
  return file;
}
