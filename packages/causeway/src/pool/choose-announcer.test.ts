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
  ['then who announces it already', { ...all, named: undefined, configured: undefined }, 'cilium'],
  ['then the pool', { ofPool: 'purelb', found: ['plain'] }, 'purelb'],
  ['then what is found', { found: ['metallb'] }, 'metallb'],
])('%s says who announces', (_what, hints, expected) => {
  expect(choose(hints)).toBe(expected);
});

test('a class of an announcer names it', () => {
  expect(choose({ found: ['metallb'] }, 'kube-vip.io/kube-vip-class')).toBe('kube-vip');
  expect(choose({}, 'io.cilium/bgp-control-plane')).toBe('cilium');
  expect(choose({}, 'purelb.io/purelb')).toBe('purelb');
});

test('nobody and several are asked about', () => {
  expect(choose({})).toContain('NoAnnouncer: No announcer was found');
  expect(choose({ found: ['metallb', 'cilium'] })).toContain('Several announcers are in this');
});

test('an announcer of the pool that we don’t know is not guessed at', () => {
  const unknown = { ofPool: 'carrier-pigeon', found: ['metallb' as const] };
  expect(choose(unknown)).toContain('UnknownAnnouncer: The pool is announced by "carrier-pigeon"');
  expect(choose({ ...unknown, named: 'metallb' })).toBe('metallb');
  // A node announces its own address, never one of a pool.
  expect(choose({ ofPool: 'node' })).toContain('UnknownAnnouncer');
});

test('an announcer is not given a Service of a class that it does not look at', () => {
  expect(choose({ configured: 'metallb' }, 'causeway.dev/pool')).toMatch(
    /^ForeignClass: MetalLB does not look at .* causeway\.dev\/pool\. Create it without a class, or have/,
  );
  expect(choose({ configured: 'kube-vip' }, 'causeway.dev/pool')).toContain(
    'or with the class kube-vip.io/kube-vip-class',
  );
  expect(choose({ configured: 'metallb' }, 'causeway.dev/pool', ['causeway.dev/pool'])).toBe(
    'metallb',
  );
  expect(choose({ configured: 'plain' }, 'causeway.dev/pool')).toBe('plain');
});
