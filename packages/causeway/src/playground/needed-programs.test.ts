import { expect, test } from 'vitest';
import { explainMissing } from './needed-programs.ts';

test.each([
  [['conntrack'], 'conntrack is not installed (as root: apt-get install conntrack)'],
  [
    ['ip', 'nft', 'keepalived'],
    'ip, nft and keepalived are not installed (as root: apt-get install iproute2 nftables keepalived)',
  ],
  [
    ['nsenter', 'unshare'],
    'nsenter and unshare are not installed (as root: apt-get install util-linux)',
  ],
])('says how to install %s if missing', (programs, words) => {
  expect(explainMissing(programs)).toBe(words);
});
