import { afterAll, beforeAll, expect, test } from 'vitest';
import { namespaces } from '../kube/resources.ts';
import { ProviderLab } from '../loadbalancer/gateway/provider-lab.testing.ts';
import { clusterIdOf } from './cluster-id.ts';

const signal = new AbortController().signal;
let lab: ProviderLab;

beforeAll(async () => {
  lab = await ProviderLab.start();
});

afterAll(() => lab.close());

test('a cluster is called as it is set, else by what no other cluster has', async () => {
  const { metadata } = await lab.client.get(namespaces, { name: 'kube-system' });
  expect(await clusterIdOf({ clusterId: 'prod' }, lab.client, signal)).toBe('prod');
  expect(await clusterIdOf({ clusterId: undefined }, lab.client, signal)).toBe(metadata?.uid);
  expect(metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
});
