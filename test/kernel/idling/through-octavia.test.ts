import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../../packages/fake-openstack/src/cloud.ts';
import { LiveCluster } from '../../contract/kubernetes-live/live-cluster.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from '../gateway/network.ts';
import { gateways, servers } from '../gateway/topology.ts';
import { GatewayLab, podPort } from './gateway-lab.ts';
import { webDeployment, webService } from './gateway-objects.ts';

describe.runIf(await isAvailable(requireNetworkTools))('a load balancer of Octavia', () => {
  let cloud: EmbeddedOpenStack;
  let lab: GatewayLab;
  beforeAll(async () => {
    cloud = await startEmbeddedOpenStack();
    lab = await GatewayLab.start(() => LiveCluster.embedded());
  });
  afterAll(async () => {
    await lab?.stop();
    await cloud?.stop();
  });

  /** Waits until the destinations of the load balancer's port 80 match. */
  async function untilMembers(isSo: (targets: readonly string[]) => boolean): Promise<void> {
    await waitFor('the members to change', () => {
      const { listeners, members } = cloud.octavia;
      const listener = listeners.all().find((row) => row.protocol_port === 80);
      const own = members.all().filter((row) => row.pool_id === listener?.default_pool_id);
      const targets = own.map((row) => `${row.address}:${row.protocol_port}`).sort();
      if (!isSo(targets)) throw new Error(targets.join());
      return Promise.resolve(true);
    });
  }

  test('sends to the node ports of an idle Service, which wakes it', async () => {
    const subnet = cloud.neutron.subnets.all().find(({ name }) => name === 'private-v4');
    await lab.startOctavia(cloud.cloudsYaml, subnet?.id ?? '');
    await lab.space.create('services', webService('web', {}));
    await lab.space.create('deployments', webDeployment('web'));
    await lab.addressOf('web');
    await lab.untilAwake('web');
    const isPods = (targets: readonly string[]) =>
      targets.length === 1 && targets.every((target) => target.endsWith(`:${podPort}`));
    await untilMembers(isPods);
    await lab.command('idle', 'web', '-n', 'shop');
    await lab.untilHeld('web');
    const port = await lab.nodePortOf('web');
    const addresses = [servers.n1.v4, servers.n2.v4];
    const nodes = addresses.map((address) => `${address}:${port}`).sort();
    await untilMembers((targets) => targets.join() === nodes.join());
    // A machine beside the nodes connects like the load balancer.
    const [machine] = gateways;
    const results = await Promise.all(
      addresses.map((address) => lab.startClients({ address, port, count: 10 }, machine)),
    );
    for (const { served, errors } of results)
      expect({ served, errors }).toEqual({ served: 10, errors: {} });
    await lab.untilAwake('web');
    await untilMembers(isPods);
  });
});
