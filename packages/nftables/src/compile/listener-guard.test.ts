import { describe, expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { buildRuleset, Layout } from './layout.ts';
import { tracePacket, type Probe } from '../trace/packet-tracer.ts';
import { serviceKey, type LayoutSettings, type VirtualService } from './virtual-service.ts';

const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 7,
  localSources: [],
  hairpin: false,
  resumeConnections: false,
};
const node = { from: 'network', localAddresses: [address('192.0.2.1')] } as const;
const listener = 15_080;

function accepted(text: string, overrides: Partial<VirtualService> = {}): VirtualService {
  return {
    address: address(text),
    protocol: 'TCP',
    port: port(80),
    dispatch: { kind: 'here', port: port(listener) },
    ...overrides,
  };
}

function packet(overrides: Partial<Probe> = {}): Probe {
  return {
    source: address('198.51.100.7'),
    destination: address('10.96.0.10'),
    protocol: 6,
    sourcePort: 40_000,
    destinationPort: 80,
    ...overrides,
  };
}

describe('the listener of a service', () => {
  const ruleset = buildRuleset({
    settings,
    services: [
      accepted('10.96.0.10'),
      accepted('203.0.113.5', { sourceRanges: [prefix('198.51.100.0/24')] }),
      {
        address: address('10.96.0.11'),
        protocol: 'TCP',
        port: port(80),
        dispatch: {
          kind: 'slots',
          backends: [{ address: address('192.0.2.1'), port: port(listener) }],
        },
      },
    ],
  });
  const outcome = (probe: Probe) => tracePacket(ruleset, probe, node).outcome;

  test('is reached through the addresses of the service', () => {
    const trace = tracePacket(ruleset, packet(), node);
    expect(trace.outcome).toBe('delivered');
    expect(trace.packet.destinationPort).toBe(listener);
  });

  test('rejects connections to its own port, which would bypass the source ranges', () => {
    const own = { destination: address('192.0.2.1'), destinationPort: listener };
    expect(outcome(packet({ destination: address('203.0.113.5') }))).toBe('delivered');
    const outsider = { source: address('203.0.113.77') };
    expect(outcome(packet({ ...outsider, destination: address('203.0.113.5') }))).toBe('dropped');
    expect(outcome(packet({ ...outsider, ...own }))).toBe('rejected');
  });

  test('drops connections of another service with the port as its backend', () => {
    // Dropped like a packet that a previous rule sent here: the two can't be distinguished.
    expect(outcome(packet({ destination: address('10.96.0.11') }))).toBe('dropped');
  });

  test('drops packets while no process listens', () => {
    expect(outcome(packet({ hasSocket: false }))).toBe('dropped');
  });

  test('does not affect established connections', () => {
    const connection = { state: 'established' } as const;
    const own = { destination: address('192.0.2.1'), destinationPort: listener };
    expect(outcome(packet({ ...own, connection, hasSocket: false }))).toBe('delivered');
  });

  test('is removed with the last service that uses it', () => {
    const services = [accepted('10.96.0.10'), accepted('203.0.113.5')];
    const { layout, plan } = Layout.plan({ settings, services });
    plan.accept();
    const [first, second] = services.map(serviceKey);
    layout.plan({ remove: first === undefined ? [] : [first] }).accept();
    expect(layout.ruleset().chains.has('to-listener')).toBe(true);
    layout.plan({ remove: second === undefined ? [] : [second] }).accept();
    expect(layout.ruleset()).toEqual(buildRuleset({ settings, services: [] }));
  });

  test('drops a repeated packet after its first attempt went to a previous listener, while packets are held', () => {
    const held = buildRuleset({
      settings,
      services: [accepted('10.96.0.10', { dispatch: { kind: 'hold', logGroup: 7 } })],
    });
    const again = packet({
      destination: address('192.0.2.1'),
      destinationPort: 15_099,
      connection: {
        destinationRewritten: true,
        originalDestination: address('10.96.0.10'),
        originalDestinationPort: 80,
      },
    });
    expect(tracePacket(held, again, node).outcome).toBe('dropped');
    const others = packet({ destination: address('192.0.2.1'), destinationPort: 15_099 });
    expect(tracePacket(held, others, node).outcome).toBe('delivered');
  });
});
