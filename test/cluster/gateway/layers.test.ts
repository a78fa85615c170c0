import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireNetworkTools } from '../../kernel/gateway/network.ts';
import { gateways, servers } from '../../kernel/gateway/topology.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { prepareOpenStack } from '../../services/openstack.ts';
import { ensureProgram } from '../../services/programs.ts';
import { waitFor } from '../../services/wait-for.ts';
import { Lab, type Layer } from './lab.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(() => prepareKubernetes({ controllerManager: true }))) &&
  (await isAvailable(() => ensureProgram('kube-proxy'))) &&
  (await isAvailable(prepareOpenStack));

const service = (name: string, port: number, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: {
    type: 'LoadBalancer',
    selector: { app: 'web' },
    ports: [{ name: 'http', port, targetPort: 9090 }],
    ...spec,
  },
});

/**
 * The tests run in order: each continues from the state of the previous one. The nodes run the real
 * kube-proxy.
 */
describe.skipIf(!isRunnable)('both families in every layer, end to end', () => {
  let lab: Lab;
  let addresses: readonly string[] = [];
  /** Destinations of the gateways in the previous layer. */
  let former: readonly string[] = [];
  beforeAll(async () => {
    lab = await Lab.start();
    await lab.startProxies();
    await lab.runPod('p1');
    await lab.runPod('p2');
  });
  afterAll(() => lab?.stop());

  /** Destinations of the gateways. */
  async function destinations(): Promise<Readonly<Record<Layer, readonly string[]>>> {
    const { clusterIPs = [] } = (await lab.find('web'))?.spec ?? {};
    return {
      Pod: [servers.p1.v4, servers.p1.v6],
      ClusterIP: clusterIPs,
      NodePort: [servers.n1.v4, servers.n1.v6],
    };
  }

  test.each(['Pod', 'ClusterIP', 'NodePort'] as const)(
    'serves a Service in the layer %s, with the same addresses as before',
    async (layer) => {
      await lab.startController(layer);
      await lab.apply(service('web', 80, { ipFamilyPolicy: 'RequireDualStack' }));
      const now = await lab.addressesOf('web');
      if (addresses.length > 0) expect(now).toEqual(addresses);
      addresses = now;
      const wanted = (await destinations())[layer];
      for (const name of gateways) await lab.untilLeadsTo(name, wanted, former);
      former = wanted;
      await lab.world.translate();
      for (const address of addresses) await lab.untilAnswers(['p1', 'p2'], address, 80);
      await lab.stopController();
    },
  );

  test('serves a Service with a foreign address after it is handed over as its Event says', async () => {
    const foreign = '192.0.2.99';
    await lab.apply(service('foreign', 82, {}));
    const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: foreign }] } } });
    const words = ['--subresource=status', '--type=merge', '-p', status];
    await lab.kubectl('patch', 'service', 'foreign', ...words);
    await lab.startController('NodePort');
    const command = await waitFor('the Event to say how', async () => {
      const query = ['--field-selector=reason=ForeignAddress', '-o=jsonpath={.items[*].message}'];
      return /kubectl (patch .*)$/.exec(await lab.kubectl('get', 'events', ...query))?.[1];
    });
    await lab.kubectl(...command.split(' ').map((word) => word.replaceAll("'", '')));
    expect(await lab.addressOf('foreign')).not.toBe(foreign);
  });

  test('sends a Service without node ports unchanged to nodes, where kube-proxy handles its address', async () => {
    const six = { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' };
    await lab.apply(service('plain', 81, { ...six, allocateLoadBalancerNodePorts: false }));
    const address = await lab.addressOf('plain');
    expect((await lab.find('plain'))?.spec?.ports?.[0]?.nodePort).toBeUndefined();
    await lab.untilAnswers(['p1', 'p2'], address, 81);
  });

  test('a deleted Service does not answer, and nothing is left in Neutron', async () => {
    await lab.kubectl('delete', 'service', 'web', 'foreign', 'plain', '--timeout=300s');
    for (const address of addresses) expect(await lab.world.curl(address, 80)).toBeUndefined();
    await lab.untilNothingIsLeft();
  });
});
