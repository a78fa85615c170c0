import { expect, test } from 'vitest';
import { leases } from '@causeway/kubernetes/objects/resources';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import type { AnnouncerName } from './announcer.ts';
import { WithdrawalWatch } from './withdrawal.ts';

const { signal } = new AbortController();
const web = (uid: string) => ({ namespace: 'default', name: 'web', uid });

function watching() {
  const client = memoryKubeClient();
  const watch = new WithdrawalWatch(client);
  const hold = (namespace: string, name: string, holderIdentity: string) =>
    client.apply(
      leases,
      { metadata: { namespace, name }, spec: { holderIdentity } },
      { fieldManager: 'announcer', force: true },
    );
  return { watch, hold };
}

const withLeases: [AnnouncerName, string, string][] = [
  ['kube-vip', 'default', 'kubevip-web'],
  ['cilium', 'kube-system', 'cilium-l2announce-default-web'],
];

test.each(withLeases)('sees %s by its lease, held and released', async (name, where, lease) => {
  const { watch, hold } = watching();
  await hold(where, lease, 'node-1');
  expect(await watch.check(name, web('a'), signal)).toBe('announced');
  await hold(where, lease, '');
  expect(await watch.check(name, web('a'), signal)).toBe('withdrawn');
});

test.each(withLeases)(
  'does not see %s stop if it was never seen to announce',
  async (name, where, lease) => {
    const { watch, hold } = watching();
    expect(await watch.check(name, web('a'), signal)).toBe('unknown');
    // The lease belongs to an earlier Service of that name. This Service may be announced in another way.
    await hold(where, lease, '');
    expect(await watch.check(name, web('a'), signal)).toBe('unknown');
  },
);

test('keeps the state of one Service apart from another Service of the same name', async () => {
  const { watch, hold } = watching();
  await hold('default', 'kubevip-web', 'node-1');
  await watch.check('kube-vip', web('a'), signal);
  await hold('default', 'kubevip-web', '');
  expect(await watch.check('kube-vip', web('b'), signal)).toBe('unknown');
  watch.drop('a');
  expect(await watch.check('kube-vip', web('a'), signal)).toBe('unknown');
});

test.each<AnnouncerName>(['purelb', 'plain', 'metallb'])('sees nothing of %s', async (name) => {
  const { watch } = watching();
  expect(await watch.check(name, web('a'), signal)).toBe('unknown');
});
