import { expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { DebouncedCluster } from './debounced-cluster.ts';

const named = (name: string) => ({ metadata: { name } });
const slice = (name: string) => ({ ...named(name), addressType: 'IPv4' as const, endpoints: [] });

function begin(isServed = true) {
  const clock = new SimulatedClock();
  const live = { slices: [slice('a')], nodes: [named('n1')] };
  const change = { endpoints: (_key: string) => {}, nodes: () => {} };
  const cluster = new DebouncedCluster({
    clock,
    quietMs: 1_000,
    cluster: {
      slicesOf: () => [...live.slices],
      allNodes: () => live.nodes,
      onChange: (endpoints, nodes) => {
        Object.assign(change, { endpoints, nodes });
        return () => {};
      },
      whenSynced: () => Promise.resolve(),
      readiness: () => undefined,
      run: () => Promise.resolve(),
    },
  });
  const seen: string[] = [];
  const stop = cluster.onChange({
    isServed: () => isServed,
    endpointsChanged: (key) => seen.push(key),
    nodesChanged: () => seen.push('nodes'),
  });
  return { clock, live, cluster, change, seen, stop };
}

test('returns the former endpoints while they change, then the current ones', async () => {
  const { clock, live, cluster, change, seen } = begin();
  expect(cluster.slicesOf('default/web')).toEqual([slice('a')]);
  live.slices.push(slice('b'));
  change.endpoints('default/web');
  expect(cluster.slicesOf('default/web')).toEqual([slice('a')]);
  expect(cluster.currentSlicesOf('default/web')).toHaveLength(2);
  expect(cluster.slicesOf('default/other')).toHaveLength(2);
  expect(seen).toEqual([]);
  await clock.advance(1_000);
  expect(seen).toEqual(['default/web']);
  expect(cluster.slicesOf('default/web')).toHaveLength(2);
});

test('returns the former nodes while they change, then the current ones', async () => {
  const { clock, live, cluster, change, seen } = begin();
  expect(cluster.nodes()).toEqual([named('n1')]);
  live.nodes.push(named('n2'));
  change.nodes();
  expect(cluster.nodes()).toEqual([named('n1')]);
  await clock.advance(1_000);
  expect(seen).toEqual(['nodes']);
  expect(cluster.nodes()).toHaveLength(2);
});

test('returns the current state for unknown and deleted Services', () => {
  const { live, cluster, change } = begin();
  cluster.slicesOf('default/web');
  cluster.nodes();
  live.slices.push(slice('b'));
  change.endpoints('default/web');
  change.nodes();
  cluster.drop('default/web');
  expect(cluster.slicesOf('default/web')).toHaveLength(2);
  expect(cluster.nodes()).toEqual([named('n1')]);
});

test('reports the first endpoints of a Service immediately', () => {
  const { change, seen } = begin(false);
  change.endpoints('default/web');
  expect(seen).toEqual(['default/web']);
});

test('reports nothing after the listener is removed', async () => {
  const { clock, change, seen, stop } = begin();
  change.endpoints('default/web');
  stop();
  await clock.advance(10_000);
  expect(seen).toEqual([]);
});
