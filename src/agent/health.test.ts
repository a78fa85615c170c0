import { describe, expect, test } from 'vitest';
import { illnessOf, nextHealth, type Health, type HealthNews } from './health.ts';

const pace = { patienceMs: 3, relieveMs: 3, recoverMs: 5, aloneMs: 100 };

/** The states one after another, a millisecond apart: i for ill, a dot for well, P for ill and a peer is heard. */
function play(signs: string): string {
  let health: Health = { kind: 'well' };
  return signs
    .split('')
    .map((sign, now) => {
      const illness = sign === '.' || sign === 'p' ? undefined : 'ill';
      const news: HealthNews = { now, illness, hearsPeer: sign === 'P' || sign === 'p' };
      health = nextHealth(health, news, pace);
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
  ])('%s', (_name, signs, states) => {
    expect(play(signs)).toBe(states);
  });

  test('tries again after a while', () => {
    const states = play('i'.repeat(120));
    expect(states.slice(0, 8)).toBe('iiiAAA11');
    expect(states.slice(106, 113)).toBe('iiiAAA1');
  });
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
  expect(illnessOf({ isDegraded, kernelSettings: settings })).toBe(illness);
});
