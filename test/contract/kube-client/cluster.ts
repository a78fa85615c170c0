import { systemClock } from '../../../src/runtime/clock.ts';
import { KubeClient } from '../../../src/kube/client.ts';
import { findConnection, type Connection } from '../../../src/kube/connection.ts';
import { HttpTransport } from '../../../src/kube/http-transport.ts';
import type { RealKubernetes } from '../../services/kubernetes.ts';

/** A connection to the test cluster as its kubeconfig describes it, with changes if wanted. */
export async function connectionTo(
  cluster: RealKubernetes,
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
