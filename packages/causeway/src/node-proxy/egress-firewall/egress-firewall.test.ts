import { describe, expect, it } from 'vitest';
import { parseAddress as address, type Address } from '@causeway/base/address/address';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import type { ServiceProxy } from '../service-proxy.ts';
import { makeService, makeSlice } from '../testing/objects.ts';
import { EgressFirewall } from './egress-firewall.ts';
import { cidr, makePolicy, named } from './testing/policies.ts';

const outside = (name = 'web-1') => makeSlice({ name, addresses: ['203.0.113.1'] });
const inside = (name = 'web-1') => makeSlice({ name, addresses: ['10.1.0.1'] });
const denyAll = makePolicy('default', [cidr('Deny', '0.0.0.0/0')]);

function start(exempt: readonly string[] = []) {
  const metrics = new PrometheusMetrics();
  const said: string[] = [];
  const events: string[] = [];
  const known = new Map<string, ReadonlySet<Address>>();
  let watched: readonly string[] = [];
  const inner: ServiceProxy = {
    setService: () => said.push('service'),
    removeService: () => said.push('no service'),
    setSlice: ({ metadata }) => said.push(`set ${metadata?.name}`),
    removeSlice: (key) => said.push(`remove ${key}`),
    synced: () => said.push('synced'),
  };
  const firewall = new EgressFirewall({
    inner,
    exemptNamespaces: new Set(exempt),
    addressesOf: (name) => known.get(name),
    watchNames: (names) => {
      watched = [...names];
    },
    recordHidden: (service, message) => events.push(`${service.name}: ${message}`),
    metrics,
  });
  firewall.setClusterNetworks([prefix('10.1.0.0/16')]);
  const take = () => said.splice(0);
  const hidden = async () =>
    (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('causeway_egress_firewall_hidden_slices{'));
  return { hidden, firewall, take, events, known, watched: () => watched };
}

describe('the egress firewall before the proxy', () => {
  it('hands on what it has no opinion on', () => {
    const { firewall, take } = start();
    firewall.setService(makeService());
    firewall.setSlice(outside());
    firewall.removeSlice('shop/web-1');
    firewall.removeService('shop/web');
    firewall.synced();
    expect(take()).toEqual(['service', 'set web-1', 'remove shop/web-1', 'no service', 'synced']);
  });

  it('on a change of a slice: adds, deletes, updates or does nothing', () => {
    const { firewall, take } = start();
    firewall.setPolicy(denyAll);
    firewall.setSlice(outside());
    expect(take()).toEqual([]);
    firewall.setSlice(outside());
    expect(take()).toEqual([]);
    firewall.setSlice(inside());
    expect(take()).toEqual(['set web-1']);
    firewall.setSlice(inside());
    expect(take()).toEqual(['set web-1']);
    firewall.setSlice(outside());
    expect(take()).toEqual(['remove shop/web-1']);
    firewall.removeSlice('shop/web-1');
    expect(take()).toEqual([]);
  });

  it('on a change of a policy: judges every slice of its namespace anew, and no other', () => {
    const { firewall, take, events } = start();
    firewall.setSlice(outside('a'));
    firewall.setSlice(inside('b'));
    const elsewhere = outside('c');
    firewall.setSlice({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } });
    take();
    firewall.setPolicy(denyAll);
    expect(take()).toEqual(['remove shop/a']);
    expect(events).toHaveLength(1);
    expect(events[0]).toContain(
      'web: The endpoints of the EndpointSlice a are not used: 203.0.113.1',
    );
    firewall.setPolicy(
      makePolicy('default', [cidr('Allow', '203.0.113.0/24'), cidr('Deny', '0.0.0.0/0')]),
    );
    expect(take()).toEqual(['set a']);
    firewall.setPolicy(makePolicy('second', []));
    expect(take()).toEqual(['remove shop/a']);
    firewall.removePolicy('shop/second');
    expect(take()).toEqual(['set a']);
    firewall.removePolicy('shop/default');
    expect(take()).toEqual([]);
  });

  it('on a change of the cluster’s networks: judges every namespace that has a policy', () => {
    const { firewall, take } = start();
    firewall.setPolicy(denyAll);
    firewall.setSlice(makeSlice({ name: 'pods', addresses: ['10.2.0.1'] }));
    expect(take()).toEqual([]);
    firewall.setClusterNetworks(['10.1.0.0/16', '10.2.0.0/16'].map(prefix));
    expect(take()).toEqual(['set pods']);
    firewall.setClusterNetworks([prefix('10.1.0.0/16')]);
    expect(take()).toEqual(['remove shop/pods']);
  });

  it('on a change of a name: judges those who speak of it', () => {
    const { firewall, take, known, watched, events } = start();
    firewall.setPolicy(makePolicy('default', [named('Deny', 'evil.example')]));
    expect(watched()).toEqual(['evil.example']);
    firewall.setSlice(outside());
    expect(take()).toEqual([]);
    expect(events[0]).toContain('not resolved yet');
    known.set('evil.example', new Set([address('198.51.100.1')]));
    firewall.nameChanged('evil.example');
    expect(take()).toEqual(['set web-1']);
    known.set('evil.example', new Set([address('203.0.113.1')]));
    firewall.nameChanged('evil.example');
    expect(take()).toEqual(['remove shop/web-1']);
    firewall.removePolicy('shop/default');
    expect(take()).toEqual(['set web-1']);
    expect(watched()).toEqual([]);
  });

  it('counts what each rule hides', async () => {
    const { firewall, hidden } = start();
    firewall.setSlice(outside('a'));
    firewall.setSlice(outside('b'));
    firewall.setPolicy(denyAll);
    const name = 'causeway_egress_firewall_hidden_slices';
    expect(await hidden()).toEqual([`${name}{namespace="shop",rule="default 1"} 2`]);
    firewall.removeSlice('shop/b');
    firewall.setPolicy(makePolicy('second', []));
    expect(await hidden()).toEqual([`${name}{namespace="shop",rule="several policies"} 1`]);
    firewall.removePolicy('shop/default');
    expect(await hidden()).toEqual([]);
  });

  it('leaves exempt namespaces alone', () => {
    const { firewall, take } = start(['shop']);
    firewall.setPolicy(denyAll);
    firewall.setSlice(outside());
    expect(take()).toEqual(['set web-1']);
  });
});
