import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { holdingAnnotation } from './annotations.ts';
import { announcerNames, announcers, type AnnouncerName } from './announcer.ts';
import { formatHolding } from './holding.ts';
import { canBeWithdrawn, refuseWithoutWithdrawal } from './withdrawable.ts';

const heldBy = (announcer: AnnouncerName) => {
  const addresses = [{ address: parseAddress('192.0.2.7') }];
  const holding = formatHolding({ uid: 'u', addresses, fencingToken: 1, announcer });
  return { metadata: { uid: 'u', annotations: { [holdingAnnotation]: holding } } };
};

test.each(announcerNames)('%s is accepted or refused for self-withdrawal', (name) => {
  const isKubeVip = name === 'kube-vip';
  expect(canBeWithdrawn(heldBy(name))).toBe(!isKubeVip);
  const refused = { kind: 'refused', reason: 'CannotWithdraw' };
  if (isKubeVip) expect(refuseWithoutWithdrawal(announcers[name])).toMatchObject(refused);
  else expect(refuseWithoutWithdrawal(announcers[name])).toBeUndefined();
});

test('a Service without a reservation needs no withdrawal', () => {
  expect(canBeWithdrawn({ metadata: { uid: 'u' } })).toBe(true);
});
