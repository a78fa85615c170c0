// The other processes of the discovery benchmark, so that time and memory of each are separate:
// - cloud: an embedded OpenStack with many projects
// - cluster: an embedded Kubernetes API
// - discoverer: the product, one cycle at a time
// - script: the same requests as a cycle, by a simple loop

import fs from 'node:fs/promises';
import { Agent, request } from 'undici';
import { ClusterView } from '../packages/causeway/src/discovery/cluster-view.ts';
import { makeCloud } from '../packages/causeway/src/discovery/make-cloud.ts';
import { backendsOf, discoverySettings } from '../packages/causeway/src/discovery/settings.ts';
import { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../packages/kubernetes/src/client/http-transport.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';
import { noMetrics } from '../packages/base/src/observability/metrics.ts';
import { nextTurn } from '../packages/base/src/time/next-turn.ts';
import { runTogether } from '../packages/base/src/work/run-together.ts';
import { keepHeapSmall } from '../packages/base/src/process/thrifty-heap.ts';
import { startEmbeddedKubernetes } from '../packages/fake-kubernetes/src/start.ts';
import { startEmbeddedOpenStack } from '../packages/fake-openstack/src/cloud.ts';

export interface CloudReply {
  readonly authUrl: string;
  readonly url: string;
  /** Requests since the last call: by service, with logins and changes separate. */
  readonly requests: Readonly<Record<string, number>>;
}

export interface ClusterReply {
  readonly writes: number;
}

export interface WorkReply {
  readonly milliseconds: number;
  /** Peak memory of the process, in MB. */
  readonly peak: number;
  readonly summary: Readonly<Record<string, unknown>>;
}

type Command = Readonly<Record<string, unknown>>;
type Handler = (command: Command) => Promise<object>;

const [role = '', argument = '{}'] = process.argv.slice(2);
const options = JSON.parse(argument) as Record<string, string | number>;
const concurrency = 16;

const roles: Readonly<Record<string, () => Promise<Handler>>> = {
  cloud: startCloud,
  cluster: startCluster,
  discoverer: startDiscoverer,
  script: startScript,
};

const handler = await roles[role]?.();
process.on('message', (command: Command) => {
  handler?.(command).then(
    (reply) => process.send?.(reply),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function startCloud(): Promise<Handler> {
  const cloud = await startEmbeddedOpenStack();
  const { directory } = cloud.keystone;
  const user = directory.findUser('default', 'demo');
  const subnet = cloud.neutron.subnets.all().find(({ name }) => name === 'private-v4');
  const balancer = (name: string, address: string) => {
    const members = [{ address, protocol_port: 8080 }];
    const pool = { name, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', members };
    const listener = { name: 'http', protocol: 'HTTP', protocol_port: 80, default_pool: pool };
    return { name, vip_subnet_id: subnet?.id, listeners: [listener] };
  };
  for (let index = 0; index < Number(options['projects']); index += 1) {
    const project = directory.addProject('default', `project-${index}`);
    directory.grant(user?.id ?? '', project.id, 'member', 'load-balancer_member');
    for (const name of ['one', 'two']) {
      cloud.addLoadBalancer(
        project.id,
        balancer(name, `10.${(index >> 8) & 255}.${index & 255}.7`),
      );
    }
  }
  let requests: Record<string, number> = {};
  cloud.onRequest(({ service, path }) => {
    const kind = path.endsWith('/auth/tokens') ? 'tokens' : service;
    requests[kind] = (requests[kind] ?? 0) + 1;
  });
  return async (command) => {
    if (command['hang'] === false) cloud.faults.clear();
    if (typeof command['latencyMs'] === 'number') cloud.faults.latencyMs = command['latencyMs'];
    if (command['hang'] === true) {
      const project = directory.findProject('default', 'project-0');
      const pool = cloud.octavia.pools.all().find((row) => row.project_id === project?.id);
      const path = new RegExp(`/pools/${pool?.id}/members$`);
      cloud.faults.add({ path, effect: { kind: 'delay', milliseconds: 600_000 } });
    }
    // A request is counted after its answer was sent.
    await nextTurn();
    const counted = requests;
    requests = {};
    return {
      authUrl: cloud.authUrl,
      url: cloud.loadBalancerUrl,
      requests: counted,
    } satisfies CloudReply;
  };
}

async function startCluster(): Promise<Handler> {
  let writes = 0;
  const kubernetes = await startEmbeddedKubernetes({
    fault: ({ method }) => {
      writes += method === 'GET' ? 0 : 1;
      return undefined;
    },
  });
  await fs.writeFile(String(options['kubeconfig']), kubernetes.kubeconfig, { mode: 0o600 });
  return async () => {
    const counted = writes;
    writes = 0;
    return { writes: counted } satisfies ClusterReply;
  };
}

async function startDiscoverer(): Promise<Handler> {
  keepHeapSmall();
  const clock = systemClock;
  const kubeconfig = String(options['kubeconfig']);
  const connection = await findConnection({ kubeconfig, env: {}, clock });
  const client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  const settings = discoverySettings.parse({
    backendName: 'bench',
    workers: concurrency,
    ignoreProjects: ['demo', 'alt'],
    projectSeconds: options['projectSeconds'],
  });
  const surroundings = { client, clock, log: discardLog, metrics: noMetrics };
  const view = new ClusterView(surroundings);
  const [own] = backendsOf(settings);
  if (own === undefined) throw new Error('no backend');
  const backend = makeCloud(own, true, settings, view, {
    ...surroundings,
    recordEvent: () => true,
    environment: {
      OS_AUTH_URL: String(options['authUrl']),
      OS_USERNAME: 'demo',
      OS_PASSWORD: 'demo',
      OS_REGION_NAME: 'RegionOne',
    },
    workingDirectory: '/',
  });
  const { signal } = new AbortController();
  for (const loop of Object.values(view.loops())) void loop(signal);
  await view.whenSynced(signal);
  return async () => {
    const started = performance.now();
    const report = await backend.cycle(false, signal);
    const { projects, failed, replicated, written, removed, held } = report;
    return reply(started, { projects, failed, replicated, written, removed, held });
  };
}

function reply(started: number, summary: WorkReply['summary']): WorkReply {
  const milliseconds = performance.now() - started;
  const peak = (process.resourceUsage().maxRSS * 1024) / 1e6;
  return { milliseconds, peak, summary };
}

interface Listed {
  readonly id: string;
  readonly name: string;
}

/** A simple script: lists, members, JSON.parse. It keeps its tokens, like the product. */
async function startScript(): Promise<Handler> {
  const agent = new Agent({ connections: concurrency });
  const authUrl = String(options['authUrl']);
  const call = async (method: 'GET' | 'POST', url: string, token?: string, body?: object) => {
    const answer = await request(url, {
      method,
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { 'x-auth-token': token }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const value = JSON.parse(await answer.body.text()) as Record<string, Listed[]>;
    if (answer.statusCode >= 300) throw new Error(`${url}: ${answer.statusCode}`);
    return { value, subject: String(answer.headers['x-subject-token']) };
  };
  const login = async (identity: object, scope?: object) =>
    (await call('POST', `${authUrl}/auth/tokens`, undefined, { auth: { identity, scope } }))
      .subject;
  const user = { name: 'demo', password: 'demo', domain: { id: 'default' } };
  const unscoped = await login({ methods: ['password'], password: { user } });
  const tokens = new Map<string, string>();
  const base = `${String(options['url'])}/v2/lbaas`;
  const oneProject = async (id: string) => {
    const token =
      tokens.get(id) ??
      (await login({ methods: ['token'], token: { id: unscoped } }, { project: { id } }));
    tokens.set(id, token);
    const list = async (kind: string) =>
      (await call('GET', `${base}/${kind}?project_id=${id}&limit=200`, token)).value[kind] ?? [];
    await list('loadbalancers');
    await list('listeners');
    for (const pool of await list('pools')) {
      await call('GET', `${base}/pools/${pool.id}/members?limit=200`, token);
    }
  };
  return async () => {
    const started = performance.now();
    const { value } = await call('GET', `${authUrl}/auth/projects`, unscoped);
    const projects = (value['projects'] ?? []).filter(({ name }) => name.startsWith('project-'));
    await runTogether(projects, concurrency, ({ id }) => oneProject(id));
    return reply(started, { projects: projects.length });
  };
}
