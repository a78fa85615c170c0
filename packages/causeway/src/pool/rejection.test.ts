import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { Refusal, type RefusalReason } from '../ipam/refusal.ts';
import { rejectionOf, goesOn, isAnswer } from './rejection.ts';
import type { Holding } from './holding.ts';

const held: Holding = {
  uid: 'u',
  addresses: [{ address: parseAddress('192.0.2.1') }],
  fencingToken: 1,
  announcer: 'plain',
};
const refusal = (reason: RefusalReason, code: 'conflict' | 'exhausted' | 'invalid' = 'conflict') =>
  new Refusal(code, reason, 'no', { hint: 'Do something.' });

test.each<[string, CausewayError, Holding | undefined, string | undefined]>([
  ['the former address has another owner', refusal('address-in-use'), held, 'lost'],
  [
    'the former address is in the quarantine of another owner',
    refusal('address-resting'),
    held,
    'lost',
  ],
  ['the requested address is in use', refusal('address-in-use'), undefined, undefined],
  [
    'the Service lost its address before',
    refusal('address-in-use'),
    { ...held, addresses: [] },
    undefined,
  ],
  [
    'the Service requests another address than its own',
    refusal('other-address'),
    held,
    'AddressDiffers: no. Do something.',
  ],
  [
    'the requested address is in no pool',
    refusal('address-outside', 'invalid'),
    undefined,
    'AddressRefused: no. Do something.',
  ],
  ['the pool is exhausted', refusal('pool-exhausted', 'exhausted'), undefined, undefined],
  ['the quota is used up', refusal('quota', 'exhausted'), undefined, undefined],
])('%s', (_what, error, holding, expected) => {
  const rejection = rejectionOf(error, holding);
  const text =
    rejection?.kind === 'refused' ? `${rejection.reason}: ${rejection.message}` : rejection?.kind;
  expect(text).toBe(expected);
});

test('treats only decisions of the ledger as answers: a failure does not affect an existing address', () => {
  for (const code of ['unavailable', 'timeout', 'unauthorized', 'not-found', 'internal'] as const) {
    expect(isAnswer(new CausewayError(code, 'failed'))).toBe(false);
  }
  expect(isAnswer(refusal('address-in-use'))).toBe(true);
  expect(isAnswer(new CausewayError('aborted', 'stopped'))).toBe(true);
});

test('keeps an address without the ledger unless the Service was stopped or the ledger has answered', () => {
  const unreached = new CausewayError('unavailable', 'too many requests');
  expect(goesOn(unreached, held)).toBe(true);
  expect(goesOn(unreached, { ...held, stoppedAt: 5 })).toBe(false);
  expect(goesOn(unreached, undefined)).toBe(false);
  expect(goesOn(refusal('address-in-use'), held)).toBe(false);
});

test('shows no address of a stopped Service until the ledger has confirmed it', () => {
  const unreached = new CausewayError('unavailable', 'too many requests');
  expect(rejectionOf(unreached, { ...held, stoppedAt: 5 })).toMatchObject({
    kind: 'pending',
    ingress: [],
  });
  expect(rejectionOf(unreached, undefined)).toBeUndefined();
  expect(rejectionOf(refusal('recovering'), { ...held, stoppedAt: 5 })).toBeUndefined();
});
