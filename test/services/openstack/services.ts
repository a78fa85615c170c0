import path from 'node:path';
import { request } from 'undici';
import { logTail, startServiceProcess, type ServiceProcess } from '../service-process.ts';
import { waitFor } from '../wait-for.ts';
import { file, type CloudSettings, type Layout } from './layout.ts';

export type ServiceName = 'keystone' | 'neutron' | 'octavia';

/** The interpreter of Debian's packages; another may be first in the path. */
export const python = '/usr/bin/python3';

/** Python imports modules from the working directory, so that must not be a source tree. */
export const workingDirectory = '/';

export const environment = {
  PYTHONWARNINGS: 'ignore',
  PYTHONPATH: path.join(import.meta.dirname, 'python'),
  PYTHONDONTWRITEBYTECODE: '1',
  LC_ALL: 'C.UTF-8',
  NO_PROXY: '127.0.0.1',
  no_proxy: '127.0.0.1',
};

/** One process without a master: nothing is left when it is killed. */
function uwsgi(url: string, application: string, threads: number): string[] {
  return [
    '--plugin',
    'python3',
    '--need-app',
    '--lazy-apps',
    '--enable-threads',
    '--die-on-term',
    '--disable-logging',
    '--buffer-size',
    '65535',
    '--post-buffering',
    '65536',
    // uWSGI closes each connection; without this header, clients would keep it in their pools.
    '--http-socket',
    new URL(url).host,
    '--add-header',
    'Connection: close',
    '--processes',
    '1',
    '--threads',
    String(threads),
    '--wsgi-file',
    application,
  ];
}

export function downMembersFile(layout: Layout): string {
  return file(layout, 'down-members');
}

export function computeBrokenFile(layout: Layout): string {
  return file(layout, 'compute-broken');
}

export async function startService(
  name: ServiceName,
  layout: Layout,
  settings: CloudSettings,
): Promise<ServiceProcess> {
  const logFile = file(layout, `${name}.out`);
  const { program, args, env, url } = commands[name](layout, settings);
  const service = startServiceProcess(program, args, {
    logFile,
    env: { ...environment, ...env },
    cwd: workingDirectory,
  });
  const ready = async () => {
    if (!service.isRunning()) throw new Error(`${name} ended:\n${logTail(logFile)}`);
    const answer = await request(url);
    await answer.body.dump();
    return answer.statusCode < 400;
  };
  await waitFor(name, ready, { intervalMs: 100 });
  return service;
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Answers once the service is ready. */
  readonly url: string;
}

const commands: Readonly<
  Record<ServiceName, (layout: Layout, settings: CloudSettings) => Command>
> = {
  keystone: (layout) => ({
    program: 'uwsgi',
    args: uwsgi(layout.identityUrl, '/usr/bin/keystone-wsgi-public', 8),
    env: {
      OS_KEYSTONE_CONFIG_DIR: file(layout, 'keystone'),
      OS_KEYSTONE_CONFIG_FILES: 'keystone.conf',
    },
    url: `${layout.identityUrl}/v3`,
  }),
  neutron: (layout) => ({
    program: python,
    args: [
      '-c',
      'import sys; from neutron.cmd.eventlet.server import main; sys.exit(main())',
      '--config-file',
      file(layout, 'neutron', 'neutron.conf'),
    ],
    env: {},
    url: `${layout.networkUrl}/`,
  }),
  octavia: (layout, settings) => ({
    program: 'uwsgi',
    args: uwsgi(
      layout.loadBalancerUrl,
      path.join(import.meta.dirname, 'python', 'octavia_process.py'),
      16,
    ),
    env: {
      CAUSEWAY_OCTAVIA_CONF: file(layout, 'octavia', 'octavia.conf'),
      CAUSEWAY_DOWN_MEMBERS: downMembersFile(layout),
      CAUSEWAY_COMPUTE_BROKEN: computeBrokenFile(layout),
      CAUSEWAY_HEALTH_INTERVAL: String(settings.healthIntervalSeconds),
      CAUSEWAY_AS_SHIPPED: settings.populatedCreateDefect ? '1' : '',
    },
    url: `${layout.loadBalancerUrl}/`,
  }),
};
