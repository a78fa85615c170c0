import { describe, expect, it } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { discardLog } from '@causeway/base/observability/log';
import { systemClock } from '@causeway/base/time/clock';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { ProxyStore } from '../proxy-store.ts';
import { makeService, makeSlice } from '../testing/objects.ts';
import { StoreWriter } from '../testing/store-writer.ts';
import { tracedNode } from '../testing/traced-node.ts';
import { HiddenSlices } from './hidden-slices.ts';
import { restrictSlices } from './restrict-slices.ts';
import { cidr, makePolicy, named } from './testing/policies.ts';

const outside = (name = 'web-1') => makeSlice({ name, addresses: ['203.0.113.1'] });
const inside = (name = 'web-1') => makeSlice({ name, addresses: ['10.1.0.1'] });
const denyAll = makePolicy('default', [cidr('Deny', '0.0.0.0/0')]);

/** Restricts the slices of the changed Services after each change of the store. */
function start(exempt: readonly string[] = []) {
  const metrics = new PrometheusMetrics();
  const changes: string[] = [];
  const reported: string[] = [];
  const affected = new Set<string>();
  const shown = new Map<string, ReadonlyMap<string, EndpointSlice>>();
  const store = new ProxyStore({
    node: tracedNode,
    exemptNamespaces: exempt,
    clock: systemClock,
    log: discardLog,
  });
  const hiddenSlices = new HiddenSlices(
    ({ metadata }, message) => reported.push(`${metadata?.name}: ${message}`),
    metrics,
  );
  const restrict = (key: string) => {
    const state = store.stateOf(key);
    const slices = restrictSlices(state.slices, state.restrictions);
    hiddenSlices.note(key, state.service, slices);
    const before = shown.get(key) ?? new Map<string, EndpointSlice>();
    const after = new Map(slices.shown.map((slice) => [keyOf(slice), slice]));
    for (const [id, slice] of after) {
      if (before.get(id) !== slice) changes.push(`set ${slice.metadata?.name}`);
    }
    for (const id of before.keys()) if (!after.has(id)) changes.push(`remove ${id}`);
    shown.set(key, after);
  };
  store.onChange(() => {
    for (const key of store.takeChanged()) {
      affected.add(key);
      restrict(key);
    }
  });
  store.setClusterNetworks([prefix('10.1.0.0/16')]);
  const objects = new StoreWriter(store);
  objects.setService(makeService());
  const take = () => changes.splice(0);
  const hidden = async () =>
    (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('causeway_egress_firewall_hidden_slices{'));
  return { hidden, store, objects, take, reported, affected };
}

describe('the egress firewall', () => {
  it('passes on slices that no policy denies', () => {
    const { objects, take } = start();
    objects.setSlice(outside());
    objects.removeSlice('shop/web-1');
    expect(take()).toEqual(['set web-1', 'remove shop/web-1']);
  });

  it('adds, deletes, updates or ignores a slice when it changes', () => {
    const { objects, take } = start();
    objects.setPolicy(denyAll);
    objects.setSlice(outside());
    expect(take()).toEqual([]);
    objects.setSlice(outside());
    expect(take()).toEqual([]);
    objects.setSlice(inside());
    expect(take()).toEqual(['set web-1']);
    objects.setSlice(inside());
    expect(take()).toEqual(['set web-1']);
    objects.setSlice(outside());
    expect(take()).toEqual(['remove shop/web-1']);
    objects.removeSlice('shop/web-1');
    expect(take()).toEqual([]);
  });

  it('re-evaluates the slices of the namespace only, when a policy changes', () => {
    const { objects, take, reported, affected } = start();
    objects.setSlice(outside('a'));
    objects.setSlice(inside('b'));
    const elsewhere = outside('c');
    objects.setService(makeService({ metadata: { namespace: 'other', name: 'web' } }));
    objects.setSlice({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } });
    take();
    affected.clear();
    objects.setPolicy(denyAll);
    expect([...affected]).toEqual(['shop/web']);
    expect(take()).toEqual(['remove shop/a']);
    expect(reported).toHaveLength(1);
    expect(reported[0]).toContain(
      'web: The endpoints of the EndpointSlice a are not used: 203.0.113.1',
    );
    objects.setPolicy(
      makePolicy('default', [cidr('Allow', '203.0.113.0/24'), cidr('Deny', '0.0.0.0/0')]),
    );
    expect(take()).toEqual(['set a']);
    objects.setPolicy(makePolicy('second', []));
    expect(take()).toEqual(['remove shop/a']);
    objects.removePolicy('shop/second');
    expect(take()).toEqual(['set a']);
    objects.removePolicy('shop/default');
    expect(take()).toEqual([]);
  });

  it("re-evaluates each namespace with a policy when the cluster's networks change", () => {
    const { store, objects, take } = start();
    objects.setPolicy(denyAll);
    objects.setSlice(makeSlice({ name: 'pods', addresses: ['10.2.0.1'] }));
    expect(take()).toEqual([]);
    store.setClusterNetworks(['10.1.0.0/16', '10.2.0.0/16'].map(prefix));
    expect(take()).toEqual(['set pods']);
    store.setClusterNetworks([prefix('10.1.0.0/16')]);
    expect(take()).toEqual(['remove shop/pods']);
  });

  it('re-evaluates the namespaces that use a name when its addresses change', () => {
    const { store, objects, take, reported } = start();
    objects.setPolicy(makePolicy('default', [named('Deny', 'evil.example')]));
    expect([...store.names()]).toEqual(['evil.example']);
    objects.setSlice(outside());
    expect(take()).toEqual([]);
    expect(reported[0]).toContain('not resolved yet');
    store.setAddresses('evil.example', new Set([address('198.51.100.1')]));
    expect(take()).toEqual(['set web-1']);
    store.setAddresses('evil.example', new Set([address('203.0.113.1')]));
    expect(take()).toEqual(['remove shop/web-1']);
    objects.removePolicy('shop/default');
    expect(take()).toEqual(['set web-1']);
    expect([...store.names()]).toEqual([]);
  });

  it('counts the slices that each rule hides', async () => {
    const { objects, hidden } = start();
    objects.setSlice(outside('a'));
    objects.setSlice(outside('b'));
    objects.setPolicy(denyAll);
    const name = 'causeway_egress_firewall_hidden_slices';
    expect(await hidden()).toEqual([`${name}{namespace="shop",rule="default 1"} 2`]);
    objects.removeSlice('shop/b');
    objects.setPolicy(makePolicy('second', []));
    expect(await hidden()).toEqual([`${name}{namespace="shop",rule="several policies"} 1`]);
    objects.removePolicy('shop/default');
    expect(await hidden()).toEqual([]);
  });

  it('ignores the policies of exempt namespaces', () => {
    const { objects, take } = start(['shop']);
    objects.setPolicy(denyAll);
    objects.setSlice(outside());
    expect(take()).toEqual(['set web-1']);
  });
});
