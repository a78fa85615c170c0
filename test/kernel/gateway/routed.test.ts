import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makeFrontend,
  type FrontendParts,
} from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort, type Protocol } from '../../../packages/base/src/address/port.ts';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { nothing } from './services.ts';
import { gateways, servers, Topology } from './topology.ts';

const { signal } = new AbortController();
const isRunnable = await isAvailable(requireNetworkTools);
const virtual = { v4: '10.77.1.7', v6: '2001:db8:77::1:7' } as const;

/** What a node proxy does with an address of a Service: it sends to a pod and keeps the client's address. */
const nodeProxy = (pod: { v4: string; v6: string }) => `table inet proxy {
  chain services {
    type nat hook prerouting priority -100;
    meta l4proto { tcp, udp } ip daddr ${virtual.v4} th dport 80 dnat ip to ${pod.v4}:8080
    meta l4proto { tcp, udp } ip6 daddr ${virtual.v6} th dport 80 dnat ip6 to [${pod.v6}]:8080
  }
}
`;

describe.skipIf(!isRunnable)('addresses that are routed to nodes unchanged', () => {
  let topology: Topology;
  let generation = 0;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents();
    await topology.network.run('n1', ['nft', '-f', '-'], nodeProxy(servers.p1));
    await topology.network.run('n2', ['nft', '-f', '-'], nodeProxy(servers.p2));
  });
  afterAll(() => topology.stop());

  async function serve(address: string, more: Partial<FrontendParts>): Promise<void> {
    generation += 1;
    const frontends = (['TCP', 'UDP'] as const).map((protocol: Protocol) =>
      makeFrontend({ address: parseAddress(address), protocol, port: parsePort(80), ...more }),
    );
    const nodes = Object.values({ n1: servers.n1, n2: servers.n2 })
      .flatMap(({ v4, v6 }) => [v4, v6])
      .map((text) => ({ address: parseAddress(text) }));
    const state = { ...nothing, frontends, nodes };
    await topology.push(writeState(state, { generation, meansRemoval: true }));
  }
  const who = (address: string, count: number, verb = 'who') =>
    topology.ask<string[]>('c', verb, address, 80, count);

  test.each([
    ['v4', '10.77.0.100'],
    ['v6', '2001:db8:77::100'],
  ] as const)(
    "reach pods through every node and keep the client's address: %s",
    async (family, seen) => {
      await serve(virtual[family], { routedTo: 'nodes' });
      for (const verb of ['who', 'who-udp']) {
        const answers = await who(virtual[family], 20, verb);
        expect(new Set(answers)).toEqual(new Set([`p1 ${seen}`, `p2 ${seen}`]));
      }
      const counts = await Promise.all(
        gateways.map((name) => topology.client(name).counters(signal)),
      );
      const came = (protocol: Protocol, unit: 'connections' | 'packets') =>
        counts
          .flat()
          .filter((each) => each.address === virtual[family] && each.protocol === protocol)
          .reduce((sum, each) => sum + Number(each[unit] ?? 0), 0);
      // A packet without an early answer is retransmitted, and counted again.
      expect(came('TCP', 'connections')).toBeGreaterThanOrEqual(20);
      expect(came('TCP', 'connections')).toBeLessThan(200);
      expect(came('UDP', 'packets')).toBe(20);
    },
  );

  test('lead only to the named nodes, and nowhere if none is named', async () => {
    await serve(virtual.v4, { routedTo: [parseAddress(servers.n2.v4)] });
    expect(new Set(await who(virtual.v4, 8))).toEqual(new Set(['p2 10.77.0.100']));
    await serve(virtual.v4, { routedTo: [] });
    expect(await who(virtual.v4, 1)).toEqual(['ECONNREFUSED']);
  });

  test('running transfers survive a drain, because every gateway selects the same node', async () => {
    await serve(virtual.v4, { routedTo: 'nodes' });
    const transfers = await topology.startClient('c', 'down', virtual.v4, 80, 10, 200_000, 3_000);
    const active = await waitFor('one active gateway', () => topology.active());
    await topology.command(active, 'drain', '--reason', 'test');
    expect(await transfers.result<number>()).toMatchObject({ whole: 10 });
    await topology.command(active, 'undrain');
  });

  test('begin and end without a refused connection', async () => {
    const destinations = [
      { address: parseAddress(servers.p1.v4), port: parsePort(8080), weight: 1 },
    ];
    await serve(virtual.v4, { destinations });
    const over = new AbortController();
    const asking = who(virtual.v4, 300).finally(() => over.abort());
    while (!over.signal.aborted) {
      await serve(virtual.v4, { routedTo: 'nodes' });
      await serve(virtual.v4, { destinations });
    }
    const answers = new Set(await asking);
    expect(answers).toContain('p1 10.77.0.100');
    expect(answers).not.toContain('ECONNREFUSED');
  });

  test('leave no unneeded table and no setting behind', async () => {
    await serve(virtual.v4, { destinations: [] });
    for (const name of ['g1', 'g2'] as const) {
      expect(await topology.network.run(name, ['nft', 'list', 'tables'])).not.toContain('routed');
      await waitFor(`the settings of ${name} to be right`, async () => {
        const { kernelSettings } = await topology.client(name).status(signal);
        return kernelSettings.every(({ wanted, found }) => wanted === found);
      });
    }
  });
});
