import { describe, expect, test } from 'vitest';
import type { Family } from '@causeway/base/address/address';
import { seededRandom, type Random } from '@causeway/base/simulation/random';
import {
  healthPace,
  illnessOf,
  nextHealth,
  type Health,
  type HealthObservation,
} from './health.ts';

const pace = { patienceMs: 3, relieveMs: 3, recoverMs: 5, aloneMs: 100, aloneUnansweringMs: 10 };

/**
 * Simulates states one millisecond apart: `i` for ill, a dot for well, `P` for ill with signs of an active
 * peer, `p` for well with signs of an active peer.
 */
function play(
  signs: string,
  hasPeers = true,
  isUnanswering = false,
  random: Random = () => 0,
): string {
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
      health = nextHealth(health, observation, pace, random);
      return { well: '.', ill: 'i', away: 'A', alone: '1' }[health.kind];
    })
    .join('');
}

describe('an unhealthy gateway', () => {
  test.each([
    ['keeps its addresses during a short fault', 'ii...', 'ii...'],
    ['keeps its addresses during repeated short faults', 'ii.ii.ii.', 'ii.ii.ii.'],
    ['gives up its addresses after a lasting fault', 'iiiiPPPP', 'iiiAAAAA'],
    ['takes part again after a period of good health', 'iiiiPPppppppp', 'iiiAAAAAAAA..'],
    ['does not take part again after a short recovery', 'iiiiPpppPpppp', 'iiiAAAAAAAAAA'],
    ['takes its addresses back if no other gateway has them', 'iiiiiiiiii', 'iiiAAA1111'],
    ['is well at once after a recovery without a peer', 'iiiiiii..', 'iiiAAA1..'],
    ["takes its addresses back when the peer's signs end", 'iiiiPPPiii', 'iiiAAAAAA1'],
  ])('%s', (_name, signs, states) => {
    expect(play(signs)).toBe(states);
  });

  test('tries to yield again after an interval', () => {
    const states = play('i'.repeat(120));
    expect(states.slice(0, 8)).toBe('iiiAAA11');
    expect(states.slice(104, 112)).toBe('11AAA111');
    expect(states.slice(3)).not.toContain('i');
  });

  test('tries to yield again sooner when clients get no answers', () => {
    expect(play('i'.repeat(24), true, true)).toBe('iiiAAA1111111111AAA11111');
  });
});

test('two gateways that are unhealthy from the same moment on do not yield at the same moments', () => {
  const attempts = (seed: number) => {
    const states = play('i'.repeat(400), true, true, seededRandom(seed));
    return [...states.matchAll(/1(?=A)/g)].map(({ index }) => index);
  };
  const [one, two] = [attempts(1), attempts(2)];
  expect(one.length).toBeGreaterThan(10);
  const relieve = pace.relieveMs;
  const apart = one.filter((at) => two.every((other) => Math.abs(at - other) >= relieve));
  expect(apart.length).toBeGreaterThan(one.length / 3);
  const gaps = one.slice(1).map((at, index) => at - (one[index] ?? 0));
  const least = pace.aloneUnansweringMs + relieve;
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(least);
  for (const gap of gaps) expect(gap).toBeLessThanOrEqual(least + pace.aloneUnansweringMs + 1);
});

test('a gateway without peers never gives up its addresses', () => {
  expect(play('i'.repeat(300), false)).toBe(`iii${'1'.repeat(297)}`);
});

test('waits for a peer as long as its takeover takes, and at least three seconds', () => {
  expect(healthPace(400).relieveMs).toBe(3_000);
  expect(healthPace(160_000).relieveMs).toBe(160_000);
});

test.each<[Family[], string | undefined]>([
  [[4], undefined],
  [[4, 6], "packets are not forwarded: net.ipv6.conf.all.forwarding can't be set"],
])('checks forwarding only for the used families: %s', (families, illness) => {
  const kernelSettings = [
    { name: 'net.ipv4.ip_forward', wanted: '1', found: '1' },
    { name: 'net.ipv6.conf.all.forwarding', wanted: '1', found: null },
  ];
  const signs = { isDegraded: false, kernelSettings, families: new Set(families) };
  expect(illnessOf(signs)).toBe(illness);
});

test.each([
  ['reports no illness for a healthy machine', false, '1', undefined],
  [
    'reports a kernel that may differ',
    true,
    '1',
    'the kernel may differ from the accepted configuration',
  ],
  [
    'reports disabled forwarding',
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

test('treats a missing route or address as an illness', () => {
  const signs = { isDegraded: false, kernelSettings: [], families: new Set<Family>([4]) };
  expect(illnessOf({ ...signs, linkIllness: 'ext lost a route' })).toBe('ext lost a route');
});
