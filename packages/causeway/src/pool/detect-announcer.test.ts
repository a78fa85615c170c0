import { expect, test } from 'vitest';
import { leases, pods } from '@causeway/kubernetes/objects/resources';
import { systemClock } from '@causeway/base/time/clock';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { AnnouncerDetector, servesWithKubeVip } from './detect-announcer.ts';

const { signal } = new AbortController();

async function found(namespace: string, name: string, holderIdentity = 'node-1') {
  const client = memoryKubeClient();
  await client.create(leases, { metadata: { namespace, name }, spec: { holderIdentity } });
  return new AnnouncerDetector(client, systemClock).find(signal);
}

test('finds kube-vip by the lease for all Services, or by the lease of one', async () => {
  expect(await found('kube-system', 'plndr-svcs-lock')).toEqual(['kube-vip']);
  expect(await found('default', 'kubevip-web')).toEqual(['kube-vip']);
});

test('ignores leases of other programs, of the control plane, and released ones', async () => {
  expect(await found('kube-system', 'plndr-cp-lock')).toEqual([]);
  expect(await found('default', 'my-kubevip-web')).toEqual([]);
  expect(await found('default', 'kubevip-web', '')).toEqual([]);
});

const pod = (container: object) => ({ spec: { containers: [{ name: 'kube-vip', ...container }] } });
const services = { env: [{ name: 'svc_enable', value: 'true' }] };

test.each([
  [
    'its image and setting',
    { image: 'registry.example/kube-vip/kube-vip:v1.0.0', ...services },
    true,
  ],
  [
    'the other image',
    { image: 'registry.example/kube-vip/kube-vip-iptables:v1.0.0', ...services },
    true,
  ],
  ['a digest', { image: 'registry.example/kube-vip@sha256:00', ...services }, true],
  ['its argument', { image: 'kube-vip', args: ['manager', '--services'] }, true],
  ['the control plane alone', { image: 'kube-vip:v1.0.0', env: [] }, false],
  [
    'its cloud provider',
    { image: 'registry.example/kube-vip/kube-vip-cloud-provider:v1', ...services },
    false,
  ],
  ['another program', { image: 'busybox', ...services }, false],
])('recognizes the pods of kube-vip by %s', (_what, container, expected) => {
  expect(servesWithKubeVip(pod(container))).toBe(expected);
});

test.each([
  ['kube-system', 'kube-vip-node-1', true],
  ['default', 'kube-vip-node-1', false],
])('finds kube-vip by the mirror pod of a static pod in %s', async (namespace, name, isThere) => {
  const client = memoryKubeClient();
  const metadata = { namespace, name, annotations: { 'kubernetes.io/config.mirror': '0' } };
  const { spec } = pod({ image: 'registry.example/kube-vip/kube-vip:v1.0.0', ...services });
  await client.create(pods, { metadata, spec: { ...spec, nodeName: 'node-1' } });
  const found = await new AnnouncerDetector(client, systemClock).find(signal);
  expect(found).toEqual(isThere ? ['kube-vip'] : []);
});
