import { createHash } from 'node:crypto';
import { addressFromInteger, addressToInteger } from '../domain/address.ts';
import { CausewayError } from '../domain/error.ts';
import { parsePrefix, prefixSize } from '../domain/prefix.ts';
import type { PodRunner, RunningPod } from '../sandbox/kubernetes/controllers/pod-runner.ts';
import type { Pod } from '../sandbox/kubernetes/resources/pod/pod-type.ts';
import type { EchoService, NamespaceServers } from './namespace-servers.ts';
import type { Namespaces } from './namespaces.ts';
import { plan } from './plan.ts';

const usualPort = 8080;

/**
 * Runs each pod as a network namespace behind the node, with servers on the containers' ports that
 * answer with the pod's name and the client's address. What image it names makes no difference.
 */
export class NamespacePods implements PodRunner {
  readonly #namespaces: Namespaces;
  readonly #servers: NamespaceServers;
  readonly #running = new Map<string, RunningPod>();
  readonly #listeners = new Set<(key: string) => void>();
  readonly #range = parsePrefix(plan.pods.prefix);
  readonly #taken = new Set<number>();
  #next = 1;

  constructor(namespaces: Namespaces, servers: NamespaceServers) {
    this.#namespaces = namespaces;
    this.#servers = servers;
  }

  async start(pod: Pod): Promise<RunningPod> {
    const { uid, name } = pod.metadata;
    const known = this.#running.get(uid);
    if (known !== undefined) return known;
    const hostAddresses = [plan.node.address];
    if (pod.spec.hostNetwork === true) {
      throw new CausewayError('unsupported', 'pods on the host network do not run here');
    }
    const offset = this.#takeOffset();
    const address = addressFromInteger(addressToInteger(this.#range.address) + BigInt(offset), 4);
    const machine = machineOf(uid);
    await this.#namespaces.add(machine);
    await this.#namespaces.ip('node', [
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
    const running = { addresses: [address], hostAddresses };
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
    if (address === undefined) return;
    this.#taken.delete(
      Number(addressToInteger(address as Parameters<typeof addressToInteger>[0])) -
        Number(addressToInteger(this.#range.address)),
    );
  }

  isReady(pod: Pod): boolean {
    return this.#running.has(pod.metadata.uid);
  }

  onReadinessChange(listener: (key: string) => void): { close(): void } {
    this.#listeners.add(listener);
    return { close: () => void this.#listeners.delete(listener) };
  }

  /** Goes round the range, so that an address rests before it is used again. */
  #takeOffset(): number {
    const size = Number(prefixSize(this.#range));
    for (let tries = 0; tries < size; tries += 1) {
      const offset = this.#next;
      this.#next = this.#next + 1 >= size - 1 ? 1 : this.#next + 1;
      if (this.#taken.has(offset)) continue;
      this.#taken.add(offset);
      return offset;
    }
    throw new CausewayError('exhausted', 'the pod network has no free address');
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
