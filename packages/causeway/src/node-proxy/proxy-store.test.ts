import { describe, expect, it } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePrefix } from '@causeway/base/address/prefix';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { idledAt } from '../idling/annotations.ts';
import { cidr, makePolicy, named } from './egress-firewall/testing/policies.ts';
import { ProxyStore } from './proxy-store.ts';
import { makeService, makeSlice } from './testing/objects.ts';
import { StoreWriter } from './testing/store-writer.ts';
import { tracedNode } from './testing/traced-node.ts';

const service = (name: string, namespace = 'shop', annotations = {}) =>
  makeService({ metadata: { namespace, name, annotations } });

function start() {
  const clock = new SimulatedClock();
  const store = new ProxyStore({ node: tracedNode, clock, log: discardLog });
  const objects = new StoreWriter(store);
  let notifications = 0;
  for (const name of ['a', 'b']) objects.setService(service(name));
  objects.setService(service('c', 'other'));
  store.takeChanged();
  store.onChange(() => (notifications += 1));
  const changed = () => [...store.takeChanged()].sort();
  return { clock, store, objects, changed, notifications: () => notifications };
}

describe('ProxyStore', () => {
  it('finds the slices of a Service in the order of their names', () => {
    const { store, objects } = start();
    for (const name of ['2', '3', '1']) objects.setSlice(makeSlice({ service: 'a', name }));
    const names = store.stateOf('shop/a').slices.map(({ metadata }) => metadata?.name);
    expect(names).toEqual(['1', '2', '3']);
  });

  it('changes both Services when a slice moves from one to the other', () => {
    const { store, objects, changed } = start();
    objects.setSlice(makeSlice({ service: 'a', name: 'moving' }));
    expect(changed()).toEqual(['shop/a']);
    objects.setSlice(makeSlice({ service: 'b', name: 'moving' }));
    expect(changed()).toEqual(['shop/a', 'shop/b']);
    expect(store.stateOf('shop/a').slices).toEqual([]);
    expect(store.stateOf('shop/b').slices).toHaveLength(1);
    objects.removeSlice('shop/moving');
    expect(changed()).toEqual(['shop/b']);
  });

  it('keeps the endpoints of all Services that lose them at once', () => {
    const reports: (number | undefined)[] = [];
    const store = new ProxyStore({
      ...{ node: tracedNode, clock: new SimulatedClock(), log: discardLog },
      reportGuard: (report) => void reports.push(report?.held),
    });
    const objects = new StoreWriter(store);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const setAll = (isReady: boolean) => {
      for (const name of names) {
        const endpoints = [{ addresses: ['10.1.0.1'], conditions: { ready: isReady } }];
        objects.setSlice(makeSlice({ service: name, name, endpoints }));
      }
    };
    for (const name of names) objects.setService(service(name));
    setAll(true);
    setAll(false);
    const isReady = () => store.stateOf('shop/a').slices[0]?.endpoints?.[0]?.conditions?.ready;
    expect(isReady()).toBe(true);
    expect([...store.takeChanged()].sort()).toEqual(names.map((name) => `shop/${name}`));
    setAll(true);
    expect(reports).toEqual([5, undefined]);
    setAll(true);
    expect(isReady()).toBe(true);
  });

  it('ignores a slice without a Service until the Service arrives', () => {
    const { store, objects, changed, notifications } = start();
    objects.setSlice(makeSlice({ service: 'late' }));
    expect(changed()).toEqual([]);
    expect(notifications()).toBe(0);
    objects.setService(service('late'));
    expect(changed()).toEqual(['shop/late']);
    expect(store.stateOf('shop/late').slices).toHaveLength(1);
    objects.removeService('shop/late');
    objects.removeSlice('shop/late-1');
    expect(changed()).toEqual(['shop/late']);
  });

  it('changes every Service with the node, and none with the service networks', () => {
    const { store, changed, notifications } = start();
    store.node = { ...tracedNode, zone: 'b' };
    expect(changed()).toEqual(['other/c', 'shop/a', 'shop/b']);
    store.serviceNetworks = [parsePrefix('10.96.0.0/16')];
    expect(changed()).toEqual([]);
    expect(notifications()).toBe(2);
  });

  it('changes the Services of a namespace with its egress policies and their inputs', () => {
    const { store, objects, changed } = start();
    store.setClusterNetworks([parsePrefix('10.1.0.0/16')]);
    expect(changed()).toEqual([]);
    objects.setPolicy(makePolicy('default', [cidr('Deny', '0.0.0.0/0'), named('Deny', 'x.test')]));
    expect(changed()).toEqual(['shop/a', 'shop/b']);
    store.setAddresses('unused.test', new Set([parseAddress('192.0.2.1')]));
    expect(changed()).toEqual([]);
    store.setAddresses('x.test', new Set([parseAddress('192.0.2.1')]));
    expect(changed()).toEqual(['shop/a', 'shop/b']);
    const { restrictions } = store.stateOf('shop/a');
    expect([...(restrictions.addressesOf('x.test') ?? [])]).toEqual(['192.0.2.1']);
    store.setClusterNetworks([]);
    expect(changed()).toEqual(['shop/a', 'shop/b']);
    objects.removePolicy('shop/default');
    expect(changed()).toEqual(['shop/a', 'shop/b']);
  });

  it('knows when a Service lost its idle annotation, also if no transaction saw the annotation', async () => {
    const { clock, store, objects } = start();
    const unmarkedAt = () => store.stateOf('shop/a').unmarkedAt;
    const mark = () => objects.setService(service('a', 'shop', { [idledAt]: 'now' }));
    mark();
    expect(unmarkedAt()).toBeUndefined();
    await clock.advance(5_000);
    const time = clock.monotonic();
    objects.setService(service('a'));
    await clock.advance(5_000);
    objects.setService(service('a'));
    expect(unmarkedAt()).toBe(time);
    mark();
    expect(unmarkedAt()).toBeUndefined();
    objects.setService(service('a'));
    objects.removeService('shop/a');
    expect(unmarkedAt()).toBeUndefined();
  });
});
