import { expect, test } from 'vitest';
import { PodNetwork } from './pod-network.ts';

test('goes round before an address is used again, and never gives one twice', () => {
  const network = new PodNetwork('10.244.1.0/29');
  expect([network.take(), network.take()]).toEqual(['10.244.1.1', '10.244.1.2']);
  network.free('10.244.1.1');
  const rest = [network.take(), network.take(), network.take(), network.take()];
  expect(rest).toEqual(['10.244.1.3', '10.244.1.4', '10.244.1.5', '10.244.1.6']);
  expect(network.take()).toBe('10.244.1.1');
  expect(() => network.take()).toThrow('no free address');
});

test('IPv6 has room for as many as anybody starts', () => {
  expect(new PodNetwork('fd00:244:1::/64').take()).toBe('fd00:244:1::1');
});
