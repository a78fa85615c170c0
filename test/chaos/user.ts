import { setTimeout as delay } from 'node:timers/promises';
import { isErrorCode } from '../../src/domain/error.ts';
import type { Service } from '../../src/kube/core-objects.ts';
import type { EndpointSlice } from '../../src/kube/network-objects.ts';
import { endpointSlices, namespaces, services } from '../../src/kube/resources.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { servers } from '../kernel/gateway/topology.ts';
import type { Chronicle } from './chronicle.ts';
import type { Wish } from './observation.ts';
import type { Operation, PodName } from './plan.ts';

export const namespace = 'chaos';
const families = ['IPv4', 'IPv6'] as const;

/** Does what is planned, as somebody with kubectl would: what is refused is tried again. */
export class User {
  readonly wishes = new Map<string, Wish>();
  readonly #kube: KubeClient;
  readonly #chronicle: Chronicle;
  /** The last thing that is being done to a Service; the next waits for it. */
  readonly #doing = new Map<string, Promise<void>>();
  /** Those that something was done to since the last calm. */
  readonly #touched = new Set<string>();

  constructor(kube: KubeClient, chronicle: Chronicle) {
    this.#kube = kube;
    this.#chronicle = chronicle;
  }

  async prepare(): Promise<void> {
    await this.#kube.create(namespaces, { metadata: { name: namespace } });
  }

  isUntouched(service: string): boolean {
    return this.wishes.has(service) && !this.#touched.has(service);
  }

  /** Everything is as it is wanted: from now on it has to stay so. */
  calm(): void {
    this.#touched.clear();
  }

  do(operation: Operation): void {
    const { service } = operation;
    this.#touched.add(service);
    const before = this.#doing.get(service) ?? Promise.resolve();
    const now = before.then(() => this.#perform(operation));
    this.#doing.set(service, now);
  }

  /** Until all that was begun is done. */
  async done(): Promise<void> {
    await Promise.all(this.#doing.values());
  }

  async #perform(operation: Operation): Promise<void> {
    const { service: name, kind } = operation;
    this.#chronicle.tell(`${kind} ${name} ${describe(operation)}`);
    const wish = this.wishes.get(name);
    switch (operation.kind) {
      case 'create': {
        const { port, targetPort, pods } = operation;
        const isDualStack = targetPort % 3 === 0;
        this.wishes.set(name, { port, targetPort, pods, isDualStack });
        await this.#persist(() => this.#kube.create(services, serviceOf(name, operation)));
        for (const family of families.slice(0, isDualStack ? 2 : 1)) {
          const slice = sliceOf(name, family, targetPort, pods);
          await this.#persist(() => this.#kube.create(endpointSlices, slice));
        }
        return;
      }
      case 'change port': {
        if (wish === undefined) return;
        this.wishes.set(name, { ...wish, port: operation.port });
        const ports = portsOf(operation.port, wish.targetPort);
        await this.#persist(() =>
          this.#kube.patchMerge(services, { namespace, name }, { spec: { ports } }),
        );
        return;
      }
      case 'scale': {
        if (wish === undefined) return;
        const { pods } = operation;
        this.wishes.set(name, { ...wish, pods });
        for (const family of families.slice(0, wish.isDualStack ? 2 : 1)) {
          const slice = sliceOf(name, family, wish.targetPort, pods);
          const patch = { endpoints: slice.endpoints };
          const at = { namespace, name: slice.metadata?.name ?? '' };
          await this.#persist(() => this.#kube.patchMerge(endpointSlices, at, patch));
        }
        return;
      }
      case 'delete': {
        this.wishes.delete(name);
        await this.#persist(() => this.#kube.delete(services, { namespace, name }));
        for (const family of families) {
          const at = { namespace, name: sliceName(name, family) };
          await this.#persist(() => this.#kube.delete(endpointSlices, at));
        }
      }
    }
  }

  async #persist(attempt: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await attempt();
        return;
      } catch (error) {
        // An answer that was lost on its way.
        if (isErrorCode(error, 'conflict') || isErrorCode(error, 'not-found')) return;
        await delay(500);
      }
    }
  }
}

function describe(operation: Operation): string {
  const { port, pods } = operation as { port?: number; pods?: readonly string[] };
  return [...(port === undefined ? [] : [`port ${port}`]), ...(pods ?? [])].join(' ');
}

function portsOf(port: number, targetPort: number) {
  return [{ name: 'main', protocol: 'TCP' as const, port, targetPort }];
}

function serviceOf(
  name: string,
  { port, targetPort }: { readonly port: number; readonly targetPort: number },
): Service {
  const isDualStack = targetPort % 3 === 0;
  return {
    metadata: { namespace, name },
    spec: {
      type: 'LoadBalancer',
      loadBalancerClass: 'causeway.dev/gateway',
      allocateLoadBalancerNodePorts: false,
      ipFamilyPolicy: isDualStack ? 'RequireDualStack' : 'SingleStack',
      ports: portsOf(port, targetPort),
    },
  };
}

function sliceName(service: string, family: (typeof families)[number]): string {
  return `${service}-${family.toLowerCase()}`;
}

function sliceOf(
  service: string,
  family: (typeof families)[number],
  port: number,
  pods: readonly PodName[],
): EndpointSlice {
  const address = (pod: PodName) => servers[pod][family === 'IPv4' ? 'v4' : 'v6'];
  return {
    metadata: {
      namespace,
      name: sliceName(service, family),
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: family,
    endpoints: pods.map((pod) => ({ addresses: [address(pod)], conditions: { ready: true } })),
    ports: [{ name: 'main', port, protocol: 'TCP' }],
  };
}
