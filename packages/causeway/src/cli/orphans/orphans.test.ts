import { expect, test } from 'vitest';
import {
  damagedReports,
  describeDamage,
  readOrphanRegister,
} from '../../services/orphan-register.ts';
import { chooseOrphans } from './delete.ts';
import { notesBelow } from './list.ts';
import { listOrphans } from './listed-orphans.ts';
import { orphanLines } from '../console/status.ts';

const data = {
  octavia: JSON.stringify({
    version: 1,
    clusterId: 'prod',
    count: 3,
    orphans: [
      { kind: 'load-balancer', id: 'lb-1', service: 'default/web', mark: 'own' },
      { kind: 'floating-ip', id: 'fip-1', address: '203.0.113.7', mark: 'old' },
    ],
    otherClusters: ['uid-2'],
  }),
  'delete.octavia.fip-1': '2026-01-01T00:00:00Z',
};

test("lists orphans with their state, and requires each one's ID for a confirmation", () => {
  const all = listOrphans(readOrphanRegister({ data }));
  expect(all).toMatchObject([
    { provider: 'octavia', id: 'lb-1', state: 'held' },
    { provider: 'octavia', id: 'fip-1', state: 'confirmed' },
  ]);
  expect(chooseOrphans(all, ['lb-1', 'lb-1'])).toHaveLength(1);
  expect(() => chooseOrphans(all, ['lb-1', 'lb-2'])).toThrow('no orphan has the ID "lb-2"');
});

test('status shows the number of orphans, and another cluster with the same clusterId', () => {
  const [report] = readOrphanRegister({ data });
  expect(report === undefined ? [] : orphanLines(report)).toEqual([
    'orphans      octavia keeps 1 load balancer and 1 floating IP and 1 more that no Service uses: causeway orphans list',
    'cluster ID   another cluster (UID uid-2) uses the clusterId prod too: give each cluster its own',
  ]);
});

test('the list shows how many orphans it leaves out, and names the other clusters', () => {
  expect(readOrphanRegister({ data }).flatMap(notesBelow)).toEqual([
    'octavia keeps 1 more, which do not fit into the list. They follow when orphans of this list are deleted or used again.',
    'Another cluster (UID uid-2) uses the clusterId prod too.',
  ]);
});

test('names a damaged report, so that the list differs from an empty one', () => {
  const damaged = {
    data: { octavia: 'broken', 'damaged.gateway': 'old', ...{ pool: data.octavia } },
  };
  expect(readOrphanRegister(damaged).map(({ provider }) => provider)).toEqual(['pool']);
  expect(damagedReports(damaged).map(describeDamage)).toEqual([
    expect.stringContaining('the report of octavia is damaged'),
    expect.stringContaining('a damaged report of gateway was set aside'),
  ]);
  expect(damagedReports({ data })).toEqual([]);
});
