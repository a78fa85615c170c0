import { expect, test } from 'vitest';
import type { AnnouncerName } from './announcer.ts';
import { chooseAnnouncer, type AnnouncerHints } from './choose-announcer.ts';

const none: AnnouncerHints = {
  named: undefined,
  configured: undefined,
  present: undefined,
  ofPool: undefined,
  found: [],
};
const all: AnnouncerHints = {
  named: 'kube-vip',
  configured: 'metallb',
  present: 'cilium',
  ofPool: 'purelb',
  found: ['plain'],
};

function choose(hints: Partial<AnnouncerHints>, className?: string, classes: string[] = []) {
  const spec = className === undefined ? {} : { loadBalancerClass: className };
  const choice = chooseAnnouncer({ spec }, { ...none, ...hints }, classes);
  return choice.kind === 'announcer'
    ? choice.announcer.name
    : `${choice.reason}: ${choice.message}`;
}

test.each<[string, Partial<AnnouncerHints>, AnnouncerName]>([
  ['the Service itself', all, 'kube-vip'],
  ['then the settings', { ...all, named: undefined }, 'metallb'],
  ['then the current announcer', { ...all, named: undefined, configured: undefined }, 'cilium'],
  ['then the pool', { ofPool: 'purelb', found: ['plain'] }, 'purelb'],
  ['then the announcer found', { found: ['metallb'] }, 'metallb'],
])('%s decides', (_what, hints, expected) => {
  expect(choose(hints)).toBe(expected);
});

test('chooses the announcer by its class', () => {
  expect(choose({ found: ['metallb'] }, 'kube-vip.io/kube-vip-class')).toBe('kube-vip');
  expect(choose({}, 'io.cilium/bgp-control-plane')).toBe('cilium');
  expect(choose({}, 'purelb.io/purelb')).toBe('purelb');
});

test('refuses when there is no announcer, or more than one', () => {
  expect(choose({})).toContain('NoAnnouncer: No announcer was found');
  expect(choose({ found: ['metallb', 'cilium'] })).toContain('Several announcers are in this');
});

test('refuses an unknown announcer of the pool instead of a guess', () => {
  const unknown = { ofPool: 'carrier-pigeon', found: ['metallb' as const] };
  expect(choose(unknown)).toContain(
    'UnknownAnnouncer: The announcer of the pool is "carrier-pigeon"',
  );
  expect(choose({ ...unknown, named: 'metallb' })).toBe('metallb');
  // A node announces its own address, never an address of a pool.
  expect(choose({ ofPool: 'node' })).toContain('UnknownAnnouncer');
});

test('refuses a class that the announcer does not serve', () => {
  expect(choose({ configured: 'metallb' }, 'causeway.dev/pool')).toMatch(
    /^ForeignClass: MetalLB does not serve the class causeway\.dev\/pool\. Create the Service without a class, or configure/,
  );
  expect(choose({ configured: 'kube-vip' }, 'causeway.dev/pool')).toContain(
    'or with the class kube-vip.io/kube-vip-class',
  );
  expect(choose({ configured: 'metallb' }, 'causeway.dev/pool', ['causeway.dev/pool'])).toBe(
    'metallb',
  );
  expect(choose({ configured: 'plain' }, 'causeway.dev/pool')).toBe('plain');
});
