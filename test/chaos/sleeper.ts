import {
  formatIdledAt,
  formatTargets,
  hasIdledAt,
  idledAt,
  unidleTargets,
} from '../../packages/causeway/src/idling/annotations.ts';
import type { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import type { Deployment } from '../../packages/kubernetes/src/objects/workload-objects.ts';
import {
  deployments,
  endpointSlices,
  namespaces,
  services,
} from '../../packages/kubernetes/src/objects/resources.ts';
import { servers } from '../kernel/gateway/topology.ts';
import { persist } from './doings.ts';

export const sleeperName = 'sleeper';
/** A namespace of its own, so that its simulated pods disturb no other Service. */
const namespace = 'sleep';
/** On the second node: clients connect through the proxy of the first. */
export const sleeperPod = 'p2';
export const sleeperPort = 9100;
/** Answer of its pod. */
export const sleeperAnswer = `${sleeperPod} ${sleeperPort}`;
const at = { namespace, name: sleeperName };
const labels = { app: sleeperName };
/** Start time of a pod, and the interval at which the simulated kubelet checks the replicas. */
const coldStartMs = 1_500;
const resyncEveryMs = 500;
const limitMs = 10_000;

export interface SeenSleeper {
  readonly isMarked: boolean;
  readonly replicas: number;
}

/** A Service that is idled and woken by connections, with a simulated kubelet. */
export class Sleeper {
  readonly #kube: KubeClient;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #isReady = true;

  private constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  /** Creates it awake, and returns it with its cluster address. */
  static async start(kube: KubeClient): Promise<{ sleeper: Sleeper; address: string }> {
    const sleeper = new Sleeper(kube);
    await kube.create(namespaces, { metadata: { name: namespace } });
    await kube.create(deployments, deployment);
    // Without a selector, the controllers don't write its endpoints.
    const { spec } = await kube.create(services, {
      metadata: at,
      spec: { ports: [{ port: 80, targetPort: sleeperPort, protocol: 'TCP' }] },
    });
    await kube.create(endpointSlices, {
      metadata: { ...at, labels: { 'kubernetes.io/service-name': sleeperName } },
      addressType: 'IPv4',
      ports: [{ name: '', port: sleeperPort, protocol: 'TCP' }],
      endpoints: endpointsOf(true),
    });
    sleeper.#ended = sleeper.#simulateKubelet();
    return { sleeper, address: spec?.clusterIP ?? '' };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Like `causeway idle`: it writes the mark first, so that no connection is refused in between. */
  async idle(): Promise<void> {
    const target = { kind: 'Deployment', name: sleeperName, group: 'apps', replicas: 1 };
    const annotations = {
      [idledAt]: formatIdledAt(Date.now()),
      [unidleTargets]: formatTargets([target]),
    };
    await persist(() => this.#kube.patchMerge(services, at, { metadata: { annotations } }));
    await persist(() => this.#kube.setScale(deployments, at, 0));
  }

  /** A pod is ready some time after the replicas ask for it, and deleted as soon as they don't. */
  async #simulateKubelet(): Promise<void> {
    const { signal } = this.#stop;
    let wantedSince: number | undefined = 0;
    while (!signal.aborted) {
      await this.#readDesiredState()
        .then((isWanted) => {
          wantedSince = isWanted ? (wantedSince ?? performance.now()) : undefined;
        })
        .catch(() => undefined);
      const isReady = wantedSince !== undefined && performance.now() - wantedSince >= coldStartMs;
      if (isReady !== this.#isReady) await this.#setReady(isReady).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, resyncEveryMs));
    }
  }

  async #readDesiredState(): Promise<boolean> {
    return (await observeSleeper(this.#kube, AbortSignal.timeout(limitMs))).replicas > 0;
  }

  async #setReady(isReady: boolean): Promise<void> {
    const patch = { endpoints: endpointsOf(isReady) };
    await this.#kube.patchMerge(endpointSlices, at, patch, { timeoutMs: limitMs });
    this.#isReady = isReady;
  }
}

export async function observeSleeper(kube: KubeClient, signal: AbortSignal): Promise<SeenSleeper> {
  const service = await kube.get(services, at, { signal });
  const { spec } = await kube.get(deployments, at, { signal });
  return { isMarked: hasIdledAt(service), replicas: spec?.replicas ?? 0 };
}

const deployment: Deployment = {
  metadata: at,
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: 'example/web:1' }] },
    },
  },
};

function endpointsOf(isReady: boolean) {
  return isReady ? [{ addresses: [servers[sleeperPod].v4], conditions: { ready: true } }] : [];
}
