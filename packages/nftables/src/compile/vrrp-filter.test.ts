import { describe, expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { buildRuleset } from './layout.ts';
import { tracePacket } from '../trace/packet-tracer.ts';

describe('VRRP', () => {
  const ruleset = buildRuleset({
    settings: {
      table: 'causeway',
      hashSeed: 1,
      localSources: [],
      hairpin: false,
      resumeConnections: true,
      vrrp: {
        links: [
          { interface: 'ext', peers: [address('10.1.1.1'), address('fd00:1::1')] },
          { interface: 'int', peers: [address('10.2.2.1')] },
        ],
        routerIds: [51, 52],
      },
    },
    services: [],
  });
  const here = {
    from: 'network',
    localAddresses: [address('10.1.1.2'), address('fd00:1::2')],
  } as const;
  const trace = (source: string, inputInterface: string, ttl: number, vrrpRouterId = 51) => {
    const destination = address(source.includes(':') ? 'fd00:1::2' : '10.1.1.2');
    const advert = { source: address(source), destination, protocol: 112 };
    return tracePacket(ruleset, { ...advert, inputInterface, ttl, vrrpRouterId }, here);
  };

  test.each([
    ['from a peer on its link', '10.1.1.1', 'ext', 255, 'delivered'],
    ['from a peer on its link in IPv6', 'fd00:1::1', 'ext', 255, 'delivered'],
    ['from a peer on the other link', '10.2.2.1', 'int', 255, 'delivered'],
    ['that a router forwarded', '10.1.1.1', 'ext', 254, 'dropped'],
    ['that a router forwarded in IPv6', 'fd00:1::1', 'ext', 254, 'dropped'],
    ['from a peer of another link', '10.1.1.1', 'int', 255, 'dropped'],
    ['on an interface without VRRP', '10.1.1.1', 'pods', 255, 'dropped'],
    ['from a machine that is not a peer', '10.1.1.3', 'ext', 255, 'dropped'],
  ] as const)('%s', (_, source, link, ttl, outcome) => {
    expect(trace(source, link, ttl).outcome).toBe(outcome);
  });

  test('that is dropped is recorded by its source if its router ID belongs to this gateway', () => {
    expect(trace('10.1.1.3', 'ext', 255).remembered).toEqual([
      { set: 'vrrp-strangers4', key: '10.1.1.3' },
    ]);
    expect(trace('10.1.1.3', 'ext', 255, 99)).toMatchObject({
      outcome: 'dropped',
      remembered: [],
    });
  });
});
