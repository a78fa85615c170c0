import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import { parsePrefix } from '../../../packages/base/src/address/prefix.ts';
import {
  makeFrontend,
  type Frontend,
} from '../../../packages/causeway/src/gateway/protocol/frontend.ts';
import { policyKey, type Policy } from '../../../packages/causeway/src/gateway/protocol/policy.ts';
import {
  writeState,
  type StateContent,
} from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { waitFor } from '../../services/wait-for.ts';
import { isAvailable } from '../../services/missing.ts';
import type { Outage } from './faults.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing, ranges } from './services.ts';
import { servers, Topology } from './topology.ts';

const { signal } = new AbortController();
const isRunnable = await isAvailable(requireNetworkTools);

describe.skipIf(!isRunnable)('traffic through a pair of gateways', () => {
  let topology: Topology;
  let generation = 0;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents();
  });
  afterAll(() => topology.stop());

  async function serve(content: Partial<StateContent>): Promise<void> {
    generation += 1;
    const state = { ...nothing, ...content };
    await topology.push(writeState(state, { generation, meansRemoval: true }));
  }
  const serveFrontends = (...frontends: Frontend[]) => serve({ frontends });
  const who = (from: string, address: string, count = 1, verb = 'who', port = 80) =>
    topology.ask<string[]>(from, verb, address, port, count);
  /** For rejected clients: no answer will come, so the timeout is short. */
  const answerSoon = async (address: string) =>
    (await topology.ask<string[]>('c', 'who', address, 80, 1, 2_000))[0];
  const active = () => waitFor('one active gateway', () => topology.active());

  test("TCP and UDP, IPv4 and IPv6 reach every backend, which sees the client's address", async () => {
    await serveFrontends(
      frontend('10.77.1.1', 'TCP', ['p1', 'p2']),
      frontend('10.77.1.1', 'UDP', ['p1', 'p2']),
      frontend('2001:db8:77::1:1', 'TCP', ['p1', 'p2']),
      frontend('2001:db8:77::1:1', 'UDP', ['p1', 'p2']),
    );
    for (const [address, seen] of [
      ['10.77.1.1', '10.77.0.100'],
      ['2001:db8:77::1:1', '2001:db8:77::100'],
    ] as const) {
      for (const verb of ['who', 'who-udp']) {
        const answers = await who('c', address, 20, verb);
        expect(new Set(answers)).toEqual(new Set([`p1 ${seen}`, `p2 ${seen}`]));
      }
    }
  });

  test('a client with affinity stays with one backend', async () => {
    const options = { affinity: 'client' } as const;
    await serveFrontends(frontend('10.77.1.1', 'TCP', ['p1', 'p2', 'n1', 'n2'], options));
    expect(new Set(await who('c', '10.77.1.1', 20)).size).toBe(1);
  });

  test('rejects clients outside the source ranges, accepts others', async () => {
    await serveFrontends(
      frontend('10.77.1.1', 'TCP', ['p1'], ranges('10.77.0.96/27')),
      frontend('10.77.1.2', 'TCP', ['p1'], ranges('10.99.0.0/16', '192.0.2.0/24')),
      frontend('2001:db8:77::1:1', 'TCP', ['p1'], ranges('2001:db8:99::/48')),
    );
    expect(await who('c', '10.77.1.1')).toEqual(['p1 10.77.0.100']);
    for (const address of ['10.77.1.2', '2001:db8:77::1:1']) {
      expect(await answerSoon(address)).toMatch(/^(timeout|ECONNREFUSED)$/);
    }
  });

  test('without backends a client is refused at once', async () => {
    await serveFrontends(
      frontend('10.77.1.1', 'TCP', []),
      frontend('10.77.1.1', 'UDP', []),
      frontend('2001:db8:77::1:1', 'TCP', []),
    );
    expect(await who('c', '10.77.1.1')).toEqual(['ECONNREFUSED']);
    expect(await who('c', '10.77.1.1', 1, 'who-udp')).toEqual(['ECONNREFUSED']);
    expect(await who('c', '2001:db8:77::1:1')).toEqual(['ECONNREFUSED']);
  });

  test("the gateway's own ports can't be reached on a virtual address", async () => {
    await serveFrontends(frontend('10.77.1.1', 'TCP', ['p1']));
    const own = (await active()) === 'g1' ? '10.77.0.11' : '10.77.0.12';
    expect(await who('c', own, 1, 'who', 15213)).not.toEqual(['ECONNREFUSED']);
    expect(await who('c', '10.77.1.1', 1, 'who', 15213)).toEqual(['ECONNREFUSED']);
  });

  test('serves clients inside the node and pod networks, and a pod that connects to itself', async () => {
    await serveFrontends(
      frontend('10.77.1.1', 'TCP', ['p1']),
      frontend('10.77.1.2', 'TCP', ['n1']),
    );
    for (const from of ['n1', 'n2', 'p2', 'p1']) {
      expect((await who(from, '10.77.1.1'))[0]).toMatch(/^p1 /);
      expect((await who(from, '10.77.1.2'))[0]).toMatch(/^n1 /);
    }
  });

  test('masquerades all clients of a service with that setting', async () => {
    await serveFrontends(frontend('10.77.1.1', 'TCP', ['p1'], { masquerade: 'always' }));
    expect((await who('c', '10.77.1.1'))[0]).toMatch(/^p1 10\.78\.0\.1[12]?$/);
  });

  test('spreads node ports over the nodes that all of them share', async () => {
    const nodes = [servers.n1.v4, servers.n2.v4].map((text) => ({ address: parseAddress(text) }));
    const web = makeFrontend({
      address: parseAddress('10.77.1.3'),
      protocol: 'TCP',
      port: parsePort(80),
      nodePort: parsePort(8080),
    });
    await serve({ frontends: [web], nodes });
    expect(new Set(await who('c', '10.77.1.3', 20))).toEqual(
      new Set(['n1 10.77.0.100', 'n2 10.77.0.100']),
    );
  });

  test('policies accept the clients that they name: blocks with exceptions, ports, ranges, names', async () => {
    const policy = (name: string, ingress: Policy['ingress']): Policy => ({
      namespace: 'shop',
      name,
      ingress,
    });
    const from = (cidr: string, ...except: string[]) => [
      { cidr: parsePrefix(cidr), except: except.map(parsePrefix) },
    ];
    const ports = (port: number | string | undefined, endPort?: number) => [
      {
        protocol: 'TCP' as const,
        port: typeof port === 'number' ? parsePort(port) : port,
        endPort: endPort === undefined ? undefined : parsePort(endPort),
      },
    ];
    const address = parseAddress(servers.p1.v4);
    const frontends = [frontend('10.77.1.1', 'TCP', ['p1']), frontend('10.77.1.2', 'TCP', ['p2'])];
    const expectOutcome = async (expected: 'in' | 'out', ingress: Policy['ingress']) => {
      const accept = policy('accept', ingress);
      await serve({
        frontends,
        policies: [accept],
        assignments: [
          {
            address,
            policies: [policyKey(accept)],
            namedPorts: [{ name: 'http', protocol: 'TCP', port: parsePort(8080) }],
          },
        ],
      });
      // A pod that no policy selects is open to all.
      expect(await who('c', '10.77.1.2')).toEqual(['p2 10.77.0.100']);
      if (expected === 'in') expect(await who('c', '10.77.1.1')).toEqual(['p1 10.77.0.100']);
      else expect(await answerSoon('10.77.1.1')).toMatch(/^(timeout|ECONNREFUSED)$/);
    };
    const any = undefined;
    await expectOutcome('out', []);
    await expectOutcome('in', [{ from: any, ports: any }]);
    await expectOutcome('in', [{ from: from('10.77.0.0/16'), ports: any }]);
    await expectOutcome('out', [{ from: from('10.77.0.0/16', '10.77.0.0/24'), ports: any }]);
    await expectOutcome('out', [{ from: from('10.99.0.0/16'), ports: any }]);
    await expectOutcome('in', [{ from: any, ports: ports(8080) }]);
    await expectOutcome('out', [{ from: any, ports: ports(80) }]);
    await expectOutcome('in', [{ from: any, ports: ports(8000, 8100) }]);
    await expectOutcome('in', [{ from: any, ports: ports('http') }]);
    await expectOutcome('out', [{ from: any, ports: ports('https') }]);
  });

  test('serves the requests of the original ch-k8s-lbaas controller on /v1, with policies', async () => {
    const port = (destination: string) => ({
      protocol: 'TCP',
      'inbound-port': 80,
      'destination-addresses': [destination],
      'destination-port': 8080,
      policy: '',
    });
    const config = (allow: string) => ({
      ingress: [
        { address: '10.77.1.1', ports: [port(servers.p1.v4)] },
        { address: '10.77.1.2', ports: [port(servers.p2.v4)] },
      ],
      'network-policies': [
        {
          name: 'pol',
          'allowed-ingresses': [
            {
              'ipblock-filters': [{ allow, block: null }],
              'port-filters': [{ protocol: 'TCP', port: 8080 }],
            },
          ],
        },
      ],
      'policy-assignments': [{ address: servers.p1.v4, 'network-policies': ['pol'] }],
    });
    for (const [allow, isLetIn] of [
      ['10.77.0.0/16', true],
      ['10.99.0.0/16', false],
    ] as const) {
      for (const name of ['g1', 'g2'] as const) {
        expect(await topology.applyV1(name, config(allow))).toBe(200);
      }
      if (isLetIn) expect(await who('c', '10.77.1.1')).toEqual(['p1 10.77.0.100']);
      else expect(await answerSoon('10.77.1.1')).toBe('timeout');
      expect(await who('c', '10.77.1.2')).toEqual(['p2 10.77.0.100']);
    }
    const { generation: reached } = await topology.client('g1').status(signal);
    generation = reached;
  });

  test("other processes can't change the agent's table, and flushing all rules leaves it", async () => {
    await serveFrontends(frontend('10.77.1.1', 'TCP', ['p1']));
    const gateway = await active();
    await topology.network.run(gateway, ['nft', 'flush', 'ruleset']);
    expect(await who('c', '10.77.1.1')).toEqual(['p1 10.77.0.100']);
    await expect(
      topology.network.run(gateway, ['nft', 'delete', 'table', 'inet', 'causeway']),
    ).rejects.toThrow('not permitted');
  });

  test('a UDP client that keeps sending is served by a remaining backend', async () => {
    await serveFrontends(frontend('10.77.1.1', 'UDP', ['p1']));
    const attempting = await topology.startClient('c', 'timeout', 80, '10.77.1.1');
    await serveFrontends(frontend('10.77.1.1', 'UDP', ['p2']));
    await attempting.says('p2 answers on 10.77.1.1');
    attempting.stop();
    const [outage] = await attempting.result<Outage[]>();
    expect(outage?.from).toBe('p2');
  });

  test('a foreign firewall keeps its rules and its effect', async () => {
    await serveFrontends(
      frontend('10.77.1.1', 'TCP', ['p1']),
      frontend('10.77.1.2', 'TCP', ['p2']),
    );
    const firewall = `table ip other {
      chain forward { type filter hook forward priority 10; ip daddr ${servers.p2.v4} drop; }
      chain marks { type filter hook prerouting priority -150; meta mark set 0x7; }
    }`;
    for (const gateway of ['g1', 'g2'])
      await topology.network.run(gateway, ['nft', '-f', '-'], firewall);
    await serveFrontends(
      frontend('10.77.1.1', 'TCP', ['p1', 'n1']),
      frontend('10.77.1.2', 'TCP', ['p2']),
    );
    expect(new Set(await who('c', '10.77.1.1', 30))).toEqual(
      new Set(['p1 10.77.0.100', 'n1 10.77.0.100']),
    );
    expect(await answerSoon('10.77.1.2')).toBe('timeout');
    for (const gateway of ['g1', 'g2']) {
      expect(
        await topology.network.run(gateway, ['nft', 'list', 'table', 'ip', 'other']),
      ).toContain(servers.p2.v4);
      await topology.network.run(gateway, ['nft', 'delete', 'table', 'ip', 'other']);
    }
  });
});
