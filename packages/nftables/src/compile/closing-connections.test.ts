import { describe, expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { applyOperations } from '../plan/apply-operations.ts';
import { tracePacket, type Probe } from '../trace/packet-tracer.ts';
import { buildRuleset } from './layout.ts';
import type { LayoutSettings, VirtualService } from './virtual-service.ts';

const virtual = address('192.0.2.1');
const backend = address('10.0.0.1');
const client = address('198.51.100.7');
const settings: LayoutSettings = {
  table: 'test',
  hashSeed: 1,
  localSources: [prefix('10.0.0.0/8')],
  hairpin: false,
  resumeConnections: true,
};
const service: VirtualService = {
  address: virtual,
  protocol: 'TCP',
  port: port(80),
  dispatch: { kind: 'slots', backends: [{ address: backend, port: port(8080) }] },
};
const ruleset = buildRuleset({ settings, services: [service] });
const gateway = { from: 'network', localAddresses: [virtual] } as const;
const fin = 0x11;
const ack = 0x10;

const fromClient: Probe = {
  source: client,
  sourcePort: 40_000,
  destination: virtual,
  destinationPort: 80,
  protocol: 6,
  tcpFlags: fin,
  connection: { state: 'invalid' },
};
const fromServer: Probe = {
  ...fromClient,
  source: backend,
  sourcePort: 8080,
  destination: client,
  destinationPort: 40_000,
};

/** The ruleset after the kernel has stored the connection. */
function learned({ source, sourcePort = 0, destination, destinationPort = 0 }: Probe) {
  return applyOperations(ruleset, [
    {
      op: 'add-elements',
      set: {
        name: 'closing4',
        key: ['ipv4_addr', 'inet_service', 'ipv4_addr', 'inet_service'],
        dynamic: true,
      },
      elements: [{ key: [source, sourcePort, destination, destinationPort] }],
    },
  ]);
}

describe.each([
  ['a client', fromClient, '198.51.100.7 . 40000 . 192.0.2.1 . 80'],
  ['a server', fromServer, '10.0.0.1 . 8080 . 198.51.100.7 . 40000'],
])('a FIN of %s that conntrack cannot assign', (_, probe, key) => {
  test('is dropped, and its connection is stored', () => {
    const trace = tracePacket(ruleset, probe, gateway);
    expect(trace.outcome).toBe('dropped');
    expect(trace.remembered).toEqual([{ set: 'closing4', key }]);
  });

  test('has no FIN in its next transmission', () => {
    const again: Probe = { ...probe, connection: { state: 'new' } };
    const trace = tracePacket(learned(probe), again, gateway);
    expect(trace.outcome).toBe('forwarded');
    expect(trace.packet.tcpFlags).toBe(ack);
  });

  test.each([
    ['an acknowledgement', ack],
    ['a reset', 0x14],
    ['a packet with SYN and FIN', 0x13],
  ])('differs from %s, whose connection is not stored', (_name, tcpFlags) => {
    const trace = tracePacket(ruleset, { ...probe, tcpFlags }, gateway);
    expect(trace.outcome).toBe('dropped');
    expect(trace.remembered).toEqual([]);
  });
});

describe('a FIN', () => {
  test('of a known connection is unchanged, if none was dropped', () => {
    const probe: Probe = { ...fromClient, connection: { state: 'established' } };
    const trace = tracePacket(ruleset, probe, gateway);
    expect(trace.packet.tcpFlags).toBe(fin);
    expect(trace.remembered).toEqual([]);
  });

  test('of a connection that passes the gateway between other networks is left alone', () => {
    const probe = { ...fromServer, source: address('203.0.113.9') };
    const trace = tracePacket(ruleset, probe, gateway);
    expect(trace.outcome).toBe('forwarded');
    expect(trace.packet.tcpFlags).toBe(fin);
    expect(trace.remembered).toEqual([]);
  });

  test('on a node is dropped and not stored', () => {
    const node = { ...settings, resumeConnections: false, dropsUnplaced: true };
    const rules = buildRuleset({ settings: node, services: [service] });
    const trace = tracePacket(rules, fromServer, gateway);
    expect(trace.outcome).toBe('dropped');
    expect(trace.remembered).toEqual([]);
    expect(rules.sets.has('closing4')).toBe(false);
  });
});
