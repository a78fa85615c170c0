import { expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePort as port } from '@causeway/base/address/port';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { buildRuleset } from './layout.ts';
import { tracePacket } from '../trace/packet-tracer.ts';
import { routedCounts, routedRuleset, type RoutedService } from './routed-ruleset.ts';
import { emptyRuleset } from '../model/ruleset.ts';

const virtual = address('192.0.2.1');
const nodes = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map(address);
const settings = { table: 'causeway', hashSeed: 7 };
const gateway = { from: 'network', localAddresses: [virtual] } as const;

const service = (change: Partial<RoutedService> = {}): RoutedService => ({
  address: virtual,
  protocol: 'TCP',
  port: port(80),
  dispatch: { kind: 'nodes-unchanged' },
  ...change,
});

function trace(services: RoutedService[], sourcePort = 40_000, among = nodes) {
  const ruleset = routedRuleset(4, settings, services, among) ?? emptyRuleset('none');
  const source = address('198.51.100.7');
  return tracePacket(
    ruleset,
    { source, destination: virtual, protocol: 6, sourcePort, destinationPort: 80 },
    gateway,
  );
}

const targets = (services: RoutedService[], among = nodes) =>
  Array.from({ length: 64 }, (_, index) => trace(services, 40_000 + index, among).sentTo);

test('a packet is forwarded unchanged, to one node only', () => {
  const { outcome, packet, sentTo } = trace([service()]);
  expect(outcome).toBe('dropped');
  expect(packet).toMatchObject({ destination: virtual, destinationPort: 80 });
  expect(nodes).toContain(sentTo);
});

test('connections are distributed over all nodes, independently of their order', () => {
  const sent = targets([service()]);
  expect(new Set(sent)).toEqual(new Set(nodes));
  expect(targets([service()], nodes.toReversed())).toEqual(sent);
});

test('a client with affinity stays on one node', () => {
  expect(new Set(targets([service({ affinity: { kind: 'client-hash' } })])).size).toBe(1);
});

test('a service may have its own nodes', () => {
  const own = service({ dispatch: { kind: 'nodes-unchanged', nodes: nodes.slice(1) } });
  expect(new Set(targets([own]))).toEqual(new Set(nodes.slice(1)));
});

test.each([1, 2, 5])(
  'connections stay on their node when the service has fewer nodes: %i of 9',
  (count) => {
    const many = Array.from({ length: 9 }, (_, index) => address(`10.0.0.${index + 1}`));
    const few = many.slice(0, count);
    const before = targets([service()], many);
    const own = service({ dispatch: { kind: 'nodes-unchanged', nodes: few } });
    const after = targets([own], many);
    for (const [index, node] of before.entries()) {
      if (node !== undefined && few.includes(node)) expect(after[index]).toBe(node);
      else expect(few).toContain(after[index]);
    }
    expect(new Set(after)).toEqual(new Set(few));
  },
);

test('a client outside the source ranges is dropped', () => {
  const closed = trace([service({ sourceRanges: [prefix('203.0.113.0/24')] })]);
  expect([closed.outcome, closed.sentTo]).toEqual(['dropped', undefined]);
  const open = trace([service({ sourceRanges: [prefix('198.51.100.0/24')] })]);
  expect(nodes).toContain(open.sentTo);
});

test('without nodes the main table rejects the packet', () => {
  const { outcome, sentTo } = trace([service()], 40_000, []);
  expect([outcome, sentTo]).toEqual(['delivered', undefined]);
  const main = buildRuleset({
    settings: { ...settings, localSources: [], hairpin: false, resumeConnections: true },
    services: [service()],
  });
  const source = address('198.51.100.7');
  const probe = { source, destination: virtual, protocol: 6, sourcePort: 1, destinationPort: 80 };
  expect(tracePacket(main, probe, gateway).outcome).toBe('rejected');
});

test('a family without routed services has no table', () => {
  expect(routedRuleset(6, settings, [service()], nodes)).toBeUndefined();
});

test('each service with a route is counted', () => {
  const other = service({ port: port(81), dispatch: { kind: 'nodes-unchanged', nodes: [] } });
  const ruleset = routedRuleset(4, settings, [service(), other], nodes);
  expect([...(ruleset?.sets.get(routedCounts)?.elements.keys() ?? [])]).toEqual([
    '192.0.2.1 . 6 . 80',
  ]);
});
