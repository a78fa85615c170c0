import path from 'node:path';
import type { Log } from '../runtime/log.ts';
import type { EmbeddedOpenStack } from '../sandbox/openstack/cloud.ts';
import type { DataPath, GatewayPlace, GatewaySettings } from './data-path.ts';
import { NamespacePods } from './namespace-pods.ts';
import { NamespaceServers } from './namespace-servers.ts';
import { Namespaces } from './namespaces.ts';
import { gatewayNames, plan, plannedNodes, type PlannedNode } from './plan.ts';
import type { Machine } from './ready-file.ts';
import { startRelay, type Relay } from './relay.ts';
import { Router } from './router.ts';

const proxyHealthPort = 10256;

/** Gateways, nodes, pods and client are network namespaces, with real nftables and keepalived. */
export class KernelDataPath implements DataPath {
  readonly kind = 'kernel';
  readonly pods: NamespacePods;
  readonly #namespaces: Namespaces;
  readonly #servers = new NamespaceServers();
  readonly #directory: string;
  readonly #relays: Relay[] = [];
  #stopRouter = () => {};

  private constructor(namespaces: Namespaces, directory: string) {
    this.#namespaces = namespaces;
    this.#directory = directory;
    this.pods = new NamespacePods(namespaces, this.#servers);
  }

  /** The client, the router and the nodes; gateways and pods come later. */
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
    const { tenant, inside } = plan;
    const name = gatewayNames[index] ?? '';
    const external = places[index]?.address ?? '';
    const internal = inside.gateways[index] ?? '';
    await this.#namespaces.add(name);
    await this.#namespaces.plug(name, 'ext', 'tenant', [`${external}/${tenant.bits}`]);
    await this.#namespaces.plug(name, 'int', 'inside', [`${internal}/${inside.bits}`]);
    await this.#namespaces.ip(name, [`route add default via ${tenant.router}`, ...podRoutes()]);
    const others = <T>(all: readonly T[]) => all.filter((_, other) => other !== index);
    return {
      addresses: { start: 'spawn', priority: 250 - index * 10 },
      external: {
        interface: 'ext',
        virtualRouterId: 51,
        address4: external,
        peers4: others(places).map(({ address }) => address),
      },
      internal: {
        interface: 'int',
        virtualRouterId: 52,
        address4: internal,
        peers4: others(inside.gateways),
        routes: [inside.shared],
      },
    };
  }

  proxySettings() {
    return Promise.resolve({ health: { port: proxyHealthPort } });
  }

  async bringPort({ name }: PlannedNode, port: number): Promise<number> {
    // Two steps, because a socket in the file system is the same in every network.
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

async function buildNetwork(namespaces: Namespaces): Promise<void> {
  const { outside, tenant, inside } = plan;
  await namespaces.add('client');
  await namespaces.plug('client', 'eth0', 'outside', [`${outside.client}/${outside.bits}`]);
  await namespaces.ip('client', [`route add default via ${outside.router}`]);
  await namespaces.add('router');
  await namespaces.plug('router', 'outside', 'outside', [`${outside.router}/${outside.bits}`]);
  await namespaces.plug('router', 'tenant', 'tenant', [`${tenant.router}/${tenant.bits}`]);
  await namespaces.sysctl('router', 'net.ipv4.ip_forward=1');
  for (const { name, address } of plannedNodes) {
    await namespaces.add(name);
    await namespaces.plug(name, 'eth0', 'inside', [`${address}/${inside.bits}`]);
    await namespaces.ip(name, [`route add default via ${inside.shared}`, ...podRoutes(name)]);
    await namespaces.sysctl(name, 'net.ipv4.ip_forward=1');
  }
}

/** The ways to the pods of all nodes but one's own. */
function podRoutes(own?: string): string[] {
  return plannedNodes
    .filter(({ name }) => name !== own)
    .map(({ pods, address }) => `route add ${pods} via ${address}`);
}
