import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Node } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { nodes, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import {
  announcerAnnotation,
  holdingAnnotation,
  nodeAnnotation,
} from '../../../packages/causeway/src/pool/annotations.ts';
import { formatHolding } from '../../../packages/causeway/src/pool/holding.ts';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { ClusterUnderTest, named, until } from './cluster-under-test.ts';

let cluster: ClusterUnderTest;
beforeEach(async () => {
  cluster = await ClusterUnderTest.start();
  await cluster.client.create(nodes, readyNode('n1', '10.0.0.1'));
  await cluster.client.create(nodes, readyNode('n2', '10.0.0.2'));
  cluster.startController({});
});
afterEach(() => cluster.stop());

function readyNode(name: string, address: string): Node {
  return {
    metadata: { name, labels: { 'node-role.kubernetes.io/control-plane': '' } },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

test('without a ledger, Services have the address of a node, and follow it', async () => {
  await cluster.create('web');
  await cluster.create('there', { metadata: { annotations: { [nodeAnnotation]: 'n2' } } });
  await until(async () => expect(await cluster.addressesOf('web')).toEqual(['10.0.0.1']));
  await until(async () => expect(await cluster.addressesOf('there')).toEqual(['10.0.0.2']));
  const conditions = [{ type: 'Ready', status: 'False' }];
  const patch = { status: { conditions } };
  await cluster.client.patchMerge(nodes, { name: 'n1' }, patch, { subresource: 'status' });
  await until(async () => expect(await cluster.addressesOf('web')).toEqual(['10.0.0.2']));
  await cluster.client.delete(services, named('web'));
  await until(async () => expect(await cluster.read('web')).toBeUndefined());
});

test('without a ledger, Services get no address of a pool', async () => {
  await cluster.create('web', { metadata: { annotations: { [announcerAnnotation]: 'metallb' } } });
  await until(() => expect(cluster.events.join('\n')).toContain('NoLedger: The Service requests'));
  expect(await cluster.addressesOf('web')).toEqual([]);
});

test("a Service keeps its address of a pool: it can't be released without the ledger", async () => {
  const created = await cluster.create('web');
  await until(async () => expect(await cluster.addressesOf('web')).toEqual(['10.0.0.1']));
  const uid = created.metadata?.uid ?? '';
  const addresses = [{ address: parseAddress('192.0.2.7') }];
  const holding = formatHolding({ uid, addresses, fencingToken: 1, announcer: 'metallb' });
  const patch = { metadata: { annotations: { [holdingAnnotation]: holding } } };
  await cluster.client.patchMerge(services, named('web'), patch);
  await until(() =>
    expect(cluster.events.join('\n')).toContain('AnnouncerChanged: The Service holds'),
  );
  await cluster.client.delete(services, named('web'));
  // The deletion is seen and not completed; another Service's is.
  await cluster.create('other');
  await until(async () => expect(await cluster.addressesOf('other')).toEqual(['10.0.0.1']));
  await cluster.client.delete(services, named('other'));
  await until(async () => expect(await cluster.read('other')).toBeUndefined());
  expect((await cluster.read('web'))?.metadata?.finalizers).not.toEqual([]);
});
