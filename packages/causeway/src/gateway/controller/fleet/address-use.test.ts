import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { AddressUse } from './address-use.ts';

const [one, two] = [parseAddress('192.0.2.1'), parseAddress('192.0.2.2')];
const none: ReadonlySet<never> = new Set();

test('counts an address as used until its last Service has left', () => {
  const use = new AddressUse();
  use.set('default/a', new Set([one]), 5);
  use.set('default/b', new Set([one, two]), 6);
  use.set('default/a', none, 7);
  expect(use.isUsed(one)).toBe(true);
  expect(use.leftIn(one)).toBeUndefined();
  use.set('default/b', new Set([two]), 8);
  expect(use.isUsed(one)).toBe(false);
  expect(use.leftIn(one)).toBe(8);
  expect(use.isUsed(two)).toBe(true);
});

test('clears the generation of an address that returns', () => {
  const use = new AddressUse();
  use.set('default/a', new Set([one, two]), 5);
  use.set('default/a', none, 6);
  use.set('default/b', new Set([one]), 7);
  expect(use.leftIn(one)).toBeUndefined();
  expect(use.leftIn(two)).toBe(6);
  expect(use.isUsed(one)).toBe(true);
});
