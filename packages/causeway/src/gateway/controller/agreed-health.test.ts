import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { agreeOnHealth, type HealthView } from './agreed-health.ts';

const a = parseAddress('10.0.0.1');
const b = parseAddress('10.0.0.2');
const sees = (...seen: (typeof a)[]): HealthView => ({
  seen: new Set(seen),
  isMaster: false,
  canJudge: true,
});

test.each<[string, HealthView[], (typeof a)[]]>([
  ['no gateway at all', [], []],
  ['nobody is silent', [sees(), sees()], []],
  ['one of two is enough', [sees(a), sees()], [a]],
  ['one of three is not', [sees(a), sees(), sees()], []],
  ['two of three are', [sees(a, b), sees(a), sees()], [a]],
  ['the one with the traffic is believed', [{ ...sees(b), isMaster: true }, sees(), sees()], [b]],
  ['one that is cut off has no say', [{ ...sees(), canJudge: false }, sees(a), sees()], [a]],
  ['nor does a master that is', [{ ...sees(a), isMaster: true, canJudge: false }, sees()], []],
  ['nor do all of them', [{ ...sees(a), canJudge: false }], []],
])('%s', (_name, views, unhealthy) => {
  expect([...agreeOnHealth(views)]).toEqual(unhealthy);
});
