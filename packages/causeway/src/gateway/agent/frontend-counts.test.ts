import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { countsOfAll, frontendCounts } from './frontend-counts.ts';
import { frontendKey, makeFrontend } from '../protocol/frontend.ts';

const counted = (counts: Record<string, bigint>) =>
  new Map(Object.entries(counts).map(([id, packets]) => [id, { packets }]));

test('counts tracked connections, and packets of untracked ones', () => {
  const tracked = counted({ '192.0.2.1 . 6 . 80': 5n, '192.0.2.2 . 6 . 80': 1n });
  const routed = counted({
    '192.0.2.2 . 6 . 80': 3n,
    '192.0.2.3 . 17 . 53': 7n,
    '2001:db8::1 . 6 . 443': 2n,
  });
  expect(frontendCounts(tracked, routed)).toEqual([
    { address: '192.0.2.1', protocol: 'TCP', port: 80, connections: '5' },
    { address: '192.0.2.2', protocol: 'TCP', port: 80, connections: '4' },
    { address: '192.0.2.3', protocol: 'UDP', port: 53, connections: '0', packets: '7' },
    { address: '2001:db8::1', protocol: 'TCP', port: 443, connections: '2' },
  ]);
});

test('ignores counters of other elements', () => {
  expect(
    frontendCounts(counted({ 'x . 6 . 80': 1n, '192.0.2.1 . 47 . 1': 1n }), new Map()),
  ).toEqual([]);
});

test('lists every frontend with its Service, including frontends without counts', () => {
  const frontends = [80, 81].map((port) =>
    makeFrontend({
      address: parseAddress('192.0.2.1'),
      protocol: 'TCP',
      port: parsePort(port),
      service: `shop/s${port}`,
      destinations: [],
    }),
  );
  const counts = frontendCounts(counted({ '192.0.2.1 . 6 . 81': 5n }), new Map());
  const all = new Map(frontends.map((each) => [frontendKey(each), each]));
  expect(countsOfAll(all, counts)).toEqual([
    { address: '192.0.2.1', protocol: 'TCP', port: 81, connections: '5', service: 'shop/s81' },
    { address: '192.0.2.1', protocol: 'TCP', port: 80, connections: '0', service: 'shop/s80' },
  ]);
});
