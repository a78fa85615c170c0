import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRealServer } from '../../contract/kubernetes-api/server-under-test.ts';
import { LiveCluster } from '../../contract/kubernetes-live/live-cluster.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { requireNetworkTools } from '../gateway/network.ts';
import { clientAddress, GatewayLab } from './gateway-lab.ts';
import { AttemptCounts } from './attempt-counts.ts';
import { webDeployment, webService } from './gateway-objects.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(() => prepareKubernetes({ controllerManager: true })));

/** Without the node lifecycle controller: the nodes have no kubelet, and would count as failed. */
const controllers = [
  'deployment-controller',
  'replicaset-controller',
  'endpointslice-controller',
  'endpoints-controller',
  'garbage-collector-controller',
];
const startReal = async () =>
  new LiveCluster(await startRealServer({ controllerManager: true, controllers }));

describe.runIf(isRunnable).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', startReal],
] as const)('connections from outside through gateways, on the %s API', (_, startCluster) => {
  let lab: GatewayLab;
  beforeAll(async () => {
    lab = await GatewayLab.start(startCluster);
  });
  afterAll(() => lab?.stop());

  test.each([
    ['with externalTrafficPolicy Local', 'local', 'NodePort', { externalTrafficPolicy: 'Local' }],
    ['in the layer Pod', 'pods', 'Pod', {}],
  ] as const)(
    "wake a Service, and its pod sees the client's address: %s",
    async (__, name, layer, spec) => {
      await lab.startController(layer);
      await lab.space.create('services', webService(name, spec));
      await lab.space.create('deployments', webDeployment(name));
      const address = await lab.addressOf(name);
      await lab.untilAwake(name);
      await lab.command('idle', name, '-n', 'shop');
      await lab.untilAsleep(name);
      const results = await Promise.all([
        lab.startClients({ address, port: 80, count: 20 }),
        // Long enough for the gateways to use other backends in the meantime: connections continue.
        lab.startClients({ address, port: 81, count: 20, saysAfterMs: 3_000 }),
      ]);
      for (const { served, seen, errors } of results) {
        expect({ served, seen, errors }).toEqual({
          served: 20,
          seen: { [clientAddress]: 20 },
          errors: {},
        });
      }
      await lab.untilAwake(name);
      await lab.space.delete('deployments', name, { propagationPolicy: 'Foreground' });
      await lab.space.until('its pods to be gone', 'pods', (pods) => pods.length === 0);
    },
  );

  test('a Service that gateways reach by its cluster address is idled automatically, and stays idle until a connection', async () => {
    await lab.startController('ClusterIP');
    const name = 'cluster';
    await lab.space.create('services', webService(name, {}, { 'causeway.dev/idle-after': '2s' }));
    await lab.space.create('deployments', webDeployment(name));
    const address = await lab.addressOf(name);
    const clusterAddress = await lab.routeClusterAddress(name);
    await lab.expireConnectionsSoon();
    const served = { served: 1, errors: {} };
    expect(await lab.startClients({ address, port: 80 })).toMatchObject(served);
    const attempts = await AttemptCounts.start(lab.topology, clusterAddress);
    await lab.untilMarked(name);
    await lab.untilAsleep(name);
    await attempts.untilNodesWere(8);
    expect(await attempts.at('cluster')).toEqual([0, 0]);
    const request = expect.objectContaining({
      reason: 'NeedPods',
      involvedObject: expect.objectContaining({ name }) as unknown,
    }) as unknown;
    expect(await lab.space.list('events')).not.toContainEqual(request);
    expect(await lab.startClients({ address, port: 80 })).toMatchObject(served);
    expect(await lab.space.list('events')).toContainEqual(request);
  });
});
