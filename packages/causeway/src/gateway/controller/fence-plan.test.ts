import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { planFences, type FenceAction, type FenceStanding } from './fence-plan.ts';

const address = parseAddress('192.0.2.1');
const fine: FenceStanding = {
  name: 'g1',
  downForMs: undefined,
  isCurrent: true,
  isMaster: false,
  isFenced: false,
  isAskedFor: false,
  canBeShut: true,
  blocks: new Set(),
};
const dead = { ...fine, downForMs: 90_000, isCurrent: false, blocks: new Set([address]) };
const master = { ...fine, name: 'g2', isMaster: true };
const fence = (because: string): FenceAction => ({ kind: 'fence', gateway: 'g1', because });
const tooLong = fence('it has not answered for 90 s');
const asked = fence('an operator asked for it');

test.each<[string, FenceStanding[], FenceAction[], ('address' | 'gateway')?]>([
  ['all is well', [fine, master], []],
  ['dead, and an address waits', [dead, master], [tooLong]],
  ['dead, but nothing waits for it', [{ ...dead, blocks: new Set() }, master], []],
  ['not for long', [{ ...dead, downForMs: 59_999 }, master], []],
  ['nobody else carries the traffic', [dead, { ...master, isMaster: false }], []],
  ['who says so is not heard any more', [dead, { ...master, downForMs: 1 }], []],
  ['it can not be shut from here', [{ ...dead, canBeShut: false }, master], []],
  [
    'single addresses can be taken from it, whoever carries the traffic',
    [dead],
    [{ kind: 'take', gateway: 'g1', addresses: new Set([address]) }],
    'address',
  ],
  ['an operator asks for it', [{ ...fine, isAskedFor: true }], [asked]],
  ['also where it can not be shut', [{ ...fine, isAskedFor: true, canBeShut: false }], [asked]],
  ['it is in force', [{ ...dead, isFenced: true, isAskedFor: true }], []],
  ['it answers again, but an operator asked', [{ ...fine, isFenced: true, isAskedFor: true }], []],
  ['it does not know yet what it lost', [{ ...fine, isFenced: true, isCurrent: false }], []],
  ['it is back and knows', [{ ...fine, isFenced: true }], [{ kind: 'lift', gateway: 'g1' }]],
  ['it is still away', [{ ...dead, isFenced: true }], []],
])('%s', (_name, standings, actions, grain = 'gateway') => {
  expect(planFences(standings, grain, 60_000)).toEqual(actions);
});
