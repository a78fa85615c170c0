import { expect, test } from 'vitest';
import { PodNetwork } from './pod-network.ts';

test('cycles through all addresses before it reuses one, and never assigns one twice', () => {
  const network = new PodNetwork('10.244.1.0/29');
  expect([network.take(), network.take()]).toEqual(['10.244.1.1', '10.244.1.2']);
  network.free('10.244.1.1');
  const rest = [network.take(), network.take(), network.take(), network.take()];
  expect(rest).toEqual(['10.244.1.3', '10.244.1.4', '10.244.1.5', '10.244.1.6']);
  expect(network.take()).toBe('10.244.1.1');
  expect(() => network.take()).toThrow('no free address');
});

test('has enough IPv6 addresses for any number of pods', () => {
  expect(new PodNetwork('fd00:244:1::/64').take()).toBe('fd00:244:1::1');
});
