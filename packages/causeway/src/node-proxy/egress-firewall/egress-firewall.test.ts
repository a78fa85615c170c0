import { describe, expect, it } from 'vitest';
import { parseAddress as address, type Address } from '@causeway/base/address/address';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import type { ServiceProxy } from '../served-service.ts';
import { makeService, makeSlice } from '../testing/objects.ts';
import { EgressFirewall } from './egress-firewall.ts';
import { cidr, makePolicy, named } from './testing/policies.ts';

const outside = (name = 'web-1') => makeSlice({ name, addresses: ['203.0.113.1'] });
const inside = (name = 'web-1') => makeSlice({ name, addresses: ['10.1.0.1'] });
const denyAll = makePolicy('default', [cidr('Deny', '0.0.0.0/0')]);

function start(exempt: readonly string[] = []) {
  const metrics = new PrometheusMetrics();
  const said: string[] = [];
  const reported: string[] = [];
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
    reportHidden: (service, message) => reported.push(`${service.name}: ${message}`),
    metrics,
  });
  firewall.setClusterNetworks([prefix('10.1.0.0/16')]);
  const take = () => said.splice(0);
  const hidden = async () =>
    (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('causeway_egress_firewall_hidden_slices{'));
  return { hidden, firewall, take, reported, known, watched: () => watched };
}

describe('EgressFirewall', () => {
  it('passes on slices that no policy denies', () => {
    const { firewall, take } = start();
    firewall.setService(makeService());
    firewall.setSlice(outside());
    firewall.removeSlice('shop/web-1');
    firewall.removeService('shop/web');
    firewall.synced();
    expect(take()).toEqual(['service', 'set web-1', 'remove shop/web-1', 'no service', 'synced']);
  });

  it('adds, deletes, updates or ignores a slice when it changes', () => {
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

  it('re-evaluates the slices of the namespace only, when a policy changes', () => {
    const { firewall, take, reported } = start();
    firewall.setSlice(outside('a'));
    firewall.setSlice(inside('b'));
    const elsewhere = outside('c');
    firewall.setSlice({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } });
    take();
    firewall.setPolicy(denyAll);
    expect(take()).toEqual(['remove shop/a']);
    expect(reported).toHaveLength(1);
    expect(reported[0]).toContain(
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

  it("re-evaluates each namespace with a policy when the cluster's networks change", () => {
    const { firewall, take } = start();
    firewall.setPolicy(denyAll);
    firewall.setSlice(makeSlice({ name: 'pods', addresses: ['10.2.0.1'] }));
    expect(take()).toEqual([]);
    firewall.setClusterNetworks(['10.1.0.0/16', '10.2.0.0/16'].map(prefix));
    expect(take()).toEqual(['set pods']);
    firewall.setClusterNetworks([prefix('10.1.0.0/16')]);
    expect(take()).toEqual(['remove shop/pods']);
  });

  it('re-evaluates the namespaces that use a name when its addresses change', () => {
    const { firewall, take, known, watched, reported } = start();
    firewall.setPolicy(makePolicy('default', [named('Deny', 'evil.example')]));
    expect(watched()).toEqual(['evil.example']);
    firewall.setSlice(outside());
    expect(take()).toEqual([]);
    expect(reported[0]).toContain('not resolved yet');
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

  it('counts the slices that each rule hides', async () => {
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

  it('ignores the policies of exempt namespaces', () => {
    const { firewall, take } = start(['shop']);
    firewall.setPolicy(denyAll);
    firewall.setSlice(outside());
    expect(take()).toEqual(['set web-1']);
  });
});
