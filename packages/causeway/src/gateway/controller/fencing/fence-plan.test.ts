import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { planFences, type FenceAction, type FenceStanding } from './fence-plan.ts';

const address = parseAddress('192.0.2.1');
const fine: FenceStanding = {
  name: 'g1',
  downForMs: undefined,
  isCurrent: true,
  isActive: false,
  isFenced: false,
  isAskedFor: false,
  canBeShut: true,
  blocks: new Set(),
};
const dead = { ...fine, downForMs: 90_000, isCurrent: false, blocks: new Set([address]) };
const active = { ...fine, name: 'g2', isActive: true };
const fence = (because: string): FenceAction => ({ kind: 'fence', gateway: 'g1', because });
const tooLong = fence('it has not answered for 90 s');
const asked = fence('an operator requested it');

test.each<[string, FenceStanding[], FenceAction[], ('address' | 'gateway')?]>([
  ['does nothing if all gateways answer', [fine, active], []],
  ['fences a dead gateway if an address waits for it', [dead, active], [tooLong]],
  ['keeps a dead gateway if no address waits for it', [{ ...dead, blocks: new Set() }, active], []],
  ['keeps a gateway that is down for a short time', [{ ...dead, downForMs: 59_999 }, active], []],
  ['keeps a dead gateway if no other is active', [dead, { ...active, isActive: false }], []],
  [
    'keeps a dead gateway if the active one does not answer',
    [dead, { ...active, downForMs: 1 }],
    [],
  ],
  [
    'keeps a dead gateway that the network can not block',
    [{ ...dead, canBeShut: false }, active],
    [],
  ],
  [
    'blocks single addresses even if no other gateway is active',
    [dead],
    [{ kind: 'take', gateway: 'g1', addresses: new Set([address]) }],
    'address',
  ],
  ['fences a gateway on request of an operator', [{ ...fine, isAskedFor: true }], [asked]],
  [
    'fences on request even if the network can not block it',
    [{ ...fine, isAskedFor: true, canBeShut: false }],
    [asked],
  ],
  ['does nothing for an existing fence', [{ ...dead, isFenced: true, isAskedFor: true }], []],
  [
    'keeps a requested fence of an answering gateway',
    [{ ...fine, isFenced: true, isAskedFor: true }],
    [],
  ],
  [
    'keeps the fence until the gateway is up to date',
    [{ ...fine, isFenced: true, isCurrent: false }],
    [],
  ],
  [
    'lifts the fence of a gateway that is up to date',
    [{ ...fine, isFenced: true }],
    [{ kind: 'lift', gateway: 'g1' }],
  ],
  ['keeps the fence of a dead gateway', [{ ...dead, isFenced: true }], []],
])('%s', (_name, standings, actions, grain = 'gateway') => {
  expect(planFences(standings, grain, 60_000)).toEqual(actions);
});
