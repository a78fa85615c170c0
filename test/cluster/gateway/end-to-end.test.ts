import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordAnnotation } from '../../../packages/causeway/src/services/record.ts';
import { requireNetworkTools } from '../../kernel/gateway/network.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { prepareOpenStack } from '../../services/openstack.ts';
import { waitFor } from '../../services/wait-for.ts';
import { Lab } from './lab.ts';

const isRunnable =
  (await isAvailable(requireNetworkTools)) &&
  (await isAvailable(() => prepareKubernetes({ controllerManager: true }))) &&
  (await isAvailable(prepareOpenStack));

const service = (name: string, port: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: {
    type: 'LoadBalancer',
    ipFamilyPolicy: 'RequireDualStack',
    ipFamilies: ['IPv4', 'IPv6'],
    selector: { app: 'web' },
    ports: [{ name: 'http', port, targetPort: 9090 }],
  },
});

/** The tests run in order, in both families: each continues from the state of the previous one. */
describe.skipIf(!isRunnable)('a cluster on two gateways, end to end', () => {
  let lab: Lab;
  /** A floating IP, and an IPv6 address that the gateways announce directly. */
  let addresses: readonly string[] = [];
  beforeAll(async () => {
    lab = await Lab.start();
    await lab.startController();
  });
  afterAll(() => lab?.stop());

  async function answers(who: readonly string[], port: number, from = addresses): Promise<void> {
    for (const address of from) await lab.untilAnswers(who, address, port);
  }

  async function isUnhealthy(port: number): Promise<void> {
    for (const address of addresses) expect(await lab.world.curl(address, port)).toBeUndefined();
  }

  test('gives addresses to a Service that kubectl creates, and curl reaches its pod', async () => {
    await lab.runPod('p1');
    await lab.apply(service('web', 80));
    addresses = await lab.addressesOf('web');
    expect(addresses).toEqual([
      expect.stringMatching(/^203\.0\.113\./),
      expect.stringMatching(/^2001:db8:77::1:/),
    ]);
    await lab.world.translate();
    await answers(['p1'], 80);
  });

  test('after scaling, both pods answer', async () => {
    await lab.runPod('p2');
    await answers(['p1', 'p2'], 80);
  });

  test('after a port change, only the new port answers, and the addresses stay', async () => {
    await lab.apply(service('web', 8080));
    await answers(['p1', 'p2'], 8080);
    await isUnhealthy(80);
    expect(await lab.addressesOf('web')).toEqual(addresses);
  });

  test('when the active gateway loses power, the other one takes over, and the first one recovers', async () => {
    const struck = await waitFor('one active gateway', () => lab.topology.active());
    await lab.topology.cutPower(struck);
    await answers(['p1', 'p2'], 8080);
    await lab.topology.restorePower(struck);
    await lab.world.connect(struck);
    await answers(['p1', 'p2'], 8080);
  });

  test('when the controller is killed while it creates a Service, the next one finishes it', async () => {
    // The port of web is taken, so this needs a new address, while Neutron does not answer.
    const resumeNeutron = await lab.suspendNeutron();
    await lab.apply(service('mail', 8080));
    await waitFor(
      'it to be taken over',
      async () => (await lab.find('mail'))?.metadata?.annotations?.[recordAnnotation] !== undefined,
    );
    await lab.killController();
    resumeNeutron();
    expect((await lab.find('mail'))?.status?.loadBalancer?.ingress ?? []).toEqual([]);
    await answers(['p1', 'p2'], 8080);
    await lab.startController();
    const others = await lab.addressesOf('mail');
    expect(others).toHaveLength(2);
    expect(others.filter((each) => addresses.includes(each))).toEqual([]);
    await lab.world.translate();
    await answers(['p1', 'p2'], 8080, others);
    expect(await lab.addressesOf('web')).toEqual(addresses);
  });

  test('fences a hung gateway, so that it does not answer for a released address', async () => {
    const noGatewayIsFenced = async () => (await lab.obeyPorts()).length === 0;
    await waitFor('both gateways to be unfenced', noGatewayIsFenced);
    const [, six = ''] = await lab.addressesOf('mail');
    const struck = await waitFor('one active gateway', () => lab.topology.active());
    const thaw = await lab.topology.network.freeze(struck);
    await lab.kubectl('delete', 'service', 'mail', '--wait=false');
    const isFenced = async () => (await lab.obeyPorts()).includes(struck);
    // Its kernel has the address, and would keep using it.
    expect(await lab.topology.network.ip(struck, '-6 address show dev ext')).toContain(six);
    expect(await lab.world.isHeard(six)).toBe(true);
    await waitFor('it to be fenced', isFenced);
    await waitFor('mail to go', async () => (await lab.find('mail')) === undefined);
    expect(await lab.topology.network.ip(struck, '-6 address show dev ext')).toContain(six);
    expect(await lab.world.isHeard(six)).toBe(false);
    await answers(['p1', 'p2'], 8080);
    await thaw();
    await waitFor('the gateway to be unfenced', noGatewayIsFenced);
    await waitFor('it to give the address back', async () => {
      const shown = await lab.topology.network.ip(struck, '-6 address show dev ext');
      return !shown.includes(six);
    });
    await answers(['p1', 'p2'], 8080);
  });

  test('deletes the Service: nothing answers, and nothing is left in Neutron', async () => {
    await lab.kubectl('delete', 'service', 'web', '--timeout=300s');
    await isUnhealthy(8080);
    await lab.untilNothingIsLeft();
    for (const name of ['g1', 'g2'] as const) {
      await waitFor(`${name} to serve nothing`, async () => {
        const { frontends } = await lab.topology.client(name).status(new AbortController().signal);
        return frontends === 0;
      });
    }
  });
});
