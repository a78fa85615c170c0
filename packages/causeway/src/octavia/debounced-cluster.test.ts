import { expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { DebouncedCluster, nodesKey } from './debounced-cluster.ts';
import { Debounce } from './debounce.ts';

const named = (name: string) => ({ metadata: { name } });
const slice = (name: string) => ({ ...named(name), addressType: 'IPv4' as const, endpoints: [] });

function begin() {
  const clock = new SimulatedClock();
  const debounce = new Debounce({ clock, quietMs: 1_000, longestMs: 5_000 });
  const live = { slices: [slice('a')], nodes: [named('n1')] };
  const cluster = new DebouncedCluster(
    { slicesOf: () => [...live.slices], allNodes: () => live.nodes },
    debounce,
  );
  return { clock, debounce, live, cluster };
}

test('returns the former endpoints while they change, then the current ones', async () => {
  const { clock, debounce, live, cluster } = begin();
  expect(cluster.slicesOf('default/web')).toEqual([slice('a')]);
  live.slices.push(slice('b'));
  debounce.after('default/web', () => undefined);
  expect(cluster.slicesOf('default/web')).toEqual([slice('a')]);
  expect(cluster.slicesOf('default/other')).toHaveLength(2);
  await clock.advance(1_000);
  expect(cluster.slicesOf('default/web')).toHaveLength(2);
});

test('returns the former nodes while they change, then the current ones', async () => {
  const { clock, debounce, live, cluster } = begin();
  expect(cluster.nodes()).toEqual([named('n1')]);
  live.nodes.push(named('n2'));
  debounce.after(nodesKey, () => undefined);
  expect(cluster.nodes()).toEqual([named('n1')]);
  await clock.advance(1_000);
  expect(cluster.nodes()).toHaveLength(2);
});

test('returns the current state for unknown and deleted Services', () => {
  const { debounce, live, cluster } = begin();
  cluster.slicesOf('default/web');
  live.slices.push(slice('b'));
  debounce.after('default/web', () => undefined);
  debounce.after(nodesKey, () => undefined);
  cluster.drop('default/web');
  expect(cluster.slicesOf('default/web')).toHaveLength(2);
  expect(cluster.nodes()).toEqual([named('n1')]);
});
