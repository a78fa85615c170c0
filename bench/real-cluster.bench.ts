import type { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import { pods, services } from '../packages/kubernetes/src/objects/resources.ts';
import { webDeployment, webService } from '../test/cluster/real/workloads.ts';
import { RealCluster } from '../test/services/real-cluster/real-cluster.ts';
import { Traffic } from '../test/services/real-cluster/traffic.ts';
import { waitFor } from '../test/services/wait-for.ts';
import { median, type BenchmarkSuite, type Measurement } from './benchmark.ts';
import { FirstAnswer, now, withApi, seenReady } from './real-cluster-load.ts';
import { KubeProxies, OurProxies, type NodeProxies } from './real-cluster-proxies.ts';

/** CAUSEWAY_BENCH_REPEATS shortens a trial run. */
const repeats = Number(process.env['CAUSEWAY_BENCH_REPEATS'] ?? 15);
const namespace = 'default';

interface Figures {
  readonly readyMs: readonly number[];
  readonly createdMs: readonly number[];
  readonly lost: number;
}

/** A real cluster where one kind of proxy replaces the other. */
class Stage {
  readonly #cluster: RealCluster;
  readonly #client: KubeClient;

  constructor(cluster: RealCluster, client: KubeClient) {
    this.#cluster = cluster;
    this.#client = client;
  }

  async prepare(): Promise<void> {
    await this.#cluster.apply(webDeployment('web', 6), webService('web'));
    await this.#rollOut();
  }

  async measure(proxies: NodeProxies): Promise<Figures> {
    await proxies.start();
    const ready: number[] = [];
    const created: number[] = [];
    for (let turn = 0; turn < repeats; turn += 1) {
      created.push(await this.#fromCreation(`10.96.200.${turn + 1}`));
      ready.push(await this.#fromReady(`gated-${turn}`));
    }
    const lost = await this.#lostByRestart();
    await proxies.stop();
    const figures = { readyMs: median(ready), createdMs: median(created), lost };
    console.log(`  ${proxies.kind}: ${JSON.stringify(figures)}`);
    return { readyMs: ready, createdMs: created, lost };
  }

  async #fromCreation(clusterIP: string): Promise<number> {
    const [node] = this.#cluster.nodes;
    if (node === undefined) throw new Error('a cluster has nodes');
    const asking = await FirstAnswer.wait(node, `http://${clusterIP}/`);
    await asking.begun;
    const name = `made-${clusterIP.replaceAll('.', '-')}`;
    const begin = now();
    await this.#client.create(services, {
      metadata: { namespace, name },
      spec: { clusterIP, selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
    });
    const answered = await asking.answered;
    await this.#client.delete(services, { namespace, name });
    return answered - begin;
  }

  /** From a pod that is seen ready to its first connection, through a Service that has no other. */
  async #fromReady(name: string): Promise<number> {
    const [node] = this.#cluster.nodes;
    if (node === undefined) throw new Error('a cluster has nodes');
    await this.#cluster.apply(gatedPod(name), webService(name));
    await waitFor(`the containers of ${name}`, async () => {
      const { status } = await this.#client.get(pods, { namespace, name });
      return status?.conditions?.some(
        ({ type, status: is }) => type === 'ContainersReady' && is === 'True',
      );
    });
    const { spec } = await this.#client.get(services, { namespace, name });
    const asking = await FirstAnswer.wait(node, `http://${spec?.clusterIP}/`);
    await asking.begun;
    const ready = seenReady(this.#client, name);
    const condition = JSON.stringify({ status: { conditions: [{ type: gate, status: 'True' }] } });
    await this.#cluster.kubectl('patch', 'pod', name, '--subresource', 'status', '-p', condition);
    const since = (await asking.answered) - (await ready);
    await this.#cluster.kubectl('delete', `pod/${name}`, `service/${name}`, '--wait=false');
    return since;
  }

  /** Connections of clients on every node that failed while all pods of the Deployment were replaced. */
  async #lostByRestart(): Promise<number> {
    const { spec } = await this.#client.get(services, { namespace, name: 'web' });
    const traffic = new Traffic(this.#cluster);
    for (const { name } of this.#cluster.nodes) {
      await traffic.addPod(name, { urls: [`http://${spec?.clusterIP}/`], everyMs: 20, streams: 0 });
    }
    await traffic.untilFlowing();
    await this.#cluster.kubectl('rollout', 'restart', 'deployment/web');
    await this.#rollOut();
    await traffic.untilFlowing();
    const fares = [...(await traffic.fares()).values()];
    await traffic.stop();
    return fares.reduce((sum, { failed }) => sum + failed, 0);
  }

  async #rollOut(): Promise<void> {
    await this.#cluster.kubectl('rollout', 'status', 'deployment/web', '--timeout=300s');
  }
}

const gate = 'causeway.dev/bench';

function gatedPod(name: string): object {
  const { template } = webDeployment(name, 1).spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      ...template.spec,
      topologySpreadConstraints: [],
      readinessGates: [{ conditionType: gate }],
    },
  };
}

type Figure =
  | 'pod-ready-to-first-connection'
  | 'service-created-to-first-answer'
  | 'rolling-restart-lost-more';

/** The median of Causeway's values against that of the others, and the spread of Causeway's values. */
function beside(ours: readonly number[], theirs: readonly number[]): Measurement {
  const baseline = median(theirs);
  return {
    value: median(ours),
    baseline,
    spread: [Math.min(...ours) / baseline, Math.max(...ours) / baseline],
  };
}

export const suite: BenchmarkSuite<Figure> = {
  name: 'real-cluster',
  long: true,
  bars: {
    'pod-ready-to-first-connection': { of: 'ratio', comparison: 'at most', limit: 1, unit: 'ms' },
    'service-created-to-first-answer': { of: 'ratio', comparison: 'at most', limit: 1, unit: 'ms' },
    'rolling-restart-lost-more': {
      of: 'value',
      comparison: 'at most',
      limit: 0,
      unit: 'connections',
    },
  },
  async run() {
    await OurProxies.compile();
    const cluster = await RealCluster.start({ kubeProxy: false });
    try {
      const [theirs, ours] = await withApi(cluster, async (client) => {
        const stage = new Stage(cluster, client);
        await stage.prepare();
        const first = await stage.measure(new KubeProxies(cluster));
        return [first, await stage.measure(new OurProxies(cluster))];
      });
      return {
        'pod-ready-to-first-connection': beside(ours.readyMs, theirs.readyMs),
        'service-created-to-first-answer': beside(ours.createdMs, theirs.createdMs),
        'rolling-restart-lost-more': {
          value: Math.max(0, ours.lost - theirs.lost),
          baseline: null,
        },
      };
    } finally {
      await cluster.stop();
    }
  },
};
