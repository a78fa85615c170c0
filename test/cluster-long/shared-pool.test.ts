import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webDeployment, webService } from '../cluster/real/workloads.ts';
import { ensureProductImage } from '../services/image/product-image.ts';
import { isAvailable } from '../services/missing.ts';
import { ensureProgram } from '../services/programs.ts';
import {
  chart,
  Installation,
  namespace,
  proxyValues,
} from '../services/real-cluster/installation.ts';
import type { Machine } from '../services/real-cluster/machine.ts';
import { prepareRealCluster, RealCluster } from '../services/real-cluster/real-cluster.ts';
import { Ledger, ledgerSettings, prepareLedger } from './ledger.ts';

const isRunnable =
  (await isAvailable(prepareRealCluster)) &&
  (await isAvailable(ensureProductImage)) &&
  (await isAvailable(() => ensureProgram('helm')));

const names = ['red', 'blue', 'green'] as const;
const site = 'edge';
const servicesEach = 5;
/**
 * Two more than the Services and the control planes of all have: the next Services get released addresses.
 */
const poolAddresses = '198.51.100.10-198.51.100.29';
const ledgerPort = 30_844;
/** Address of a cluster's only node on the shared network. */
const outerAddress = (at: number) => `192.0.2.${11 + at}`;

/** External clients reach the ledger on a node port, at an address that is not the node's first one. */
const proxy = {
  ...proxyValues,
  config: { ...proxyValues.config, nodePortAddresses: ['192.0.2.0/24'] },
};

interface Services {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
  }[];
}

interface Member {
  readonly name: string;
  readonly cluster: RealCluster;
  readonly installation: Installation;
  readonly outer: string;
}

/** The tests run in order: each continues from the state of the previous one. */
describe.skipIf(!isRunnable)('three real clusters with one pool', () => {
  const members: Member[] = [];
  let client: Machine;
  let ledger: Ledger;

  beforeAll(async () => {
    const { archive } = await ensureProductImage();
    const options = { nodes: 1, kubeProxy: false, images: [archive] };
    for (const [at, name] of names.entries()) {
      const cluster = await RealCluster.start(options);
      const installation = await Installation.prepare(cluster);
      members.push({ name, cluster, installation, outer: outerAddress(at) });
    }
    client = await joinNetworks(members);
  });
  afterAll(async () => {
    // The first one has the switch of the others.
    for (const { cluster } of members.reverse()) await cluster.stop();
  });

  /** Addresses in the status of a cluster's Services. */
  const shown = async ({ cluster }: Member) => {
    const { items } = await cluster.get<Services>('services', '-l', 'from=pool');
    return new Map(
      items.flatMap(({ metadata, status }) => {
        const ip = status.loadBalancer.ingress?.[0]?.ip;
        return ip === undefined ? [] : [[metadata.name, ip] as const];
      }),
    );
  };
  const served = async (member: Member, count: number) => {
    await expect.poll(async () => (await shown(member)).size).toBe(count);
    return shown(member);
  };

  test('the first cluster runs the ledger, and all clusters get their addresses from it', async () => {
    const [first] = members;
    if (first === undefined) throw new Error('there are members');
    const authority = await startLedger(first);
    ledger = new Ledger(first.cluster);
    await ledger.begin({ site, addresses: poolAddresses });
    for (const member of members) {
      const token = await ledger.addCluster(site, member.name);
      await startPool(member, { authority, token, server: `https://${first.outer}:${ledgerPort}` });
    }
  });

  test('Services get addresses that no other cluster has, and an external client reaches each of them', async () => {
    await Promise.all(members.map((member) => createServices(member, 0)));
    const all: string[] = [];
    for (const member of members) {
      for (const address of (await served(member, servicesEach)).values()) {
        all.push(address);
        await route(client, address, member);
        await expect.poll(() => ask(client, address)).toContain(`web-${member.name}-`);
      }
    }
    expect(new Set(all).size).toBe(names.length * servicesEach);
    // The clusters' control planes have one each.
    expect(await ledger.held(site)).toBe(all.length + names.length);
  });

  test('an address that one cluster releases goes to another, and never while it is in use', async () => {
    const [first, second] = members;
    if (first === undefined || second === undefined) throw new Error('there are members');
    const before = (await ledger.held(site)) - servicesEach;
    const givenBack = [...(await shown(first)).values()];
    await first.cluster.kubectl('delete', 'services', '-l', 'from=pool', '--timeout=300s');
    await expect.poll(() => ledger.held(site)).toBe(before);
    await createServices(second, servicesEach);
    const all: string[] = [];
    all.push(...(await served(second, 2 * servicesEach)).values());
    for (const member of members.slice(2))
      all.push(...(await served(member, servicesEach)).values());
    expect(new Set(all).size).toBe(all.length);
    const taken = (await shown(second)).values().toArray();
    expect(taken.filter((address) => givenBack.includes(address)).length).toBeGreaterThanOrEqual(3);
    for (const address of taken) {
      await route(client, address, second);
      await expect.poll(() => ask(client, address)).toContain(`web-${second.name}-`);
    }
  });
});

/** A switch for each cluster's node, and a client that is connected only to it. */
async function joinNetworks(members: readonly Member[]): Promise<Machine> {
  const [first] = members;
  if (first === undefined) throw new Error('there are members');
  await first.cluster.addSwitch('outer');
  for (const { cluster, outer } of members) {
    for (const { machine } of cluster.nodes) {
      await first.cluster.plug(machine, 'outer', `${outer}/24`);
      // Like network plug-ins: external machines don't know pods.
      const rules =
        'add table ip outer; add chain ip outer out { type nat hook postrouting priority 110; }';
      await machine.run('nft', `${rules}; add rule ip outer out oifname outer masquerade`);
    }
  }
  const client = await first.cluster.addMachine('client');
  await first.cluster.plug(client, 'outer', '192.0.2.100/24');
  return client;
}

async function startLedger({ cluster, installation, outer }: Member): Promise<string> {
  const authority = await prepareLedger(cluster, installation, [`IP:${outer}`]);
  const values = { proxy, ipam: { enabled: true, config: ledgerSettings } };
  await installation.helmWith(values, 'install', 'causeway', chart);
  await installation.rollOut('daemonset/causeway-proxy', 'causeway-node');
  await installation.rollOut('deployment/coredns', 'kube-system');
  await installation.rollOut('statefulset/causeway-ipam', namespace);
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'ledger', namespace },
    spec: {
      type: 'NodePort',
      selector: { 'app.kubernetes.io/component': 'ipam' },
      ports: [{ port: 8444, nodePort: ledgerPort }],
    },
  });
  return authority;
}

async function startPool(
  { name, installation }: Member,
  ledger: { readonly authority: string; readonly token: string; readonly server: string },
): Promise<void> {
  await installation.addSecret('causeway-controller', {
    'ipam.token': ledger.token,
    'ipam-ca.crt': ledger.authority,
  });
  const config = {
    clusterId: name,
    defaultProvider: 'pool',
    pool: {
      servers: [ledger.server],
      site,
      cluster: name,
      announcer: 'plain',
      tokenFile: '/etc/causeway/secrets/ipam.token',
      authorityFile: '/etc/causeway/secrets/ipam-ca.crt',
    },
  };
  const values = {
    proxy,
    pool: { enabled: true },
    controller: { config, replicas: 1 },
    ...(name === names[0] ? { ipam: { enabled: true, config: ledgerSettings } } : {}),
  };
  await installation.helmWith(values, 'upgrade', '--install', 'causeway', chart);
  await installation.rollOut('daemonset/causeway-proxy', 'causeway-node');
  await installation.rollOut('deployment/causeway-controller', namespace);
}

async function createServices({ name, cluster }: Member, from: number): Promise<void> {
  const numbers = Array.from({ length: servicesEach }, (_, at) => from + at);
  await cluster.apply(
    webDeployment(`web-${name}`, 1),
    ...numbers.map((number) => {
      const spec = { type: 'LoadBalancer', selector: { app: `web-${name}` } };
      const service = webService(`pool-${number}`, spec);
      return { ...service, metadata: { ...service.metadata, labels: { from: 'pool' } } };
    }),
  );
}

/** With the announcer `plain`, an external route leads to the address: here, the client's own. */
async function route(client: Machine, address: string, { outer }: Member): Promise<void> {
  await client.run('ip', 'route', 'replace', `${address}/32`, 'via', outer);
}

async function ask(client: Machine, address: string): Promise<string> {
  const words = ['-sS', '--max-time', '10', `http://${address}/`];
  return (await client.attempt('curl', words)).stdout;
}
