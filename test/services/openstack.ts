import fs from 'node:fs/promises';
import { request } from 'undici';
import { stringify } from 'yaml';
import { ensureDebianPackages } from './debian-packages.ts';
import { freePorts } from './free-port.ts';
import { writeConfiguration } from './openstack/configuration.ts';
import { startDatabase } from './openstack/database.ts';
import {
  defaultSettings,
  file,
  region,
  type CloudSettings,
  type Layout,
} from './openstack/layout.ts';
import { correctCatalog, ensureSavedCloud, restoreCloud } from './openstack/saved-cloud.ts';
import { accounts, type Account } from './openstack/seed.ts';
import {
  computeBrokenFile,
  downMembersFile,
  startService,
  type ServiceName,
} from './openstack/services.ts';
import { descendantsOf, endOrphans } from './process-tree.ts';
import { removeDirectory, scratchDirectory } from './scratch.ts';
import { processesIn, type ServiceProcess } from './service-process.ts';

export type OpenStackOptions = Partial<CloudSettings>;

export interface RealOpenStack {
  /** Keystone's URL, with `/v3`. */
  readonly authUrl: string;
  readonly networkUrl: string;
  readonly loadBalancerUrl: string;
  readonly region: string;
  readonly accounts: typeof accounts;
  readonly directory: string;
  /** Path of a clouds.yaml with one cloud for each account. */
  readonly cloudsYaml: string;
  /** Path of a shell file that sets OS_* for the account `demo`. */
  readonly openrc: string;
  /** Makes a monitored member fail its checks, or pass them again. Format `address:port`. */
  setMemberDown(member: string, isDown?: boolean): Promise<void>;
  /** While broken, new load balancers end in ERROR. */
  setComputeBroken(isBroken: boolean): Promise<void>;
  stopService(name: ServiceName): Promise<void>;
  /** The service accepts requests and does nothing, until the returned function is called. */
  suspend(name: ServiceName): Promise<() => void>;
  /** Ends the service with the signal and starts it again on the same port. */
  restart(name: ServiceName, signal?: NodeJS.Signals): Promise<void>;
  /** Kills everything and removes its files. */
  stop(): Promise<void>;
}

const packages = [
  'python3-keystone',
  'python3-neutron',
  'python3-octavia',
  'uwsgi-core',
  'uwsgi-plugin-python3',
  'mariadb-server-core',
  'mariadb-client-core',
  'openssl',
];

/**
 * Makes sure that everything for a real cloud is available. Throws MissingError otherwise. Returns the
 * archive that a cloud starts from.
 */
export async function prepareOpenStack(): Promise<string> {
  await ensureDebianPackages(packages);
  return ensureSavedCloud(packages, layoutIn);
}

/** Real Keystone, Neutron and Octavia on free ports of the loopback address. */
export async function startOpenStack(options: OpenStackOptions = {}): Promise<RealOpenStack> {
  const settings = { ...defaultSettings, ...options };
  const archive = await prepareOpenStack();
  const layout = await layoutIn(await scratchDirectory('openstack'));
  const running = new Map<ServiceName, ServiceProcess>();
  const end = async (services: readonly ServiceProcess[], signal: NodeJS.Signals) => {
    // Neutron has child processes, which take a moment to notice that it has ended.
    const orphans = (await Promise.all(services.map(({ pid }) => descendantsOf(pid)))).flat();
    for (const service of services) service.kill(signal);
    await Promise.all(services.map(({ exited }) => exited));
    await endOrphans(orphans);
  };
  const stop = async () => {
    // Services that were still starting when another one failed.
    await end(processesIn(layout.directory), 'SIGKILL');
    await removeDirectory(layout.directory);
  };
  const start = async (name: ServiceName) => {
    running.set(name, await startService(name, layout, settings));
  };
  try {
    await restoreCloud(archive, layout);
    await writeConfiguration(layout, settings);
    await startDatabase(layout);
    await correctCatalog(layout);
    await Promise.all([start('keystone'), start('neutron'), start('octavia')]);
    await warmUp(layout);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    authUrl: `${layout.identityUrl}/v3`,
    networkUrl: layout.networkUrl,
    loadBalancerUrl: layout.loadBalancerUrl,
    region,
    accounts,
    directory: layout.directory,
    cloudsYaml: await writeCloudsYaml(layout),
    openrc: await writeOpenrc(layout),
    ...faults(layout),
    stopService: async (name) => running.get(name)?.stop(),
    async suspend(name) {
      const pid = running.get(name)?.pid;
      const pids = pid === undefined ? [] : [pid, ...(await descendantsOf(pid))];
      for (const each of pids) process.kill(each, 'SIGSTOP');
      return () => pids.forEach((each) => process.kill(each, 'SIGCONT'));
    },
    async restart(name, signal = 'SIGTERM') {
      const service = running.get(name);
      if (service !== undefined) await end([service], signal);
      await start(name);
    },
    stop,
  };
}

async function layoutIn(directory: string): Promise<Layout> {
  const [identity, network, loadBalancer] = await freePorts(3);
  return {
    directory,
    identityUrl: `http://127.0.0.1:${identity}`,
    networkUrl: `http://127.0.0.1:${network}`,
    loadBalancerUrl: `http://127.0.0.1:${loadBalancer}`,
  };
}

/** Neutron loads its plugins at the first request; the first test must not wait for that. */
async function warmUp(layout: Layout): Promise<void> {
  const answer = await request(`${layout.networkUrl}/v2.0/networks`);
  await answer.body.dump();
}

function faults(layout: Layout): Pick<RealOpenStack, 'setMemberDown' | 'setComputeBroken'> {
  const down = new Set<string>();
  return {
    async setMemberDown(member, isDown = true) {
      if (isDown) down.add(member);
      else down.delete(member);
      await fs.writeFile(downMembersFile(layout), [...down].join('\n'));
    },
    async setComputeBroken(isBroken) {
      if (isBroken) await fs.writeFile(computeBrokenFile(layout), '');
      else await fs.rm(computeBrokenFile(layout), { force: true });
    },
  };
}

async function writeCloudsYaml(layout: Layout): Promise<string> {
  const entry = (account: Account) => ({
    region_name: region,
    identity_api_version: 3,
    auth: {
      auth_url: `${layout.identityUrl}/v3`,
      username: account.user,
      password: account.password,
      user_domain_name: account.domain,
      project_name: account.project,
      project_domain_name: account.domain,
    },
  });
  const clouds = Object.fromEntries(
    Object.entries(accounts).map(([name, account]) => [name, entry(account)] as const),
  );
  const target = file(layout, 'clouds.yaml');
  await fs.writeFile(target, stringify({ clouds }));
  return target;
}

async function writeOpenrc(layout: Layout): Promise<string> {
  const { user, password, domain, project } = accounts.demo;
  const variables = {
    OS_AUTH_URL: `${layout.identityUrl}/v3`,
    OS_IDENTITY_API_VERSION: '3',
    OS_REGION_NAME: region,
    OS_USERNAME: user,
    OS_PASSWORD: password,
    OS_USER_DOMAIN_NAME: domain,
    OS_PROJECT_NAME: project,
    OS_PROJECT_DOMAIN_NAME: domain,
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${value}\n`);
  const target = file(layout, 'openrc');
  await fs.writeFile(target, lines.join(''));
  return target;
}
