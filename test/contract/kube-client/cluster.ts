import fs from 'node:fs/promises';
import path from 'node:path';
import { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import {
  findConnection,
  type Connection,
} from '../../../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../../../packages/kubernetes/src/client/http-transport.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { startEmbeddedKubernetes } from '../../../packages/fake-kubernetes/src/start.ts';
import { prepareKubernetes, startKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';

/** An API server under test. */
export interface Cluster {
  readonly url: string;
  /** Path of a kubeconfig for an administrator. */
  readonly kubeconfig: string;
  /** Kills the server and starts it again with the same objects. */
  restart(): Promise<void>;
  /** Makes earlier versions too old to watch from. */
  dropHistory(): Promise<void>;
  stop(): Promise<void>;
}

async function startReal(): Promise<Cluster> {
  const real = await startKubernetes();
  return {
    url: real.url,
    kubeconfig: real.kubeconfig,
    restart: () => real.restart(),
    async dropHistory() {
      await real.etcd.compact();
      // The server keeps the recent history in memory.
      await real.restart();
    },
    stop: () => real.stop(),
  };
}

async function startEmbedded(): Promise<Cluster> {
  const embedded = await startEmbeddedKubernetes();
  const directory = await scratchDirectory('embedded-kubernetes');
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, embedded.kubeconfig, { mode: 0o600 });
  return {
    url: embedded.url,
    kubeconfig,
    restart: () => embedded.restart(),
    dropHistory() {
      embedded.expireHistory();
      return Promise.resolve();
    },
    async stop() {
      await embedded.stop();
      await removeDirectory(directory);
    },
  };
}

/** The client must behave the same with both. */
export const clusters = [
  { name: 'the embedded API', isHere: true, start: startEmbedded },
  {
    name: 'a real kube-apiserver',
    isHere: await isAvailable(() => prepareKubernetes()),
    start: startReal,
  },
].filter(({ isHere }) => isHere);

/** A connection from the cluster's kubeconfig, with changes if wanted. */
export async function connectionTo(
  cluster: { readonly kubeconfig: string },
  changes: Partial<Connection> = {},
): Promise<Connection> {
  const { kubeconfig } = cluster;
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  return { ...connection, ...changes };
}

export function clientFor(connection: Connection): KubeClient {
  const transport = new HttpTransport(connection, systemClock);
  return new KubeClient({ transport, clock: systemClock, userAgent: 'causeway-contract-test' });
}
