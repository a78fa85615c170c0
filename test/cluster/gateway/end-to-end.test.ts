import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordAnnotation } from '../../../src/loadbalancer/record.ts';
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
    selector: { app: 'web' },
    ports: [{ name: 'http', port, targetPort: 9090 }],
  },
});

/** One story: each test goes on where the one before it ended. */
describe.skipIf(!isRunnable)('a cluster on two gateways, end to end', () => {
  let lab: Lab;
  let address = '';
  beforeAll(async () => {
    lab = await Lab.start();
    await lab.startController();
  });
  afterAll(() => lab?.stop());

  const answers = (who: readonly string[], port: number, from = address) =>
    waitFor(`${who.join(' and ')} to answer on ${from}:${port}`, async () => {
      const seen = await Promise.all(Array.from({ length: 8 }, () => lab.world.curl(from, port)));
      const present = [...new Set(seen.map((each) => each ?? 'nobody'))].sort();
      if (present.join() !== who.join()) throw new Error(`seen: ${present.join()}`);
      return true;
    });

  test('a Service that kubectl creates gets an address, and curl reaches its pod', async () => {
    await lab.runPod('p1');
    await lab.apply(service('web', 80));
    address = await lab.addressOf('web');
    expect(address).toMatch(/^203\.0\.113\./);
    await lab.world.translate();
    await answers(['p1'], 80);
  });

  test('it is scaled: both pods answer', async () => {
    await lab.runPod('p2');
    await answers(['p1', 'p2'], 80);
  });

  test('its port is changed: the new one answers, the old one does not, the address stays', async () => {
    await lab.apply(service('web', 8080));
    await answers(['p1', 'p2'], 8080);
    expect(await lab.world.curl(address, 80)).toBeUndefined();
    expect(await lab.addressOf('web')).toBe(address);
  });

  test('the gateway that serves it loses its power: the other one takes over, and it comes back', async () => {
    const struck = await waitFor('one master', () => lab.topology.master());
    await lab.topology.cutPower(struck);
    await answers(['p1', 'p2'], 8080);
    await lab.topology.restorePower(struck);
    await lab.world.connect(struck);
    await answers(['p1', 'p2'], 8080);
  });

  test('the controller is killed in the middle of a new Service: the next one finishes it', async () => {
    // The port that web has: it needs an address of its own, for which Neutron is not to be had now.
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
    const other = await lab.addressOf('mail');
    expect(other).not.toBe(address);
    await lab.world.translate();
    await answers(['p1', 'p2'], 8080, other);
    expect(await lab.addressOf('web')).toBe(address);
  });

  test('both are deleted: nothing answers, and nothing is left in Neutron', async () => {
    await lab.kubectl('delete', 'service', 'web', 'mail', '--timeout=300s');
    expect(await lab.world.curl(address, 8080)).toBeUndefined();
    await waitFor(
      'nothing to be left in Neutron',
      async () => {
        const left = await lab.leftovers();
        if (left.length > 0) throw new Error(left.join());
        return true;
      },
      { intervalMs: 500 },
    );
    for (const name of ['g1', 'g2'] as const) {
      await waitFor(`${name} to serve nothing`, async () => {
        const { endpoints } = await lab.topology.client(name).status(new AbortController().signal);
        return endpoints === 0;
      });
    }
  });
});
