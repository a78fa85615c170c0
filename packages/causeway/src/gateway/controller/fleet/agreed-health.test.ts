import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { agreeOnHealth, type HealthView } from './agreed-health.ts';

const a = parseAddress('10.0.0.1');
const b = parseAddress('10.0.0.2');
const sees = (...seen: (typeof a)[]): HealthView => ({
  seen: new Set(seen),
  isActive: false,
  canJudge: true,
});

test.each<[string, HealthView[], (typeof a)[]]>([
  ['no gateway', [], []],
  ['no unhealthy backend', [sees(), sees()], []],
  ['one of two gateways is enough', [sees(a), sees()], [a]],
  ['one of three gateways is not enough', [sees(a), sees(), sees()], []],
  ['two of three gateways are enough', [sees(a, b), sees(a), sees()], [a]],
  ['the active gateway decides', [{ ...sees(b), isActive: true }, sees(), sees()], [b]],
  [
    'a gateway that is cut off does not count',
    [{ ...sees(), canJudge: false }, sees(a), sees()],
    [a],
  ],
  [
    'an active gateway that is cut off does not count',
    [{ ...sees(a), isActive: true, canJudge: false }, sees()],
    [],
  ],
  ['all gateways cut off', [{ ...sees(a), canJudge: false }], []],
])('%s', (_name, views, unhealthy) => {
  expect([...agreeOnHealth(views)]).toEqual(unhealthy);
});
