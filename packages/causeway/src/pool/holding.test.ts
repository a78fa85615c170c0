import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { holdingAnnotation } from './annotations.ts';
import { formatHolding, readHolding, type Holding } from './holding.ts';

const holding: Holding = {
  uid: 'u',
  addresses: [{ address: parseAddress('10.0.0.7'), publicAddress: parseAddress('203.0.113.7') }],
  fencingToken: 12,
  announcer: 'cilium',
  stoppedAt: 5,
  kept: { loadBalancerClass: 'example.com/class' },
};

const withText = (text: string, uid = 'u') => ({
  metadata: { uid, annotations: { [holdingAnnotation]: text } },
});

test('reads a written holding', () => {
  expect(readHolding(withText(formatHolding(holding)))).toEqual(holding);
});

test('ignores a copy on another Service and an unreadable annotation', () => {
  expect(readHolding(withText(formatHolding(holding), 'other'))).toBeUndefined();
  expect(readHolding({ metadata: { uid: 'u' } })).toBeUndefined();
  expect(readHolding(withText('{'))).toBeUndefined();
  expect(readHolding(withText('{"version":2}'))).toBeUndefined();
  const spoiled = formatHolding(holding).replace('10.0.0.7', '10.0.0.07');
  expect(readHolding(withText(spoiled))).toBeUndefined();
});
