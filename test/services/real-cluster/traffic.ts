import { descendantsOf, endOrphans } from '../process-tree.ts';
import { ensureProgram } from '../programs.ts';
import type { ServiceProcess } from '../service-process.ts';
import { waitFor } from '../wait-for.ts';
import type { Machine } from './machine.ts';
import { sandboxImage } from './node-configuration.ts';
import type { RealCluster } from './real-cluster.ts';

/** Results so far of a client that connects repeatedly. */
export interface Fare {
  readonly asked: number;
  readonly answered: number;
  readonly failed: number;
  /** The messages of the first ones. */
  readonly failures: readonly string[];
  /** Connections with a retransmitted first packet. */
  readonly repeated: number;
  /** Received bytes of each download, and the ended ones. */
  readonly streams: readonly number[];
  readonly broken: readonly string[];
}

export interface TrafficOptions {
  readonly urls: readonly string[];
  /** Interval between new connections of a client. */
  readonly everyMs: number;
  /** Downloads that run for the whole time. */
  readonly streams: number;
}

const port = 9090;
const words = ({ urls, everyMs, streams }: TrafficOptions) => [
  ...['load', '-every', `${everyMs}ms`, '-streams', String(streams), '-port', String(port)],
  ...urls,
];

/** Clients in pods and on machines that open connections all the time, and keep others open. */
export class Traffic {
  readonly #cluster: RealCluster;
  readonly #sources = new Map<string, () => Promise<string>>();
  readonly #processes: ServiceProcess[] = [];

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
  }

  /** From a pod on a node. */
  async addPod(node: string, options: TrafficOptions): Promise<void> {
    const name = `load-${node}`;
    await this.#cluster.apply(loadPod(name, node, options));
    const { controlPlane } = this.#cluster;
    await this.#cluster.kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--timeout=300s');
    const address = await this.#cluster.kubectl(
      ...['get', 'pod', name, '-o', 'jsonpath={.status.podIP}'],
    );
    this.#sources.set(name, () => controlPlane.run('curl', '-sSf', `http://${address}:${port}/`));
  }

  /** From a machine that is no node. */
  async addMachine(name: string, machine: Machine, options: TrafficOptions): Promise<void> {
    const program = await ensureProgram('workload');
    this.#processes.push(machine.start(`load-${name}`, program, words(options)));
    this.#sources.set(name, () => machine.run('curl', '-sSf', `http://127.0.0.1:${port}/`));
  }

  /** Ends all of it. */
  async stop(): Promise<void> {
    await this.#cluster.kubectl('delete', 'pod', '-l', 'app=load', '--timeout=300s');
    for (const { pid } of this.#processes.splice(0)) await endOrphans(await descendantsOf(pid));
    this.#sources.clear();
  }

  async fares(): Promise<Map<string, Fare>> {
    const fares = new Map<string, Fare>();
    for (const [name, ask] of this.#sources) fares.set(name, JSON.parse(await ask()) as Fare);
    return fares;
  }

  /** Waits until every client has new answers from now on, and every download has continued. */
  async untilFlowing(): Promise<void> {
    const before = await waitFor('traffic to begin', () => this.fares());
    await waitFor('every client to be answered', async () => {
      const now = await this.fares();
      return [...now].every(([name, fare]) => hasGoneOn(before.get(name), fare));
    });
  }

  /** Failures of all clients as text; empty if there are none. */
  async losses(): Promise<string[]> {
    return [...(await this.fares())].flatMap(([name, { failed, failures, broken }]) => [
      ...(failed === 0 ? [] : [`${name}: ${failed} connections failed`]),
      ...failures.map((text) => `${name}: ${text}`),
      ...broken.map((text) => `${name}: a download ended: ${text}`),
    ]);
  }

  /** One line for a report. */
  async summary(): Promise<string> {
    const fares = [...(await this.fares()).values()];
    const sum = (of: (fare: Fare) => number) => fares.reduce((all, fare) => all + of(fare), 0);
    const connections = `${sum(({ asked }) => asked)} connections, ${sum(({ failed }) => failed)} failed`;
    const downloads = `${sum(({ streams }) => streams.length)} downloads, ${sum(({ broken }) => broken.length)} ended`;
    return `${connections}, ${sum(({ repeated }) => repeated)} with a first packet sent again; ${downloads}`;
  }
}

/** A broken download does not continue; it is reported as a loss. */
function hasGoneOn(before: Fare | undefined, now: Fare): boolean {
  const moved = now.streams.filter((got, at) => got > (before?.streams[at] ?? 0)).length;
  const hasAnswers = now.answered >= (before?.asked ?? 0) + 5 - (before?.failed ?? 0);
  return hasAnswers && moved >= now.streams.length - now.broken.length;
}

const loadPod = (name: string, node: string, options: TrafficOptions) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: 'load' } },
  spec: {
    nodeName: node,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'load',
        image: sandboxImage,
        args: words(options),
        readinessProbe: { httpGet: { path: '/', port }, periodSeconds: 1 },
      },
    ],
  },
});
