import { describe, expect, it, test } from 'vitest';
import { parsePrefix } from '@causeway/base/address/prefix';
import { makeService, makeSlice } from './testing/objects.ts';
import {
  fate,
  fates,
  nodeAddress,
  nodeAddress6,
  rulesOf,
  traceAttempt,
  type Attempt,
} from './testing/traced-node.ts';
import {
  addresses,
  balancer,
  clusterIp,
  external,
  web,
  webService,
} from './testing/web-service.ts';

const remote = { addresses: ['10.1.2.1'], nodeName: 'node2' };
const local = { addresses: ['10.1.1.1'], nodeName: 'node1' };
const toRemote = '10.1.2.1 8080';
const toLocal = '10.1.1.1 8080';
const terminating = { ready: false, serving: true, terminating: true };
const unready = { ready: false, serving: false, terminating: false };

describe('every address of a Service', () => {
  test.each(addresses)('leads to its endpoints: %s', (_, to, port) => {
    const rules = web({}, { endpoints: [remote, local] });
    const masqueraded = to === clusterIp ? '' : ' masqueraded';
    for (const from of ['pod', 'outside'] as const) {
      const isOutsider = from === 'outside';
      const suffix = isOutsider ? ' masqueraded' : masqueraded;
      expect(fates(rules, { from, to, port })).toEqual([
        `${toLocal}${suffix}`,
        `${toRemote}${suffix}`,
      ]);
    }
    expect(fates(rules, { from: 'node', to, port })).toEqual([
      `${toLocal} masqueraded`,
      `${toRemote} masqueraded`,
    ]);
  });

  test.each(addresses)('is refused without endpoints: %s', (_, to, port) => {
    for (const endpoints of [[], [{ ...remote, conditions: unready }]]) {
      const rules = web({}, { endpoints });
      for (const from of ['pod', 'outside', 'node'] as const) {
        expect(fate(rules, { from, to, port })).toBe('rejected');
      }
    }
  });

  test.each(['TCP', 'UDP', 'SCTP'] as const)('works for %s', (protocol) => {
    const ports = [{ port: 80, nodePort: 30_080, protocol }];
    const rules = web({ ports }, { endpoints: [local], ports: [{ port: 8080, protocol }] });
    for (const [, to, port] of addresses) {
      expect(fate(rules, { from: 'outside', to, port, protocol })).toBe(`${toLocal} masqueraded`);
    }
    const other = protocol === 'TCP' ? 'UDP' : 'TCP';
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 80, protocol: other })).toBe('rejected');
  });

  it('exists in both families', () => {
    const slices = [
      makeSlice({ endpoints: [local] }),
      makeSlice({
        name: 'web-6',
        addressType: 'IPv6',
        endpoints: [{ addresses: ['fd01::1'], nodeName: 'node1' }],
      }),
    ];
    const service = webService({ clusterIPs: [clusterIp, 'fd96::1'] });
    const rules = rulesOf({ services: [service], slices });
    expect(fate(rules, { from: 'pod6', to: 'fd96::1', port: 80 })).toBe('fd01::1 8080');
    expect(fate(rules, { from: 'outside6', to: nodeAddress6, port: 30_080 })).toBe(
      'fd01::1 8080 masqueraded',
    );
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 80 })).toBe(toLocal);
  });

  it('uses the endpoint port of its name', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 81 },
    ];
    const rules = web({ ports }, { endpoints: [local], ports: [{ name: 'admin', port: 9090 }] });
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 81 })).toBe('10.1.1.1 9090');
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 80 })).toBe('rejected');
  });
});

describe('addresses and ports that are not served', () => {
  const rules = web({}, { endpoints: [local] });

  it('rejects other ports of a cluster address, and ignores those of other addresses', () => {
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 81 })).toBe('rejected');
    expect(fate(rules, { from: 'node', to: clusterIp, port: 81 })).toBe('rejected');
    expect(fate(rules, { from: 'pod', to: external, port: 81 })).toBe(`${external} 81`);
    expect(fate(rules, { from: 'outside', to: nodeAddress, port: 22 })).toBe(`${nodeAddress} 22`);
  });

  it('serves node ports on the chosen addresses only', () => {
    const elsewhere = web({}, { endpoints: [local] }, { node: { nodePortAddresses: [] } });
    expect(fate(elsewhere, { from: 'outside', to: nodeAddress, port: 30_080 })).toBe(
      `${nodeAddress} 30080`,
    );
  });

  it('has no rules for headless and ExternalName Services', () => {
    for (const spec of [{ clusterIP: 'None' }, { type: 'ExternalName' as const }]) {
      const none = web(spec, { endpoints: [local] });
      expect(fate(none, { from: 'outside', to: external, port: 80 })).toBe(`${external} 80`);
    }
  });

  it('leaves addresses with ipMode Proxy to the load balancer', () => {
    const ingress = [{ ip: balancer, ipMode: 'Proxy' as const }];
    const service = webService({}, { loadBalancer: { ingress } });
    const proxied = rulesOf({ services: [service], slices: [makeSlice({ endpoints: [local] })] });
    expect(fate(proxied, { from: 'pod', to: balancer, port: 80 })).toBe(`${balancer} 80`);
    expect(fate(proxied, { from: 'outside', to: nodeAddress, port: 30_080 })).toBe(
      `${toLocal} masqueraded`,
    );
  });

  it('drops packets with an invalid conntrack state', () => {
    const answer: Attempt = { from: 'pod', to: '203.0.113.9', port: 40_000 };
    expect(traceAttempt(rules, answer).outcome).toBe('forwarded');
    const unplaced = traceAttempt(rules, { ...answer, connection: { state: 'invalid' } });
    expect(unplaced.outcome).toBe('dropped');
  });
});

describe('externalTrafficPolicy Local', () => {
  const policy = { externalTrafficPolicy: 'Local' as const };
  const both = web(policy, { endpoints: [remote, local] });
  const away = web(policy, { endpoints: [remote] });
  const targets = addresses.filter(([, to]) => to !== clusterIp);

  test.each(targets)(
    'keeps external connections on this node with their address: %s',
    (_, to, port) => {
      expect(fates(both, { from: 'outside', to, port })).toEqual([toLocal]);
    },
  );

  test.each(targets)('drops external connections without a local endpoint: %s', (_, to, port) => {
    expect(fate(away, { from: 'outside', to, port })).toBe('dropped');
  });

  test.each(targets)(
    'sends connections of pods and the node itself to any node: %s',
    (_, to, port) => {
      expect(fates(both, { from: 'pod', to, port })).toEqual([toLocal, toRemote]);
      expect(fates(away, { from: 'pod', to, port })).toEqual([toRemote]);
      expect(fates(away, { from: 'node', to, port })).toEqual([`${toRemote} masqueraded`]);
    },
  );

  it('does not affect the cluster address', () => {
    expect(fates(away, { from: 'outside', to: clusterIp, port: 80 })).toEqual([
      `${toRemote} masqueraded`,
    ]);
  });

  it('falls back to a local terminating endpoint', () => {
    const going = web(policy, { endpoints: [remote, { ...local, conditions: terminating }] });
    expect(fates(going, { from: 'outside', to: balancer, port: 80 })).toEqual([toLocal]);
    expect(fates(going, { from: 'pod', to: balancer, port: 80 })).toEqual([toRemote]);
  });

  it('is rejected if no node has an endpoint', () => {
    expect(fate(web(policy, {}), { from: 'outside', to: balancer, port: 80 })).toBe('rejected');
  });

  it('identifies pods by their interface where that is configured', () => {
    const byInterface = web(
      policy,
      { endpoints: [remote] },
      { layout: { insiders: { networks: [], interfaces: ['veth*', 'cni0'] } } },
    );
    const from = (through: string): Attempt => ({
      from: { address: '10.1.0.9', through },
      to: balancer,
      port: 80,
    });
    expect(fate(byInterface, from('veth12'))).toBe(toRemote);
    expect(fate(byInterface, from('cni0'))).toBe(toRemote);
    expect(fate(byInterface, from('cni01'))).toBe('dropped');
    expect(fate(byInterface, from('eth0'))).toBe('dropped');
  });
});

describe('internalTrafficPolicy Local', () => {
  const policy = { internalTrafficPolicy: 'Local' as const };

  it('keeps connections to the cluster address on this node', () => {
    const rules = web(policy, { endpoints: [remote, local] });
    expect(fates(rules, { from: 'pod', to: clusterIp, port: 80 })).toEqual([toLocal]);
    expect(fates(rules, { from: 'outside', to: external, port: 80 })).toHaveLength(2);
  });

  it('drops them without a local endpoint', () => {
    const rules = web(policy, { endpoints: [remote] });
    expect(fate(rules, { from: 'pod', to: clusterIp, port: 80 })).toBe('dropped');
  });
});

describe('endpoints', () => {
  const from = { from: 'pod', to: clusterIp, port: 80 } as const;

  it('that are ready are preferred to terminating ones, and those to none', () => {
    const going = { ...remote, conditions: terminating };
    expect(fates(web({}, { endpoints: [local, going] }), from)).toEqual([toLocal]);
    expect(fates(web({}, { endpoints: [going] }), from)).toEqual([toRemote]);
  });

  it('of several slices are merged, and duplicates are one', () => {
    const slices = [
      makeSlice({ name: 'a', endpoints: [local] }),
      makeSlice({ name: 'b', endpoints: [remote, local] }),
      makeSlice({ name: 'c', endpoints: [] }),
    ];
    const rules = rulesOf({ services: [webService()], slices });
    expect(fates(rules, from)).toEqual([toLocal, toRemote]);
  });

  const here = { ...local, hints: { forZones: [{ name: 'a' }], forNodes: [{ name: 'node1' }] } };
  const there = { ...remote, hints: { forZones: [{ name: 'b' }], forNodes: [{ name: 'node2' }] } };
  const sameZone = { ...remote, hints: { forZones: [{ name: 'a' }] } };
  test.each([
    ['for this zone only', [{ ...here, hints: sameZone.hints }, there], [toLocal]],
    ['for another zone only: none count', [there], [toRemote]],
    ['missing on one: none count', [here, remote], [toLocal, toRemote]],
    ['for this node only', [here, { ...there, hints: { ...there.hints } }], [toLocal]],
  ])('with hints %s', (_, endpoints, expected) => {
    expect(fates(web({}, { endpoints }), from)).toEqual(expected);
  });

  it('with zone hints ignore them on a node without a zone', () => {
    const endpoints = [sameZone, { ...local, hints: { forZones: [{ name: 'b' }] } }];
    expect(fates(web({}, { endpoints }), from)).toEqual([toRemote]);
    expect(fates(web({}, { endpoints }, { node: { zone: undefined } }), from)).toHaveLength(2);
  });

  it('that connect to themselves are masqueraded', () => {
    const rules = web({}, { endpoints: [local] });
    const itself = { address: '10.1.1.1' };
    expect(fate(rules, { ...from, from: itself })).toBe(`${toLocal} masqueraded`);
    const byBalancer = web({ externalTrafficPolicy: 'Local' }, { endpoints: [local] });
    expect(fate(byBalancer, { from: itself, to: balancer, port: 80 })).toBe(
      `${toLocal} masqueraded`,
    );
  });

  it('are reached with every source rewritten if masqueradeAll is set', () => {
    const rules = web({}, { endpoints: [local] }, { node: { masqueradeAll: true } });
    expect(fate(rules, from)).toBe(`${toLocal} masqueraded`);
    const onlyIpv4 = { insiders: { networks: [parsePrefix('10.1.0.0/16')], interfaces: [] } };
    const slices = [makeSlice({ addressType: 'IPv6', endpoints: [{ addresses: ['fd01::1'] }] })];
    const service = webService({ clusterIPs: [clusterIp, 'fd96::1'] });
    const halfKnown = rulesOf({ services: [service], slices, layout: onlyIpv4 });
    expect(fate(halfKnown, { from: 'outside6', to: 'fd96::1', port: 80 })).toBe('fd01::1 8080');
    const unknown = { knowsInsiders: false };
    const open = web({}, { endpoints: [local] }, { node: unknown });
    expect(fate(open, { ...from, from: 'outside' })).toBe(toLocal);
  });
});

describe('source ranges', () => {
  const spec = { loadBalancerSourceRanges: ['203.0.113.0/28', ' 10.1.0.0/16'] };
  const rules = web(spec, { endpoints: [local] });
  const strangers = { address: '203.0.113.77' };

  it('apply to the load balancer addresses only', () => {
    const to = { to: balancer, port: 80 };
    expect(fate(rules, { from: 'outside', ...to })).toBe(`${toLocal} masqueraded`);
    expect(fate(rules, { from: 'pod', ...to })).toBe(`${toLocal} masqueraded`);
    expect(fate(rules, { from: strangers, ...to })).toBe('dropped');
    expect(fate(rules, { from: strangers, to: nodeAddress, port: 30_080 })).toBe(
      `${toLocal} masqueraded`,
    );
    expect(fate(rules, { from: strangers, to: external, port: 80 })).toBe(`${toLocal} masqueraded`);
  });

  it('allow the address itself if they allow the node', () => {
    const itself = { from: { address: balancer }, to: balancer, port: 80 };
    expect(fate(rules, itself)).toBe('dropped');
    const own = web({ loadBalancerSourceRanges: ['192.168.0.0/16'] }, { endpoints: [local] });
    expect(fate(own, itself)).toBe(`${toLocal} masqueraded`);
  });

  it('of the other family, or unreadable, allow no client', () => {
    for (const range of ['2001:db8::/32', 'nonsense']) {
      const none = web({ loadBalancerSourceRanges: [range] }, { endpoints: [local] });
      expect(fate(none, { from: 'outside', to: balancer, port: 80 })).toBe('dropped');
    }
  });
});

describe('session affinity', () => {
  const spec = {
    sessionAffinity: 'ClientIP' as const,
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
  };

  it('stores a client for all addresses of the port', () => {
    const rules = web(spec, { endpoints: [local, remote] });
    const sets = new Set<string>();
    for (const [, to, port] of addresses) {
      const trace = traceAttempt(rules, { from: 'outside', to, port, random: 0 });
      expect(trace.packet.destination).toMatch(/^10\.1\./);
      for (const random of [0, 0.99]) {
        const { packet, remembered } = traceAttempt(rules, { from: 'outside', to, port, random });
        sets.add(`${packet.destination} ${remembered[0]?.set}`);
      }
    }
    expect(sets.size).toBe(2);
  });

  it('works for both sides of a Local policy', () => {
    const policy = { ...spec, externalTrafficPolicy: 'Local' as const };
    const rules = web(policy, { endpoints: [local, remote] });
    expect(fates(rules, { from: 'pod', to: balancer, port: 80 })).toEqual([toLocal, toRemote]);
    expect(fates(rules, { from: 'outside', to: balancer, port: 80 })).toEqual([toLocal]);
  });
});

describe('invalid input', () => {
  it('of one Service is left out and does not affect other Services', () => {
    const odd = webService({
      externalIPs: ['not an address', external],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
      ports: [{ port: 80 }, { port: 99_999 }],
    });
    const good = makeService({
      metadata: { namespace: 'shop', name: 'good' },
      spec: { clusterIP: '10.96.0.2' },
    });
    const slices = [makeSlice({ service: 'good', endpoints: [local] })];
    const rules = rulesOf({ services: [odd, good], slices });
    expect(fate(rules, { from: 'pod', to: '10.96.0.2', port: 80 })).toBe(toLocal);
  });
});
