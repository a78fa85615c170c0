import path from 'node:path';
import type { Log } from '@causeway/base/observability/log';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import type { DataPath, GatewayPlace, GatewaySettings } from './data-path.ts';
import { NamespacePods } from './namespace-pods.ts';
import { NamespaceServers } from './namespace-servers.ts';
import { Namespaces } from './namespaces.ts';
import { gatewayNames, plannedNodes, plans, type FamilyPlan, type PlannedNode } from './plan.ts';
import type { Machine } from './ready-file.ts';
import { startRelay, type Relay } from './relay.ts';
import { Router } from './router.ts';

const proxyHealthPort = 10256;

/** Gateways, nodes, pods and client are network namespaces, with real nftables and keepalived. */
export class KernelDataPath implements DataPath {
  readonly kind = 'kernel';
  readonly pods: NamespacePods;
  readonly #namespaces: Namespaces;
  readonly #servers: NamespaceServers;
  readonly #directory: string;
  readonly #relays: Relay[] = [];
  #stopRouter = () => {};

  private constructor(namespaces: Namespaces, directory: string) {
    this.#namespaces = namespaces;
    this.#directory = directory;
    this.#servers = new NamespaceServers(namespaces.idleNamespace);
    this.pods = new NamespacePods(namespaces, this.#servers);
  }

  /** Creates the client, the router and the nodes; gateways and pods are added later. */
  static async create(directory: string): Promise<KernelDataPath> {
    const namespaces = await Namespaces.create(['outside', 'tenant', 'inside']);
    try {
      await buildNetwork(namespaces);
    } catch (error) {
      await namespaces.removeAll();
      throw error;
    }
    return new KernelDataPath(namespaces, directory);
  }

  place(machine: string): Machine {
    return this.#namespaces.place(machine);
  }

  words(machine: string): readonly string[] {
    return this.#namespaces.words(machine);
  }

  async followCloud(cloud: EmbeddedOpenStack, log: Log): Promise<void> {
    this.#stopRouter = await new Router(this.#namespaces, cloud, log).start();
  }

  async addGateway(index: number, places: readonly GatewayPlace[]): Promise<GatewaySettings> {
    const name = gatewayNames[index] ?? '';
    const own = places[index]?.addresses ?? [];
    const at = (bits: (plan: FamilyPlan) => number, addresses: readonly string[]) =>
      plans.map((plan, family) => `${addresses[family] ?? ''}/${bits(plan)}`);
    const internal = plans.map(({ inside }) => inside.gateways[index] ?? '');
    await this.#namespaces.add(name);
    const outward = at(({ tenant }) => tenant.bits, own);
    const inward = at(({ inside }) => inside.bits, internal);
    await this.#namespaces.plug(name, 'ext', 'tenant', outward);
    await this.#namespaces.plug(name, 'int', 'inside', inward);
    const wayOut = plans.map(({ tenant }) => `route add default via ${tenant.router}`);
    await this.#namespaces.ip(name, [...wayOut, ...podRoutes()]);
    const others = <T>(all: readonly T[]) => all.filter((_, other) => other !== index);
    const peers = others(places);
    return {
      addresses: { start: 'spawn', priority: 250 - index * 10 },
      external: {
        interface: 'ext',
        virtualRouterId: 51,
        ...addressesOf(own, (family) => peers.map(({ addresses }) => addresses[family] ?? '')),
      },
      internal: {
        interface: 'int',
        virtualRouterId: 52,
        ...addressesOf(internal, (family) => others(plans[family]?.inside.gateways ?? [])),
        routes: plans.map(({ inside }) => inside.shared),
      },
    };
  }

  proxySettings() {
    return Promise.resolve({ health: { port: proxyHealthPort } });
  }

  async bringPort({ name }: PlannedNode, port: number): Promise<number> {
    // Two steps, because a socket in the file system is the same in every network namespace.
    const there = path.join(this.#directory, `${name}.sock`);
    this.#relays.push(await startRelay({ path: there }, { port }));
    await this.#servers.forward(this.#namespaces.pathOf(name), port, there);
    return port;
  }

  async remove(): Promise<void> {
    this.#stopRouter();
    await this.#servers.stop();
    await Promise.all(this.#relays.map((relay) => relay.close()));
    await this.#namespaces.removeAll();
  }
}

/** A gateway's own addresses and those of its peers, in the form of the agent's settings. */
function addressesOf(own: readonly string[], peers: (family: number) => readonly string[]): object {
  const settings: Record<string, string | readonly string[]> = {};
  for (const [index, { family }] of plans.entries()) {
    settings[`address${family}`] = own[index] ?? '';
    settings[`peers${family}`] = peers(index);
  }
  return settings;
}

async function buildNetwork(namespaces: Namespaces): Promise<void> {
  const forwarding = plans.map(({ family }) =>
    family === 4 ? 'net.ipv4.ip_forward=1' : 'net.ipv6.conf.all.forwarding=1',
  );
  const all = (line: (plan: FamilyPlan) => string) => plans.map(line);
  await namespaces.add('client');
  const client = all(({ outside }) => `${outside.client}/${outside.bits}`);
  await namespaces.plug('client', 'eth0', 'outside', client);
  await namespaces.ip(
    'client',
    all(({ outside }) => `route add default via ${outside.router}`),
  );
  await namespaces.add('router');
  const outside = all((plan) => `${plan.outside.router}/${plan.outside.bits}`);
  await namespaces.plug('router', 'outside', 'outside', outside);
  const tenant = all((plan) => `${plan.tenant.router}/${plan.tenant.bits}`);
  await namespaces.plug('router', 'tenant', 'tenant', tenant);
  await namespaces.sysctl('router', ...forwarding);
  for (const { name, addresses } of plannedNodes) {
    await namespaces.add(name);
    const own = plans.map(({ inside }, index) => `${addresses[index] ?? ''}/${inside.bits}`);
    await namespaces.plug(name, 'eth0', 'inside', own);
    const wayOut = all(({ inside }) => `route add default via ${inside.shared}`);
    await namespaces.ip(name, [...wayOut, ...podRoutes(name)]);
    await namespaces.sysctl(name, ...forwarding);
  }
}

/** The routes to the pods of all other nodes. */
function podRoutes(own?: string): string[] {
  return plannedNodes
    .filter(({ name }) => name !== own)
    .flatMap(({ pods, addresses }) =>
      pods.map((prefix, index) => `route add ${prefix} via ${addresses[index] ?? ''}`),
    );
}
