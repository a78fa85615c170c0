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
/** Its own, in which pods that nobody runs disturb nobody. */
const namespace = 'sleep';
/** On the second node: whoever connects does so through the proxy of the first. */
export const sleeperPod = 'p2';
export const sleeperPort = 9100;
/** What its pod says. */
export const sleeperAnswer = `${sleeperPod} ${sleeperPort}`;
const at = { namespace, name: sleeperName };
const labels = { app: sleeperName };
/** How long a pod takes to start, and how often somebody looks whether one is wanted. */
const coldStartMs = 1_500;
const resyncEveryMs = 500;
const limitMs = 10_000;

export interface SeenSleeper {
  readonly isMarked: boolean;
  readonly replicas: number;
}

/** A Service that is put to sleep and woken by whoever connects, and who plays its kubelet. */
export class Sleeper {
  readonly #kube: KubeClient;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #isReady = true;

  private constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  /** Answers with the one that is awake, and the address it has inside of the cluster. */
  static async start(kube: KubeClient): Promise<{ sleeper: Sleeper; address: string }> {
    const sleeper = new Sleeper(kube);
    await kube.create(namespaces, { metadata: { name: namespace } });
    await kube.create(deployments, deployment);
    // Without a selector: nobody else writes its endpoints.
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
    sleeper.#ended = sleeper.#playKubelet();
    return { sleeper, address: spec?.clusterIP ?? '' };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** As `causeway idle` does it: the mark first, so that nobody is refused in between. */
  async idle(): Promise<void> {
    const target = { kind: 'Deployment', name: sleeperName, group: 'apps', replicas: 1 };
    const annotations = {
      [idledAt]: formatIdledAt(Date.now()),
      [unidleTargets]: formatTargets([target]),
    };
    await persist(() => this.#kube.patchMerge(services, at, { metadata: { annotations } }));
    await persist(() => this.#kube.setScale(deployments, at, 0));
  }

  /** A pod is ready some time after one is wanted, and gone as soon as none is. */
  async #playKubelet(): Promise<void> {
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
