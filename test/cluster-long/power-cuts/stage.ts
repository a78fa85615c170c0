import type { ConfigMap } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import {
  gatewayConfigMapName,
  readGatewayConfigMap,
} from '../../../packages/causeway/src/gateway/controller/gateway-config-map.ts';
import { webDeployment, webService } from '../../cluster/real/workloads.ts';
import { ensureProductImage } from '../../services/image/product-image.ts';
import type { ClusterNode } from '../../services/real-cluster/cluster-node.ts';
import { Gateways, type Gateway } from '../../services/real-cluster/gateways.ts';
import { Installation } from '../../services/real-cluster/installation.ts';
import { RealCluster } from '../../services/real-cluster/real-cluster.ts';
import { waitFor } from '../../services/wait-for.ts';
import type { OutageFigures } from './outage-figures.ts';
import { Traffic } from './traffic.ts';

const namespace = 'causeway-system';
/** Number of running downloads at a power cut. */
const downloads = 100;

interface ServiceObject {
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly { ip: string }[] } };
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly nodeName: string };
  }[];
}

interface SliceList {
  readonly items: readonly {
    readonly endpoints:
      | readonly { readonly nodeName: string; readonly conditions: { readonly ready: boolean } }[]
      | null;
  }[];
}

/**
 * A cluster with Causeway from its chart, and a Service on two gateways with a pod on each node. Gateways
 * send to pods: sending to nodes would depend on what each node knows of the other nodes.
 */
export class PowerCutStage {
  readonly cluster: RealCluster;
  readonly gateways: Gateways;
  #address = '';

  private constructor(cluster: RealCluster, gateways: Gateways) {
    this.cluster = cluster;
    this.gateways = gateways;
  }

  static async start(): Promise<PowerCutStage> {
    const { archive } = await ensureProductImage();
    const cluster = await RealCluster.start({ kubeProxy: false, images: [archive] });
    try {
      const gateways = await Gateways.start(cluster);
      const installation = await Installation.install(cluster, gateways, 'Pod');
      const stage = new PowerCutStage(cluster, gateways);
      await cluster.apply(webDeployment('web', 3), webService('web', { type: 'LoadBalancer' }));
      await installation.rollOut('deployment/web');
      stage.#address = await stage.#addressOf('web');
      await stage.asBefore();
      return stage;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.cluster.stop();
  }

  /** Effect of an event on an external client; the event is over when `act` ends. */
  async notice(act: () => Promise<void>, without: readonly string[] = []): Promise<OutageFigures> {
    const url = `http://${this.#address}/`;
    const traffic = await Traffic.start(this.cluster, this.gateways.client, url, downloads);
    try {
      await traffic.answered();
      const eventAt = Date.now();
      await act();
      await traffic.answered();
      return await traffic.figures(eventAt, without);
    } finally {
      await traffic.stop();
    }
  }

  /** The active gateway. */
  active(): Promise<Gateway> {
    return waitFor('one of the gateways to be active', () => this.gateways.active());
  }

  /** The node of the leading controller. */
  async leadingNode(): Promise<ClusterNode> {
    const lease = await this.cluster.get<{ spec: { holderIdentity: string } }>(
      ...['lease/causeway-controller', '-n', namespace],
    );
    const { items } = await this.cluster.get<PodList>(...['pods', '-n', namespace]);
    const pod = items.find(({ metadata }) => lease.spec.holderIdentity.includes(metadata.name));
    const node = this.cluster.nodes.find(({ name }) => name === pod?.spec.nodeName);
    if (node === undefined) throw new Error(`no node has ${lease.spec.holderIdentity}`);
    return node;
  }

  /** Waits until the controller has ended: its lease expires while it can't be renewed. */
  async controllerHasGone(): Promise<void> {
    await waitFor('the gateways to have no leading controller', async () => {
      const led = await Promise.all(this.gateways.gateways.map((gateway) => gateway.isLed()));
      return !led.includes(true);
    });
  }

  /** Boots a node with its previous state, including its default route. */
  async boot(node: ClusterNode): Promise<void> {
    await node.boot();
    await this.gateways.lead(node.machine);
  }

  /** Waits until Kubernetes counts pods of the Service on exactly these nodes as ready. */
  async readyOn(nodes: readonly string[]): Promise<void> {
    const words = ['endpointslices', '-l', 'kubernetes.io/service-name=web'];
    const wanted = nodes.toSorted().join();
    await waitFor(`pods to be ready on ${wanted}`, async () => {
      const { items } = await this.cluster.get<SliceList>(...words);
      const endpoints = items.flatMap((slice) => slice.endpoints ?? []);
      const ready = endpoints.filter(({ conditions }) => conditions.ready);
      return (
        ready
          .map(({ nodeName }) => nodeName)
          .toSorted()
          .join() === wanted
      );
    });
  }

  /**
   * Waits until the Service has its address, every pod answers, one gateway is active, both have the last
   * desired state, and a new Service is served.
   */
  async asBefore(): Promise<void> {
    await this.readyOn(this.cluster.nodes.map(({ name }) => name));
    const address = await this.#addressOf('web');
    if (address !== this.#address) throw new Error(`${address} instead of ${this.#address}`);
    const unhealthy = new Set(this.cluster.nodes.map(({ name }) => name));
    await waitFor('every pod to answer', async () => {
      const answer = (await this.gateways.ask(`http://${address}/`)) ?? '';
      unhealthy.delete(/ on (\w+) seen as 192\.0\.2\.100/.exec(answer)?.[1] ?? '');
      return unhealthy.size === 0;
    });
    await this.active();
    const ports = [{ port: 81, targetPort: 'http' }];
    const spec = { type: 'LoadBalancer', selector: { app: 'web' }, ports };
    await this.cluster.apply(webService('probe', spec));
    const probe = await this.#addressOf('probe');
    await waitFor('a new Service to be served', async () =>
      (await this.gateways.ask(`http://${probe}:81/`))?.includes('web-'),
    );
    await waitFor('both gateways to have the desired state', () => this.#isCurrent());
    await this.cluster.kubectl('delete', 'service', 'probe', '--timeout=300s');
  }

  async #isCurrent(): Promise<boolean> {
    const configMap = await this.cluster.get<ConfigMap>(
      `configmap/${gatewayConfigMapName}`,
      '-n',
      namespace,
    );
    const states = readGatewayConfigMap(configMap).map(({ state }) => state);
    return states.filter((state) => state?.reachable === true && state.current).length === 2;
  }

  #addressOf(service: string): Promise<string> {
    return waitFor(`the address of ${service}`, async () => {
      const { status } = await this.cluster.get<ServiceObject>(`service/${service}`);
      return status.loadBalancer.ingress?.[0]?.ip;
    });
  }
}
