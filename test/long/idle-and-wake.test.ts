import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LiveCluster } from '../contract/kubernetes-live/live-cluster.ts';
import { GatewayLab } from '../kernel/idling/gateway-lab.ts';
import { webDeployment, webService } from '../kernel/idling/gateway-objects.ts';
import { requireNetworkTools } from '../kernel/gateway/network.ts';
import { isAvailable } from '../services/missing.ts';

const minutes = Number(process.env['CAUSEWAY_LONG_MINUTES'] ?? 4);
const everyMs = 20;
const name = 'web';

/**
 * A client outside connects every 20 ms through a gateway, and the Service is idled each time as soon as it
 * is awake. The connections wake it. No connection is refused or lost.
 *
 * In the default layer, every node can serve. In the layer that keeps client addresses, a connection that
 * waits on a node without pods needs its retransmission, and may find the Service idle again each time.
 */
describe.runIf(await isAvailable(requireNetworkTools))('a client that never stops', () => {
  let lab: GatewayLab;
  beforeAll(async () => {
    lab = await GatewayLab.start(() => LiveCluster.embedded());
    await lab.startController('NodePort');
  });
  afterAll(() => lab?.stop());

  test(`is served for ${minutes} minutes of idling and waking`, async () => {
    await lab.space.create('services', webService(name, {}));
    await lab.space.create('deployments', webDeployment(name));
    const address = await lab.addressOf(name);
    await lab.untilAwake(name);
    const count = Math.ceil((minutes * 60_000) / everyMs);
    const limitMs = minutes * 60_000 + 120_000;
    const over = new AbortController();
    const clients = lab.startClients({ address, port: 80, count, everyMs, limitMs });
    void clients.then(() => over.abort());
    let rounds = 0;
    while (!over.signal.aborted) {
      await lab.command('idle', name, '-n', 'shop');
      // After the last connection, nothing wakes it.
      await lab.untilAwake(name).catch((error: unknown) => {
        if (!over.signal.aborted) throw error;
      });
      rounds += 1;
    }
    const { served, seen, errors } = await clients;
    process.stdout.write(`${JSON.stringify({ minutes, rounds, served, seen, errors })}\n`);
    expect({ served, errors }).toEqual({ served: count, errors: {} });
    expect(rounds).toBeGreaterThan(minutes * 3);
  });
});
