import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAvailable } from '../../services/missing.ts';
import { waitFor } from '../../services/wait-for.ts';
import { requireNetworkTools } from './network.ts';
import { serverPort, servers, Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const { signal } = new AbortController();
const gateways = ['g1', 'g2'] as const;

describe.skipIf(!isRunnable)('an empty /v1 push', () => {
  let topology: Topology;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents();
  });
  afterAll(() => topology.stop());

  const applyAll = async (config: object) => {
    for (const name of gateways) expect(await topology.applyV1(name, config)).toBe(200);
  };
  /** 60 frontends, as the original controller sends them. */
  const config = {
    ingress: Array.from({ length: 60 }, (_, index) => ({
      address: `10.77.1.${index + 1}`,
      ports: [
        {
          protocol: 'TCP',
          'inbound-port': 80,
          'destination-addresses': [servers.p1.v4, servers.p2.v4],
          'destination-port': serverPort,
          policy: '',
        },
      ],
    })),
    'network-policies': null,
    'policy-assignments': null,
  };
  const answers = (address: string) => topology.ask<string[]>('c', 'who', address, 80, 2);
  const withheld = async () => {
    const states = await Promise.all(gateways.map((name) => topology.client(name).status(signal)));
    return states.map((state) => state.withheld?.length);
  };

  test('breaks no connection and refuses no new one, and the next push resolves it', async () => {
    await applyAll(config);
    await waitFor('one active gateway', () => topology.active());
    await waitFor('an answer', async () => (await answers('10.77.1.1')).length === 2);
    const downloads = await topology.startClient(
      'c',
      'down',
      '10.77.1.1',
      80,
      10,
      1_000_000,
      8_000,
    );
    await applyAll({ ingress: [], 'network-policies': null, 'policy-assignments': null });
    expect(await withheld()).toEqual([60, 60]);
    for (const address of ['10.77.1.1', '10.77.1.60']) {
      expect((await answers(address)).every((text) => /^p[12] /.test(text))).toBe(true);
    }
    await applyAll(config);
    expect(await withheld()).toEqual([0, 0]);
    expect(await downloads.result()).toEqual({ whole: 10, of: 10 });
  });
});
