import { setTimeout as delay } from 'node:timers/promises';
import { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../packages/kubernetes/src/client/http-transport.ts';
import { pods } from '../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { ensureProgram } from '../test/services/programs.ts';
import type { ClusterNode } from '../test/services/real-cluster/cluster-node.ts';
import type { RealCluster } from '../test/services/real-cluster/real-cluster.ts';
import { openWayIn } from '../test/services/real-cluster/way-in.ts';

const namespace = 'default';

/** Runs work with the API of a cluster from this process. */
export async function withApi<T>(
  cluster: RealCluster,
  work: (client: KubeClient) => Promise<T>,
): Promise<T> {
  const { kubeconfig, forwarder } = await openWayIn(cluster);
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const transport = new HttpTransport(connection, systemClock);
  const client = new KubeClient({ transport, clock: systemClock });
  try {
    return await work(client);
  } finally {
    await client.close();
    await forwarder.close();
  }
}

/** The time when an address first answers a client on a node, in milliseconds since 1970. */
export class FirstAnswer {
  readonly begun: Promise<void>;
  readonly answered: Promise<number>;

  private constructor(begun: Promise<void>, answered: Promise<number>) {
    this.begun = begun;
    this.answered = answered;
  }

  static async wait(node: ClusterNode, url: string): Promise<FirstAnswer> {
    const program = await ensureProgram('workload');
    const ended = node.machine.run(program, 'first', url);
    const answered = ended.then((text) => Number(text.trim().split('\n').at(-1)));
    // The program takes a moment to start; it runs before the backend is created.
    return new FirstAnswer(delay(300), answered);
  }
}

/** In milliseconds since 1970, finer than Date. */
export const now = () => performance.timeOrigin + performance.now();

/** Waits until a pod is seen ready; returns the time. */
export async function seenReady(client: KubeClient, name: string): Promise<number> {
  const stop = new AbortController();
  try {
    const stream = await client.watch(pods, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      signal: stop.signal,
    });
    for await (const events of stream) {
      for (const { object } of events) {
        const ready = object.status?.conditions?.find(({ type }) => type === 'Ready');
        if (ready?.status === 'True') return now();
      }
    }
  } finally {
    stop.abort();
  }
  throw new Error(`${name} was never seen ready`);
}
