import { describe, expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { applyOperations } from '../plan/apply-operations.ts';
import { buildRuleset, Layout } from './layout.ts';
import { tracePacket, type Probe } from '../trace/packet-tracer.ts';
import type { Ruleset } from '../model/ruleset.ts';
import {
  serviceKey,
  type LayoutInput,
  type LayoutSettings,
  type VirtualService,
} from './virtual-service.ts';
import { reversePinElement, type Pin } from '../pins/pin.ts';
import { reversePinSet } from '../pins/pin-rules.ts';

const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 0x1234,
  localSources: [prefix('10.0.0.0/8'), prefix('fd00::/8')],
  hairpin: false,
  resumeConnections: true,
};
const virtual = address('192.0.2.1');
const gateway = { from: 'network', localAddresses: [virtual, address('2001:db8::1')] } as const;

function service(overrides: Partial<VirtualService> = {}): VirtualService {
  return {
    address: virtual,
    protocol: 'TCP',
    port: port(80),
    dispatch: {
      kind: 'slots',
      backends: [1, 2, 3].map((last) => ({
        address: address(`10.0.0.${last}`),
        port: port(8080),
      })),
    },
    ...overrides,
  };
}

function withServices(...services: VirtualService[]): Ruleset {
  return buildRuleset({ settings, services });
}

function packet(overrides: Partial<Probe> = {}): Probe {
  return {
    source: address('198.51.100.7'),
    destination: virtual,
    protocol: 6,
    sourcePort: 40_000,
    destinationPort: 80,
    ...overrides,
  };
}

describe('a connection to a virtual service', () => {
  test('goes to one of its backends and keeps the client address', () => {
    const trace = tracePacket(withServices(service()), packet(), gateway);
    expect(trace.outcome).toBe('forwarded');
    expect(trace.packet.destination).toMatch(/^10\.0\.0\.[123]$/);
    expect(trace.packet.destinationPort).toBe(8080);
    expect(trace.packet.source).toBe('198.51.100.7');
    expect(trace.masqueraded).toBe(false);
    expect(trace.steps.map((step) => step.chain)).toContain('slots4-connection-32');
  });

  test('reaches every backend, about equally often', () => {
    const ruleset = withServices(service());
    const counts = new Map<string, number>();
    for (let client = 1; client <= 3000; client += 1) {
      const { destination } = tracePacket(ruleset, packet({ sourcePort: client }), gateway).packet;
      counts.set(destination, (counts.get(destination) ?? 0) + 1);
    }
    expect(counts.size).toBe(3);
    for (const count of counts.values()) expect(count).toBeGreaterThan(600);
  });

  test('from one client always goes to the same backend with client-hash affinity', () => {
    const ruleset = withServices(service({ affinity: { kind: 'client-hash' } }));
    const seen = new Set<string>();
    for (let sourcePort = 1; sourcePort < 200; sourcePort += 1) {
      seen.add(tracePacket(ruleset, packet({ sourcePort }), gateway).packet.destination);
    }
    expect(seen.size).toBe(1);
  });

  test('is stored with client-timeout affinity', () => {
    const ruleset = withServices(service({ affinity: { kind: 'client-timeout', seconds: 30 } }));
    const first = tracePacket(ruleset, packet(), { ...gateway, random: () => 0.5 });
    expect(first.remembered).toHaveLength(1);
    const [memory] = first.remembered;
    const learned = applyOperations(ruleset, [
      {
        op: 'add-elements',
        set: { name: memory?.set ?? '', key: ['ipv4_addr'] },
        elements: [{ key: [address('198.51.100.7')] }],
      },
    ]);
    for (const random of [0, 0.2, 0.4, 0.6, 0.8, 0.99]) {
      const again = tracePacket(learned, packet(), { ...gateway, random: () => random });
      expect(again.packet.destination).toBe(first.packet.destination);
    }
  });

  test.each([
    ['TCP', 6],
    ['UDP', 17],
    ['SCTP', 132],
  ] as const)('works for %s', (protocol, number) => {
    const trace = tracePacket(
      withServices(service({ protocol })),
      packet({ protocol: number }),
      gateway,
    );
    expect(trace.outcome).toBe('forwarded');
  });

  test('works for IPv6', () => {
    const ruleset = withServices(
      service({
        address: address('2001:db8::1'),
        dispatch: { kind: 'slots', backends: [{ address: address('fd00::5'), port: port(81) }] },
      }),
    );
    const probe = packet({ source: address('2001:db8:1::9'), destination: address('2001:db8::1') });
    const trace = tracePacket(ruleset, probe, gateway);
    expect(trace.packet).toMatchObject({ destination: 'fd00::5', destinationPort: 81 });
    expect(trace.masqueraded).toBe(false);
    const local = { ...probe, source: address('fd00::9') };
    expect(tracePacket(ruleset, local, gateway).masqueraded).toBe(true);
  });

  test('is opened by the machine itself as well', () => {
    const trace = tracePacket(withServices(service()), packet(), { ...gateway, from: 'local' });
    expect(trace.packet.destination).toMatch(/^10\.0\.0\./);
  });
});

describe('refusals', () => {
  test('reject everything else on the virtual address, with a reset for TCP', () => {
    const ruleset = withServices(service());
    const ssh = tracePacket(ruleset, packet({ destinationPort: 22 }), gateway);
    expect(ssh).toMatchObject({ outcome: 'rejected', rejectedWith: 'tcp-reset' });
    const dns = tracePacket(ruleset, packet({ protocol: 17, destinationPort: 53 }), gateway);
    expect(dns).toMatchObject({ outcome: 'rejected', rejectedWith: 'port-unreachable' });
  });

  test("let ping, ICMP errors, and answers to the machine's own requests pass", () => {
    const ruleset = withServices(service());
    const ping = { source: address('198.51.100.7'), destination: virtual, protocol: 1 };
    expect(tracePacket(ruleset, { ...ping, icmpType: 8 }, gateway).outcome).toBe('delivered');
    expect(tracePacket(ruleset, { ...ping, icmpType: 3 }, gateway).outcome).toBe('delivered');
    expect(tracePacket(ruleset, { ...ping, icmpType: 13 }, gateway).outcome).toBe('rejected');
    const answer = packet({
      destinationPort: 50_000,
      connection: { state: 'established', reply: true },
    });
    expect(tracePacket(ruleset, answer, gateway).outcome).toBe('delivered');
  });

  test("drop packets that conntrack can't assign, in both directions", () => {
    const ruleset = withServices(service());
    const unplaced = { state: 'invalid' } as const;
    const request = packet({ tcpFlags: 0x10, connection: unplaced });
    expect(tracePacket(ruleset, request, gateway).outcome).toBe('dropped');
    const answer = packet({
      source: address('10.0.0.2'),
      destination: address('198.51.100.7'),
      connection: unplaced,
    });
    expect(tracePacket(ruleset, answer, gateway).outcome).toBe('dropped');
    const passingBy = { ...answer, source: address('203.0.113.9') };
    expect(tracePacket(ruleset, passingBy, gateway).outcome).toBe('forwarded');
  });

  test('reject or drop connections to a service without backends, as configured', () => {
    const dispatch = { kind: 'slots', backends: [] } as const;
    const rejecting = withServices(service({ dispatch }));
    expect(tracePacket(rejecting, packet(), gateway).outcome).toBe('rejected');
    const dropping = withServices(service({ dispatch, withoutBackends: 'drop' }));
    expect(tracePacket(dropping, packet(), gateway).outcome).toBe('dropped');
  });

  test('drop a client outside the source ranges before anything is rewritten', () => {
    const ruleset = withServices(service({ sourceRanges: [prefix('198.51.100.0/25')] }));
    expect(tracePacket(ruleset, packet(), gateway).outcome).toBe('forwarded');
    const outside = tracePacket(ruleset, packet({ source: address('198.51.100.200') }), gateway);
    expect(outside.outcome).toBe('dropped');
    expect(outside.packet.destination).toBe(virtual);
  });

  test('drop all clients if the list of source ranges is empty', () => {
    const ruleset = withServices(service({ sourceRanges: [] }));
    expect(tracePacket(ruleset, packet(), gateway).outcome).toBe('dropped');
  });

  test('do not affect other ports of an address that the machine itself uses', () => {
    const ruleset = withServices(service({ exclusiveAddress: false }));
    expect(tracePacket(ruleset, packet({ destinationPort: 22 }), gateway).outcome).toBe(
      'delivered',
    );
    const idle = withServices(
      service({ exclusiveAddress: false, dispatch: { kind: 'slots', backends: [] } }),
    );
    expect(tracePacket(idle, packet(), gateway).outcome).toBe('rejected');
  });
});

describe('the source of a connection', () => {
  const fromPod = packet({ source: address('10.9.9.9') });

  test.each([
    ['needed', true, false],
    ['never', false, false],
    ['always', true, true],
  ] as const)('with masquerade %s', (masquerade, local, remote) => {
    const ruleset = withServices(service({ masquerade }));
    expect(tracePacket(ruleset, fromPod, gateway).masqueraded).toBe(local);
    expect(tracePacket(ruleset, packet(), gateway).masqueraded).toBe(remote);
  });

  test('is rewritten for a pod that connects to itself, with hairpin enabled', () => {
    const ruleset = buildRuleset({
      settings: { ...settings, localSources: [], hairpin: true },
      services: [
        service({
          dispatch: {
            kind: 'slots',
            backends: [{ address: address('10.0.0.1'), port: port(80) }],
          },
        }),
      ],
    });
    const itself = packet({ source: address('10.0.0.1') });
    expect(tracePacket(ruleset, itself, gateway).masqueraded).toBe(true);
    expect(tracePacket(ruleset, fromPod, gateway).masqueraded).toBe(false);
  });
});

describe("a server's packet of an unknown connection", () => {
  const answer: Probe = {
    source: address('10.0.0.2'),
    destination: address('198.51.100.7'),
    protocol: 6,
    sourcePort: 8080,
    destinationPort: 40_000,
    tcpFlags: 0x10,
  };

  test('gets its virtual address back', () => {
    const trace = tracePacket(withServices(service()), answer, gateway);
    expect(trace.packet).toMatchObject({ source: virtual, sourcePort: 80 });
  });

  test('does not if it is a plain SYN: the pod opens its own connection', () => {
    const trace = tracePacket(withServices(service()), { ...answer, tcpFlags: 0x02 }, gateway);
    expect(trace.packet.source).toBe('10.0.0.2');
  });

  test('does not if the backend is behind two services, which is reported', () => {
    const twice = [service(), service({ port: port(81) })];
    const { layout, plan } = Layout.plan({ settings, services: twice });
    plan.accept();
    expect(tracePacket(layout.ruleset(), answer, gateway).packet.source).toBe('10.0.0.2');
    expect(layout.ambiguousBackends()).toHaveLength(3);
    expect(layout.ambiguousBackends()[0]).toMatchObject({
      protocol: 'TCP',
      port: 8080,
      services: ['192.0.2.1 . TCP . 80', '192.0.2.1 . TCP . 81'],
    });
    const backend = { address: address('10.0.0.2'), port: port(8080) };
    expect(layout.servicesSharing(backend)).toEqual([
      '192.0.2.1 . TCP . 80',
      '192.0.2.1 . TCP . 81',
    ]);
    const next = layout.plan({ remove: [serviceKey({ ...service(), port: port(81) })] });
    next.accept();
    expect(layout.ambiguousBackends()).toEqual([]);
    expect(layout.servicesSharing(backend)).toEqual([]);
    expect(tracePacket(layout.ruleset(), answer, gateway).packet.source).toBe(virtual);
  });

  test('gets it back by a pin if the backend is behind two services', () => {
    const ruleset = withServices(service(), service({ port: port(81) }));
    const pin: Pin = {
      client: address('198.51.100.7'),
      clientPort: port(40_000),
      address: virtual,
      port: port(81),
      backend: address('10.0.0.2'),
      backendPort: port(8080),
    };
    const elements = [reversePinElement(pin, 60)];
    const pinned = applyOperations(ruleset, [
      { op: 'add-elements', set: reversePinSet(4), elements },
    ]);
    expect(tracePacket(pinned, answer, gateway).packet).toMatchObject({
      source: virtual,
      sourcePort: 81,
    });
    const plainSyn = { ...answer, tcpFlags: 0x02 };
    expect(tracePacket(pinned, plainSyn, gateway).packet.source).toBe('10.0.0.2');
    const other = { ...answer, destinationPort: 40_001 };
    expect(tracePacket(pinned, other, gateway).packet.source).toBe('10.0.0.2');
  });

  test('distinguishes two protocols on one backend', () => {
    const ruleset = withServices(service(), service({ protocol: 'UDP', port: port(81) }));
    expect(tracePacket(ruleset, answer, gateway).packet.sourcePort).toBe(80);
  });
});

describe('node ports', () => {
  const nodes = [1, 2, 3, 4].map((last) => address(`10.7.0.${last}`));
  const nodePort = service({ dispatch: { kind: 'node-ports', nodePort: port(30_080) } });
  const input: LayoutInput = { settings, services: [nodePort], nodes };

  test('send to a node on the node port', () => {
    const trace = tracePacket(buildRuleset(input), packet(), gateway);
    expect(trace.packet.destination).toMatch(/^10\.7\.0\.[1-4]$/);
    expect(trace.packet.destinationPort).toBe(30_080);
  });

  test('restore the virtual address in answers', () => {
    const answer: Probe = {
      source: address('10.7.0.3'),
      destination: address('198.51.100.7'),
      protocol: 6,
      sourcePort: 30_080,
      destinationPort: 40_000,
      tcpFlags: 0x10,
    };
    const trace = tracePacket(buildRuleset(input), answer, gateway);
    expect(trace.packet).toMatchObject({ source: virtual, sourcePort: 80 });
  });

  test('reject connections without nodes', () => {
    const trace = tracePacket(buildRuleset({ ...input, nodes: [] }), packet(), gateway);
    expect(trace.outcome).toBe('rejected');
  });

  test('cost three elements per service, for any number of nodes', () => {
    const { layout, plan } = Layout.plan({ settings, services: [], nodes });
    plan.accept();
    const { operations } = layout.plan({ set: [nodePort] }).transaction;
    const added = operations.flatMap((op) => (op.op === 'add-elements' ? op.elements : []));
    expect(added.length).toBeLessThanOrEqual(5);
  });
});

test('a service that is routed unchanged is forwarded and not rewritten', () => {
  const ruleset = withServices(service({ dispatch: { kind: 'route-unchanged' } }));
  const trace = tracePacket(ruleset, packet(), { from: 'network', localAddresses: [] });
  expect(trace.outcome).toBe('forwarded');
  expect(trace.packet.destination).toBe(virtual);
});

test('a held service logs the packet and drops it', () => {
  const ruleset = withServices(service({ dispatch: { kind: 'hold', logGroup: 9 } }));
  const trace = tracePacket(ruleset, packet(), gateway);
  expect(trace.outcome).toBe('dropped');
  expect(trace.steps.map((step) => step.rule)).toContain('log group 9');
});

describe('ingress policies', () => {
  const input: LayoutInput = {
    settings,
    services: [service()],
    policies: [
      {
        namespace: 'shop',
        name: 'x; flush ruleset',
        allow: [
          {
            from: [
              { cidr: prefix('198.51.0.0/16'), except: [prefix('198.51.100.128/25')] },
              { cidr: prefix('2001:db8::/32'), except: [] },
            ],
            ports: [{ protocol: 'TCP', first: port(8000), last: port(8100) }],
          },
        ],
      },
      { namespace: 'other', name: 'x; flush ruleset', allow: [{}] },
    ],
    pods: [1, 2, 3].map((last) => ({
      address: address(`10.0.0.${last}`),
      policies: ['shop/x; flush ruleset'],
    })),
  };

  test('admit only connections that a rule allows', () => {
    const ruleset = buildRuleset(input);
    const outcome = (probe: Partial<Probe>) => tracePacket(ruleset, packet(probe), gateway).outcome;
    expect(outcome({})).toBe('forwarded');
    expect(outcome({ source: address('198.51.100.200') })).toBe('dropped');
    expect(outcome({ source: address('203.0.113.1') })).toBe('dropped');
  });

  test("never use a policy's name in the name of a chain", () => {
    for (const name of buildRuleset(input).chains.keys()) expect(name).toMatch(/^[a-z][a-z0-9-]*$/);
  });

  test('of the same name in two namespaces are separate', () => {
    const open: LayoutInput = {
      ...input,
      pods: [{ address: address('10.0.0.1'), policies: ['other/x; flush ruleset'] }],
    };
    const ruleset = buildRuleset(open);
    const anyone = packet({ source: address('203.0.113.1') });
    expect(tracePacket(ruleset, anyone, gateway).outcome).toBe('forwarded');
  });
});
