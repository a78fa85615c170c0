import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parseNotification } from './notify.ts';
import { notifiedSubject, readServedAddresses, renderKeepalived } from './render.ts';
import { keepalivedFiles, type KeepalivedSettings } from './vrrp-networks.ts';

const family = (number: 4 | 6, anchor: string, routes: string[]) => ({
  family: number,
  virtualRouterId: 51,
  source: parseAddress(number === 4 ? '10.77.0.11' : '2001:db8:77::11'),
  peers: [parseAddress(number === 4 ? '10.77.0.12' : '2001:db8:77::12')],
  anchor: parseAddress(anchor),
  routes: routes.map(parseAddress),
});

const settings: KeepalivedSettings = {
  name: 'gateway-1',
  priority: 150,
  advertIntervalMs: 100,
  announceAgainSeconds: 1,
  files: keepalivedFiles('/run/causeway-agent'),
  networks: [
    {
      name: 'external',
      interface: 'ext',
      families: [family(4, '169.254.255.51', []), family(6, 'fe80::cafe:33', [])],
    },
    { name: 'internal', interface: 'int', families: [family(4, '169.254.255.52', ['10.78.0.1'])] },
  ],
};

describe("keepalived's configuration", () => {
  const text = renderKeepalived(
    settings,
    ['192.0.2.9', '2001:db8::9', '192.0.2.1'].map(parseAddress),
  );

  test('uses VRRPv3 with unicast peers in one group and never preempts', () => {
    expect(text).toContain('vrrp_version 3');
    expect(text).toContain('advert_int 0.1');
    expect(text.match(/unicast_peer \{/g)).toHaveLength(3);
    expect(text.match(/nopreempt/g)).toHaveLength(3);
    expect(text).toMatch(/group \{\s+external-4\s+external-6\s+internal-4\s+\}/);
  });

  test('accepts adverts only from peers and only with the TTL of the same link', () => {
    expect(text.match(/unicast_ttl 255/g)).toHaveLength(3);
    expect(text.match(/check_unicast_src/g)).toHaveLength(3);
    expect(text.match(/unicast_peer \{\s+\S+ min_ttl 255 max_ttl 255\s+\}/g)).toHaveLength(3);
  });

  test('names one address in adverts, independent of the served addresses', () => {
    const named = [...text.matchAll(/virtual_ipaddress \{\s+(.*)\s+\}/g)].map((match) => match[1]);
    expect(named).toEqual([
      '169.254.255.51/32 dev ext',
      'fe80::cafe:33/128 dev ext',
      '169.254.255.52/32 dev int',
    ]);
  });

  test('moves served addresses by family and routes with their network', () => {
    const moved = [...text.matchAll(/virtual_ipaddress_excluded \{([^}]*)\}/g)].map((match) =>
      match[1]?.trim().split(/\s{2,}/),
    );
    expect(moved).toEqual([
      ['192.0.2.1/32 dev ext', '192.0.2.9/32 dev ext'],
      ['2001:db8::9/128 dev ext'],
      ['10.78.0.1/32 dev int'],
    ]);
  });

  test('enters FAULT when the other link is down or the gateway has a fault', () => {
    expect(text).toMatch(/interface ext\n[\s\S]*?track_interface \{\s+int\s+\}/);
    expect(text.match(/fault weight 0/g)).toHaveLength(3);
  });

  test('is the same for the same addresses in any order, and they can be read back', () => {
    const addresses = fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6()).map(parseAddress), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(addresses, fc.infiniteStream(fc.nat()), (list, random) => {
        const rendered = renderKeepalived(settings, list);
        const shuffled = list.toSorted(() => ((random.next().value ?? 0) % 2) - 0.5);
        expect(renderKeepalived(settings, shuffled)).toBe(rendered);
        expect(new Set(readServedAddresses(rendered))).toEqual(
          new Set([...list, ...['169.254.255.51', '169.254.255.52', 'fe80::cafe:33', '10.78.0.1']]),
        );
      }),
    );
  });
});

describe('a gateway with one family in one network', () => {
  const families = [{ ...family(4, '169.254.255.51', []), peers: [] }];
  const lone: KeepalivedSettings = {
    ...settings,
    networks: [{ name: 'external', interface: 'ext', families }],
  };

  test('has no group and no unicast without peers, because keepalived rejects them', () => {
    const text = renderKeepalived(lone, [parseAddress('192.0.2.1')]);
    expect(text).not.toContain('vrrp_sync_group');
    expect(text).not.toContain('unicast');
    expect(text.match(/^vrrp_instance /gm)).toHaveLength(1);
    expect([...readServedAddresses(text)]).toContain('192.0.2.1');
  });

  test.each([
    ['INSTANCE "external-4" MASTER 150', 'MASTER'],
    ['INSTANCE "external-4" FAULT 150', 'FAULT'],
    ['INSTANCE "external-46" MASTER 150', undefined],
    ['GROUP "gateway" MASTER 0', undefined],
  ])('parses the state in %s', (line, state) => {
    expect(parseNotification(line, notifiedSubject(lone))).toBe(state);
  });
});

test.each([
  ['GROUP "gateway" MASTER 0', 'MASTER'],
  ['GROUP "gateway" FAULT 0', 'FAULT'],
  ['INSTANCE "external-4" MASTER 150', undefined],
  ['GROUP "other" MASTER 0', undefined],
  ['', undefined],
])('parses %j as %s', (line, state) => {
  expect(parseNotification(line, notifiedSubject(settings))).toBe(state);
});
