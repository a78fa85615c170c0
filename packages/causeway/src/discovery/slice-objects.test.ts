import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { sliceObjects } from './slice-objects.ts';
import type { WantedPort } from './translate.ts';

const origin = {
  backend: 'east',
  project: { id: 'p', name: 'shop' },
  loadBalancer: { id: 'lb', name: 'web' },
};

const port = (listener: string, number: number, changes: Partial<WantedPort> = {}): WantedPort => ({
  name: `${listener}-${number}`,
  protocol: 'TCP',
  port: number,
  appProtocol: undefined,
  listener: { id: listener, name: listener, protocol: 'TCP' },
  groups: [group('10.0.0.1')],
  ...changes,
});
const group = (address: string) => ({
  memberPort: 8080,
  family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
  endpoints: [{ address: parseAddress(address), isReady: true, weight: 1 }],
});

const names = (...ports: readonly WantedPort[]) =>
  sliceObjects(origin, { namespace: 'shop', name: 'east-web' }, ports, new Map()).map(
    ({ metadata }) => metadata?.name,
  );

test('names contain the ports and the family, whatever the names of listeners', () => {
  const dual = { groups: [group('10.0.0.1'), group('2001:db8::1')] };
  expect(names(port('dns', 53, { protocol: 'UDP', ...dual }), port('Web', 80))).toEqual([
    'east-web-53-udp-8080-ipv4-0',
    'east-web-53-udp-8080-ipv6-0',
    'east-web-80-tcp-8080-ipv4-0',
  ]);
});

test('two listeners never have slices of the same name', () => {
  // Forty bits of a digest over names and ports were the same for these two.
  expect(new Set(names(port('x525924', 80), port('x1470377', 81))).size).toBe(2);
});
