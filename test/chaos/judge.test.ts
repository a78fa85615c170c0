import { describe, expect, test } from 'vitest';
import { findLostAddresses, findSharedPlaces, findTakenTwice, OutageJudge } from './judge.ts';
import type { SeenService } from './observation.ts';

function service(name: string, change: Partial<SeenService> = {}): SeenService {
  return {
    name,
    uid: `uid-${name}`,
    serviceClass: '',
    isDeleting: false,
    isReady: true,
    l2Ports: [],
    addresses: ['203.0.113.1'],
    places: ['port-1 TCP 80'],
    ...change,
  };
}

describe('addresses and ports that two Services have', () => {
  test('allows a shared address, but not a shared port on it', () => {
    const other = service('b', { places: ['port-1 TCP 443', 'port-1 UDP 80'] });
    expect(findSharedPlaces([service('a'), other])).toEqual([]);
    expect(findSharedPlaces([service('a'), service('b')])).toEqual([
      'port-1 TCP 80 belongs to a and b',
    ]);
  });

  test('a Service that is being deleted keeps its address and port until it is released', () => {
    const going = service('b', { isDeleting: true });
    expect(findSharedPlaces([service('a'), going])).toHaveLength(1);
    expect(findSharedPlaces([service('a'), { ...going, places: [] }])).toEqual([]);
  });
});

test('an address that a Service shows and that the ledger assigned to another owner', () => {
  const held = [
    ['x', '203.0.113.1'],
    ['y', '203.0.113.2'],
    ['z', '203.0.113.2'],
  ] as const;
  expect(findTakenTwice([service('a')], held)).toEqual([
    '203.0.113.1 belongs to x and to a',
    '203.0.113.2 belongs to y and to z',
  ]);
  expect(findTakenTwice([service('a')], held.slice(1, 2))).toEqual([]);
});

describe('lost addresses', () => {
  const untouched = () => true;

  test('reports the lost address of an untouched Service', () => {
    const after = service('a', { addresses: ['203.0.113.2'] });
    expect(findLostAddresses([service('a')], [after], untouched)).toEqual([
      'a has lost 203.0.113.1',
    ]);
    expect(findLostAddresses([service('a')], [after], () => false)).toEqual([]);
    expect(findLostAddresses([service('a')], [], untouched)).toEqual(['a is gone']);
  });

  test('an additional address is not a loss', () => {
    const after = service('a', { addresses: ['203.0.113.1', '2001:db8::1'] });
    expect(findLostAddresses([service('a')], [after], untouched)).toEqual([]);
  });
});

describe('timeout', () => {
  const failed = (beganAt: number) => ({ key: 'a', beganAt, tookMs: 1_000, error: 'no answer' });

  test('is reported once when it has lasted too long, and again after an answer', () => {
    const judge = new OutageJudge(5_000);
    expect(judge.failed(failed(0), 0)).toBeUndefined();
    expect(judge.failed(failed(4_000), 0)).toBeUndefined();
    expect(judge.failed(failed(4_500), 0)).toMatchObject({ key: 'a', ms: 5_500 });
    expect(judge.failed(failed(9_000), 0)).toBeUndefined();
    judge.answered('a');
    expect(judge.failed(failed(10_000), 0)).toBeUndefined();
    expect(judge.failed(failed(16_000), 0)).toMatchObject({ ms: 7_000 });
  });

  test('counts from the end of the excuse', () => {
    const judge = new OutageJudge(5_000);
    expect(judge.failed(failed(0), undefined)).toBeUndefined();
    expect(judge.failed(failed(60_000), undefined)).toBeUndefined();
    expect(judge.failed(failed(62_000), 60_000)).toBeUndefined();
    expect(judge.failed(failed(65_000), 60_000)).toMatchObject({ ms: 6_000 });
  });
});
