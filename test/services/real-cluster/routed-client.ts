import type { Machine } from './machine.ts';
import type { RealCluster } from './real-cluster.ts';

/** A client outside the nodes' network; the control plane is its router. */
export async function addRoutedClient(cluster: RealCluster): Promise<Machine> {
  await cluster.addSwitch('outside');
  const { controlPlane } = cluster;
  await controlPlane.run('ip', 'address', 'add', '192.0.2.1/24', 'dev', 'outside');
  await controlPlane.run('sysctl', '-qw', 'net.ipv4.fib_multipath_hash_policy=1');
  const client = await cluster.addMachine('client');
  await cluster.plug(client, 'outside', '192.0.2.2/24');
  await client.run('ip', 'route', 'add', 'default', 'via', '192.0.2.1');
  return client;
}
