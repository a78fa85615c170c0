import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { Refusal, type RefusalReason } from '../ipam/refusal.ts';
import { rejectionOf, goesOn, isAnswer } from './rejection.ts';
import type { Holding } from './holding.ts';

const held: Holding = {
  uid: 'u',
  addresses: [{ address: parseAddress('192.0.2.1') }],
  fence: 1,
  announcer: 'plain',
};
const refusal = (reason: RefusalReason, code: 'conflict' | 'exhausted' | 'invalid' = 'conflict') =>
  new Refusal(code, reason, 'no', { hint: 'Do something.' });

test.each<[string, CausewayError, Holding | undefined, string | undefined]>([
  ['somebody else has what it had', refusal('address-in-use'), held, 'lost'],
  ['what it had rests after somebody else', refusal('address-resting'), held, 'lost'],
  ['what it asks for is taken', refusal('address-in-use'), undefined, undefined],
  ['it lost what it had before', refusal('address-in-use'), { ...held, addresses: [] }, undefined],
  [
    'it asks for another than it has',
    refusal('other-address'),
    held,
    'AddressDiffers: no. Do something.',
  ],
  [
    'it asks for what is in no pool',
    refusal('address-outside', 'invalid'),
    undefined,
    'AddressRefused: no. Do something.',
  ],
  ['the pool is exhausted', refusal('pool-exhausted', 'exhausted'), undefined, undefined],
  ['its quota is used up', refusal('quota', 'exhausted'), undefined, undefined],
])('%s', (_what, error, holding, expected) => {
  const rejection = rejectionOf(error, holding);
  const text =
    rejection?.kind === 'refused' ? `${rejection.reason}: ${rejection.message}` : rejection?.kind;
  expect(text).toBe(expected);
});

test('only what the ledger decided is an answer: a failure changes nothing for who has an address', () => {
  for (const code of ['unavailable', 'timeout', 'unauthorized', 'not-found', 'internal'] as const) {
    expect(isAnswer(new CausewayError(code, 'failed'))).toBe(false);
  }
  expect(isAnswer(refusal('address-in-use'))).toBe(true);
  expect(isAnswer(new CausewayError('aborted', 'stopped'))).toBe(true);
});

test('a Service goes on without the ledger unless it was stopped, or the ledger has answered', () => {
  const unreached = new CausewayError('unavailable', 'too many requests');
  expect(goesOn(unreached, held)).toBe(true);
  expect(goesOn(unreached, { ...held, stoppedAt: 5 })).toBe(false);
  expect(goesOn(unreached, undefined)).toBe(false);
  expect(goesOn(refusal('address-in-use'), held)).toBe(false);
});

test('a stopped Service shows no address until the ledger has said that it is still its own', () => {
  const unreached = new CausewayError('unavailable', 'too many requests');
  expect(rejectionOf(unreached, { ...held, stoppedAt: 5 })).toMatchObject({
    kind: 'pending',
    ingress: [],
  });
  expect(rejectionOf(unreached, undefined)).toBeUndefined();
  expect(rejectionOf(refusal('recovering'), { ...held, stoppedAt: 5 })).toBeUndefined();
});
