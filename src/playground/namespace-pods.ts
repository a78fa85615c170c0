import { createHash } from 'node:crypto';
import { CausewayError } from '../domain/error.ts';
import type { PodRunner, RunningPod } from '../sandbox/kubernetes/controllers/pod-runner.ts';
import type { Pod } from '../sandbox/kubernetes/resources/pod/pod-type.ts';
import type { EchoService, NamespaceServers } from './namespace-servers.ts';
import type { Namespaces } from './namespaces.ts';
import { PodNetwork } from './pod-network.ts';
import { nodeNamed, plan, type PlannedNode } from './plan.ts';

const usualPort = 8080;

/**
 * Runs each pod as a network namespace behind its node, with servers on the containers' ports that
 * answer with the pod's name and the client's address. What image it names makes no difference.
 */
export class NamespacePods implements PodRunner {
  readonly #namespaces: Namespaces;
  readonly #servers: NamespaceServers;
  readonly #running = new Map<string, RunningPod>();
  readonly #listeners = new Set<(key: string) => void>();
  readonly #networks = new Map<string, PodNetwork>();

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
    const address = this.#networkOf(node).take();
    const machine = machineOf(uid);
    await this.#namespaces.add(machine);
    await this.#namespaces.ip(node.name, [
      `link add ${machine} type veth peer name eth0 netns ${this.#namespaces.nameOf(machine)}`,
      `address add ${plan.pods.gateway}/32 dev ${machine} scope link`,
      `link set ${machine} up`,
      `route add ${address}/32 dev ${machine}`,
    ]);
    await this.#namespaces.ip(machine, [
      `address add ${address}/32 dev eth0`,
      'link set eth0 up',
      `route add ${plan.pods.gateway}/32 dev eth0`,
      `route add default via ${plan.pods.gateway} dev eth0`,
    ]);
    await this.#servers.open(name, this.#namespaces.pathOf(machine), servicesOf(pod));
    const running = { addresses: [address], hostAddresses: [node.address] };
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
    const [address] = running?.addresses ?? [];
    if (address !== undefined) this.#networkOf(nodeNamed(pod.spec.nodeName)).free(address);
  }

  isReady(pod: Pod): boolean {
    return this.#running.has(pod.metadata.uid);
  }

  onReadinessChange(listener: (key: string) => void): { close(): void } {
    this.#listeners.add(listener);
    return { close: () => void this.#listeners.delete(listener) };
  }

  #networkOf({ name, pods }: PlannedNode): PodNetwork {
    const network = this.#networks.get(name) ?? new PodNetwork(pods);
    this.#networks.set(name, network);
    return network;
  }
}

/** Short enough for a network interface. */
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
