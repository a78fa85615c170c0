import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { freePort } from '../../services/free-port.ts';
import { startIpamServer, type IpamServer } from '../../services/ipam-server.ts';
import { prepareKubernetes, startKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { runProgram } from '../../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import {
  logTail,
  startServiceProcess,
  type ServiceProcess,
} from '../../services/service-process.ts';
import { waitFor } from '../../services/wait-for.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);

interface Cluster {
  readonly name: string;
  readonly kubeconfig: string;
  readonly controller: ServiceProcess;
  readonly stop: () => Promise<unknown>;
}

interface ServiceList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly type: string };
    readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
  }[];
}

let directory = '';
let kubectlPath = '';
let server: IpamServer;
const clusters = new Map<string, Cluster>();
const file = (name: string) => path.join(directory, name);

/** `causeway …` as an operator of the ledger. */
async function causeway(...args: string[]): Promise<string> {
  const env = { CAUSEWAY_SERVER: server.url, CAUSEWAY_TOKEN_FILE: file('operator.token') };
  const answer = await runProgram(process.execPath, [main, ...args], { env, cwd: directory });
  if (answer.code !== 0) throw new Error(`causeway ${args.join(' ')}: ${answer.stderr}`);
  return answer.stdout;
}

async function kubectl(cluster: string, ...args: string[]): Promise<string> {
  const kubeconfig = clusters.get(cluster)?.kubeconfig ?? '';
  const answer = await runProgram(kubectlPath, ['--kubeconfig', kubeconfig, ...args]);
  if (answer.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${answer.stderr}`);
  return answer.stdout;
}

/** The addresses in the status of a cluster's Services, by name. */
async function shown(cluster: string): Promise<Map<string, string>> {
  const list = JSON.parse(await kubectl(cluster, 'get', 'services', '-o', 'json')) as ServiceList;
  return new Map(
    list.items.flatMap(({ metadata, status }) => {
      const ip = status.loadBalancer.ingress?.[0]?.ip;
      return ip === undefined ? [] : [[metadata.name, ip] as const];
    }),
  );
}

async function createServices(cluster: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await kubectl(cluster, 'create', 'service', 'loadbalancer', name, '--tcp', '80:8080');
  }
}

async function served(cluster: string, names: readonly string[]): Promise<Map<string, string>> {
  return waitFor(`the Services of ${cluster}`, async () => {
    const addresses = await shown(cluster);
    const missing = names.filter((name) => !addresses.has(name));
    if (missing.length === 0) return addresses;
    throw new Error(`${missing.join()} of ${cluster}:\n${logTail(file(`${cluster}.log`))}`);
  });
}

const poolArgs = (name: string) => [
  ...['--pool-servers', server.url, '--pool-site', 'edge'],
  ...['--pool-cluster', name, '--pool-token-file', file(`${name}.token`)],
  ...['--pool-announcer', 'plain'],
];

async function startController(name: string, kubeconfig: string): Promise<ServiceProcess> {
  const observe = ['--observe-port', String(await freePort())];
  const common = ['--kubeconfig', kubeconfig, '--default-provider', 'pool', ...observe];
  const timing = ['--pool-heartbeat-seconds', '1', '--drift-seconds', '10'];
  const args = [main, 'controller', ...common, '--pool-enabled', ...poolArgs(name), ...timing];
  return startServiceProcess(process.execPath, args, { logFile: file(`${name}.log`) });
}

async function addCluster(
  name: string,
  kubeconfig: string,
  stop: () => Promise<unknown>,
): Promise<void> {
  await causeway('ipam', 'clusters', 'create', 'edge', name, '--credential-file', `${name}.token`);
  const controller = await startController(name, kubeconfig);
  clusters.set(name, { name, kubeconfig, controller, stop });
}

const usage = async (): Promise<{ held: number; free: number }> => {
  const text = await causeway('ipam', 'pools', 'list', 'edge', '-o', 'json');
  const [pool] = JSON.parse(text) as { usage: { held: number; free: number } }[];
  return pool?.usage ?? { held: -1, free: -1 };
};

const isRealThere = await isAvailable(() => prepareKubernetes());

beforeAll(async () => {
  kubectlPath = await ensureProgram('kubectl');
  directory = await scratchDirectory('three-clusters');
  const ledger = ['--ledger', `sqlite:${file('ipam.db')}`];
  const init = ['init', ...ledger, '--credential-file', file('operator.token')];
  await runProgram(process.execPath, [main, 'ipam', ...init]);
  server = await startIpamServer(directory, 'ipam', ledger);
  const times = ['--quarantine', '1s', '--unconfirmed-quarantine', '5s'];
  await causeway('ipam', 'sites', 'set', 'edge', ...times);
  await causeway('ipam', 'pools', 'set', 'edge', 'public', '--addresses', '192.0.2.0/27');
  for (const name of ['red', 'blue']) {
    const kubernetes = await startEmbeddedKubernetes();
    const kubeconfig = file(`${name}.kubeconfig`);
    await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
    await addCluster(name, kubeconfig, () => kubernetes.stop());
  }
  const third = isRealThere ? await startKubernetes() : await startEmbeddedKubernetes();
  const kubeconfig = file('green.kubeconfig');
  const text = isRealThere ? await fs.readFile(third.kubeconfig, 'utf8') : third.kubeconfig;
  await fs.writeFile(kubeconfig, text);
  await addCluster('green', kubeconfig, () => third.stop());
});

afterAll(async () => {
  for (const { controller, stop } of clusters.values()) {
    await controller.stop();
    await stop();
  }
  await server.process.stop();
  await removeDirectory(directory);
});

describe('three clusters, one pool', () => {
  const names = Array.from({ length: 8 }, (_, index) => `web-${index}`);

  test('Services from kubectl get unique addresses, and a killed server loses none', async () => {
    await Promise.all([...clusters.keys()].map((name) => createServices(name, names.slice(0, 4))));
    for (const name of clusters.keys()) await served(name, names.slice(0, 4));
    server.process.kill('SIGKILL');
    const before = await shown('red');
    await Promise.all([...clusters.keys()].map((name) => createServices(name, names.slice(4))));
    expect(await shown('red')).toEqual(before);
    await server.restart();
    const all: string[] = [];
    for (const name of clusters.keys()) all.push(...(await served(name, names)).values());
    expect(all).toHaveLength(24);
    expect(new Set(all).size).toBe(24);
    // The clusters' control planes have one each.
    expect(await usage()).toEqual(expect.objectContaining({ held: 27, free: 3 }));
    expect(new Map([...(await shown('red'))].slice(0, before.size))).toEqual(before);
  });

  test("a deleted Service's address is assigned again after its quarantine", async () => {
    await kubectl('red', 'delete', 'service', ...names.slice(0, 4));
    expect([...(await shown('red')).keys()]).toEqual(names.slice(4));
    await waitFor('the rest to be over', async () => (await usage()).free === 7);
    const check = ['pool', 'check', '--kubeconfig', file('red.kubeconfig'), ...poolArgs('red')];
    expect(await causeway(...check)).toMatch(/^FINDING/);
  });

  test('a Service for MetalLB keeps its fields, gets its annotation, and is released when it is no load balancer', async () => {
    const annotation = 'causeway.dev/announcer=metallb';
    const cluster = 'green';
    const manifest = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'announced', annotations: Object.fromEntries([annotation.split('=')]) },
      spec: {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        loadBalancerSourceRanges: ['203.0.113.0/24'],
        ports: [{ port: 80 }],
      },
    };
    await fs.writeFile(file('announced.json'), JSON.stringify(manifest));
    await kubectl(cluster, 'create', '-f', file('announced.json'));
    const address = await waitFor('MetalLB to get the address', async () => {
      const path = '{.metadata.annotations.metallb\\.io/loadBalancerIPs}';
      const text = await kubectl(cluster, 'get', 'service', 'announced', '-o', `jsonpath=${path}`);
      return text === '' ? undefined : text;
    });
    const patch = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: address }] } } });
    const status = ['--subresource', 'status', '--type', 'merge', '-p', patch];
    await kubectl(cluster, 'patch', 'service', 'announced', ...status);
    await kubectl(cluster, 'delete', 'service', 'announced');
    await waitFor('the rest to be over', async () => (await usage()).free === 7);
  });

  test('a removed cluster releases all its addresses at once; other clusters get them', async () => {
    clusters.get('blue')?.controller.kill('SIGKILL');
    const voided = [...(await shown('blue')).values()];
    await causeway('ipam', 'clusters', 'remove', 'edge', 'blue', '--reason', 'end of the test');
    expect((await usage()).held).toBe(18 - 4);
    const more = Array.from({ length: 14 }, (_, index) => `more-${index}`);
    await createServices('green', more);
    const green = await served('green', more);
    const red = await shown('red');
    const all = [...green.values(), ...red.values()];
    expect(new Set(all).size).toBe(all.length);
    expect(voided.filter((address) => all.includes(address)).length).toBeGreaterThan(5);
  });
});
