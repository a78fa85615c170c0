import { describe, expect, test } from 'vitest';
import type { Family } from '@causeway/base/address/address';
import {
  healthPace,
  illnessOf,
  nextHealth,
  type Health,
  type HealthObservation,
} from './health.ts';

const pace = { patienceMs: 3, relieveMs: 3, recoverMs: 5, aloneMs: 100, aloneUnansweringMs: 10 };

/** The states one after another, a millisecond apart: i for ill, a dot for well, P for ill and a peer is heard. */
function play(signs: string, hasPeers = true, isUnanswering = false): string {
  let health: Health = { kind: 'well' };
  return signs
    .split('')
    .map((sign, now) => {
      const illness = sign === '.' || sign === 'p' ? undefined : 'ill';
      const observation: HealthObservation = {
        now,
        illness,
        hasPeers,
        isUnanswering,
        hearsPeer: sign === 'P' || sign === 'p',
      };
      health = nextHealth(health, observation, pace);
      return { well: '.', ill: 'i', away: 'A', alone: '1' }[health.kind];
    })
    .join('');
}

describe('a gateway in bad health', () => {
  test.each([
    ['that passes moves nothing', 'ii...', 'ii...'],
    ['that comes and goes moves nothing', 'ii.ii.ii.', 'ii.ii.ii.'],
    ['that stays gives up its addresses', 'iiiiPPPP', 'iiiAAAAA'],
    ['comes back when it has been well for a while', 'iiiiPPppppppp', 'iiiAAAAAAAA..'],
    ['does not come back for a moment', 'iiiiPpppPpppp', 'iiiAAAAAAAAAA'],
    ['takes its addresses back if nobody else has them', 'iiiiiiiiii', 'iiiAAA1111'],
    ['alone is well when it is', 'iiiiiii..', 'iiiAAA1..'],
    ['takes its addresses back when the other is heard no more', 'iiiiPPPiii', 'iiiAAAAAA1'],
  ])('%s', (_name, signs, states) => {
    expect(play(signs)).toBe(states);
  });

  test('tries again after a while', () => {
    const states = play('i'.repeat(120));
    expect(states.slice(0, 8)).toBe('iiiAAA11');
    expect(states.slice(104, 112)).toBe('11AAA111');
    expect(states.slice(3)).not.toContain('i');
  });

  test('tries again sooner when clients are not answered anyway', () => {
    expect(play('i'.repeat(24), true, true)).toBe('iiiAAA1111111111AAA11111');
  });
});

test('a gateway without peers gives nothing up, however long it is ill', () => {
  expect(play('i'.repeat(300), false)).toBe(`iii${'1'.repeat(297)}`);
});

test('another gateway may be as slow to be heard as its adverts are', () => {
  expect(healthPace(100).relieveMs).toBe(3_000);
  expect(healthPace(40_000).relieveMs).toBe(160_000);
});

test.each<[Family[], string | undefined]>([
  [[4], undefined],
  [[4, 6], "packets are not forwarded: net.ipv6.conf.all.forwarding can't be set"],
])('a kernel without IPv6 is judged by the families that are used: %s', (families, illness) => {
  const kernelSettings = [
    { name: 'net.ipv4.ip_forward', wanted: '1', found: '1' },
    { name: 'net.ipv6.conf.all.forwarding', wanted: '1', found: null },
  ];
  const signs = { isDegraded: false, kernelSettings, families: new Set(families) };
  expect(illnessOf(signs)).toBe(illness);
});

test.each([
  ['all is well', false, '1', undefined],
  ['the kernel differs', true, '1', 'the kernel may differ from what is accepted'],
  [
    'nothing is forwarded',
    false,
    '0',
    "packets are not forwarded: net.ipv4.ip_forward can't be set",
  ],
])('%s', (_name, isDegraded, found, illness) => {
  const settings = [
    { name: 'net.ipv4.ip_forward', wanted: '1', found },
    { name: 'net.ipv4.conf.ext.arp_ignore', wanted: '1', found: '0' },
  ];
  const families = new Set<Family>([4]);
  expect(illnessOf({ isDegraded, kernelSettings: settings, families })).toBe(illness);
});

test('a gateway whose links lack a route or an address is ill', () => {
  const signs = { isDegraded: false, kernelSettings: [], families: new Set<Family>([4]) };
  expect(illnessOf({ ...signs, linkIllness: 'ext lost a route' })).toBe('ext lost a route');
});
