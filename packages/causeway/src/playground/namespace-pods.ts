import { createHash } from 'node:crypto';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { PodRunner, RunningPod } from '@causeway/fake-kubernetes/controllers/pod-runner';
import type { Pod } from '@causeway/fake-kubernetes/resources/pod/pod-type';
import type { EchoService, NamespaceServers } from './namespace-servers.ts';
import { atOnce, type Namespaces } from './namespaces.ts';
import { PodNetwork } from './pod-network.ts';
import { nodeNamed, plans, type FamilyPlan, type PlannedNode } from './plan.ts';

const usualPort = 8080;

/**
 * Runs each pod as a network namespace behind its node, with servers on the containers' ports that answer
 * with the pod's name and the client's address. The image is ignored.
 */
export class NamespacePods implements PodRunner {
  readonly #namespaces: Namespaces;
  readonly #servers: NamespaceServers;
  readonly #running = new Map<string, RunningPod>();
  readonly #listeners = new Set<(key: string) => void>();
  readonly #networks = new Map<string, readonly PodNetwork[]>();

  constructor(namespaces: Namespaces, servers: NamespaceServers) {
    this.#namespaces = namespaces;
    this.#servers = servers;
  }

  async start(pod: Pod): Promise<RunningPod> {
    const { uid, name } = pod.metadata;
    const known = this.#running.get(uid);
    if (known !== undefined) return known;
    if (pod.spec.hostNetwork === true) {
      throw new CausewayError('unsupported', 'pods on the host network do not run here');
    }
    const node = nodeNamed(pod.spec.nodeName);
    const addresses = this.#networksOf(node).map((network) => network.take());
    const machine = machineOf(uid);
    await this.#namespaces.add(machine);
    await this.#namespaces.ip(node.name, [
      `link add ${machine} type veth peer name eth0 netns ${this.#namespaces.nameOf(machine)}`,
      `link set ${machine} up`,
      ...plans.flatMap((plan, index) => nodeLines(plan, machine, addresses[index] ?? '')),
    ]);
    await this.#namespaces.ip(machine, [
      'link set eth0 up',
      ...plans.flatMap((plan, index) => podLines(plan, addresses[index] ?? '')),
    ]);
    await this.#servers.open(name, this.#namespaces.pathOf(machine), servicesOf(pod));
    const running = { addresses, hostAddresses: node.addresses };
    this.#running.set(uid, running);
    for (const listener of this.#listeners) listener(`${pod.metadata.namespace}/${name}`);
    return running;
  }

  async stop(pod: Pod): Promise<void> {
    const { uid, name } = pod.metadata;
    const running = this.#running.get(uid);
    await this.#servers.close(name);
    await this.#namespaces.remove(machineOf(uid));
    this.#running.delete(uid);
    const networks = this.#networksOf(nodeNamed(pod.spec.nodeName));
    for (const [index, address] of (running?.addresses ?? []).entries()) {
      networks[index]?.free(address);
    }
  }

  isReady(pod: Pod): boolean {
    return this.#running.has(pod.metadata.uid);
  }

  onReadinessChange(listener: (key: string) => void): { close(): void } {
    this.#listeners.add(listener);
    return { close: () => void this.#listeners.delete(listener) };
  }

  #networksOf({ name, pods }: PlannedNode): readonly PodNetwork[] {
    const networks = this.#networks.get(name) ?? pods.map((prefix) => new PodNetwork(prefix));
    this.#networks.set(name, networks);
    return networks;
  }
}

function nodeLines({ family, pods }: FamilyPlan, link: string, address: string): string[] {
  const { gateway, bits } = pods;
  const own = family === 4 ? `${gateway}/${bits}` : `${gateway}/64`;
  return [
    `address add ${own} dev ${link} scope link${atOnce(gateway)}`,
    `route add ${address}/${bits} dev ${link}`,
  ];
}

function podLines({ family, pods }: FamilyPlan, address: string): string[] {
  const { gateway, bits } = pods;
  return [
    `address add ${address}/${bits} dev eth0${atOnce(address)}`,
    // In IPv6 it is a link-local address.
    ...(family === 4 ? [`route add ${gateway}/${bits} dev eth0`] : []),
    `route add default via ${gateway} dev eth0`,
  ];
}

/** Short enough for the name of a network interface. */
function machineOf(uid: string): string {
  return `pod-${createHash('sha256').update(uid).digest('hex').slice(0, 9)}`;
}

function servicesOf(pod: Pod): EchoService[] {
  const named = (pod.spec.containers ?? []).flatMap(({ ports = [] }) =>
    ports.map(({ containerPort, protocol }) => ({
      protocol: protocol === 'UDP' ? ('UDP' as const) : ('TCP' as const),
      port: containerPort,
    })),
  );
  if (named.length > 0) return named;
  return [
    { protocol: 'TCP', port: usualPort },
    { protocol: 'UDP', port: usualPort },
  ];
}
