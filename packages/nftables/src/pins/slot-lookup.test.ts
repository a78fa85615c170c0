import { describe, expect, test } from 'vitest';
import { addressBytes, parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { buildRuleset } from '../compile/layout.ts';
import { applyOperations } from '../plan/apply-operations.ts';
import { tracePacket, type Probe } from '../trace/packet-tracer.ts';
import type { LayoutSettings, VirtualService } from '../compile/virtual-service.ts';
import { pinElement, type Pin } from './pin.ts';
import { pinSet } from './pin-rules.ts';
import { SlotLookup } from './slot-lookup.ts';

const settings: LayoutSettings = {
  table: 'causeway',
  hashSeed: 0x1234,
  localSources: [],
  hairpin: false,
  resumeConnections: true,
};
const acknowledgementFlag = 0x10;
const backends = (prefix: string) =>
  [1, 2, 3, 4].map((last) => ({ address: address(`${prefix}${last}`), port: port(8080) }));
const nodes = [...backends('10.7.0.'), ...backends('fd07::')].map((each) => each.address);

const cases: readonly (VirtualService & { readonly client: string })[] = [
  ['192.0.2.1', '198.51.100.7', '10.0.0.'] as const,
  ['2001:db8::1', '2001:db8:9::7', 'fd00::'] as const,
].flatMap(([virtual, client, prefix]) => {
  const base = { address: address(virtual), protocol: 'TCP', port: port(80), client } as const;
  const slots = { kind: 'slots', backends: backends(prefix) } as const;
  return [
    { ...base, dispatch: slots },
    { ...base, dispatch: slots, affinity: { kind: 'client-hash' } },
    { ...base, dispatch: { kind: 'node-ports', nodePort: port(30_080) } },
  ];
});

function packet(service: VirtualService, client: string, sourcePort: number): Probe {
  return {
    source: address(client),
    destination: service.address,
    protocol: 6,
    sourcePort,
    destinationPort: 80,
  };
}

describe.each(cases)('a connection to $address by $dispatch.kind', ({ client, ...service }) => {
  const ruleset = buildRuleset({ settings, services: [service], nodes });
  const gateway = { from: 'network', localAddresses: [service.address] } as const;

  test('has the slot that the rules select', () => {
    const lookup = new SlotLookup(settings.hashSeed);
    for (let sourcePort = 40_000; sourcePort < 40_060; sourcePort += 1) {
      const trace = tracePacket(ruleset, packet(service, client, sourcePort), gateway);
      const found = lookup.backendOf(service, nodes, {
        address: addressBytes(address(client)),
        port: sourcePort,
      });
      expect(found).toMatchObject({
        address: trace.packet.destination,
        port: trace.packet.destinationPort,
      });
    }
  });

  test('goes to its pin if it runs already, and to a slot if it is new', () => {
    const elsewhere = address(service.address.includes(':') ? 'fd00::99' : '10.0.0.99');
    const pin: Pin = {
      client: address(client),
      clientPort: port(40_000),
      address: service.address,
      port: service.port,
      backend: elsewhere,
      backendPort: port(9_090),
    };
    const set = pinSet(service.address.includes(':') ? 6 : 4);
    const pinned = applyOperations(ruleset, [
      { op: 'add-elements', set, elements: [pinElement(pin, 60)] },
    ]);
    const traced = (sourcePort: number, tcpFlags?: number) =>
      tracePacket(
        pinned,
        {
          ...packet(service, client, sourcePort),
          ...(tcpFlags === undefined ? {} : { tcpFlags }),
        },
        gateway,
      ).packet.destination;
    expect(traced(40_000, acknowledgementFlag)).toBe(elsewhere);
    expect(traced(40_000)).not.toBe(elsewhere);
    expect(traced(40_001, acknowledgementFlag)).not.toBe(elsewhere);
  });
});
