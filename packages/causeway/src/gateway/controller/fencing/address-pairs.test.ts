import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { formatPrefix, parsePrefix } from '@causeway/base/address/prefix';
import type { AddressPair, Port } from '@causeway/openstack/neutron/resources';
import {
  changedPairs,
  examine,
  neededPrefixes,
  whatLetsThrough,
  type PairRules,
} from './address-pairs.ts';

const network: PairRules = { mode: 'network', networks: [parsePrefix('10.0.0.0/24')], limit: 10 };
const single: PairRules = { ...network, mode: 'single' };
const pair = (prefix: string): AddressPair => ({ prefix: parsePrefix(prefix) });
const port = (...pairs: string[]) =>
  ({ portSecurityEnabled: true, allowedAddressPairs: pairs.map(pair) }) as unknown as Port;

test('covers all addresses with one network pair, or each address of both families with its own pair', () => {
  const addresses = ['10.0.0.7', '2001:db8::7'].map(parseAddress);
  expect(neededPrefixes(network, addresses).map(formatPrefix)).toEqual(['10.0.0.0/24']);
  expect(neededPrefixes(single, addresses).map(formatPrefix)).toEqual([
    '10.0.0.7/32',
    '2001:db8::7/128',
  ]);
});

test.each<[string, string[], string[], 'add' | 'remove', string[] | undefined]>([
  [
    'adds missing pairs and keeps the others',
    ['1.0.0.0/8'],
    ['10.0.0.1/32'],
    'add',
    ['1.0.0.0/8', '10.0.0.1/32'],
  ],
  ['adds nothing twice', ['10.0.0.1/32'], ['10.0.0.1/32'], 'add', undefined],
  [
    'removes the named pairs only',
    ['10.0.0.1/32', '10.0.0.2/32'],
    ['10.0.0.1/32'],
    'remove',
    ['10.0.0.2/32'],
  ],
  ['removes nothing if the pair is missing', ['10.0.0.2/32'], ['10.0.0.1/32'], 'remove', undefined],
])('%s', (_name, present, named, change, expected) => {
  const changed = changedPairs(present.map(pair), named.map(parsePrefix), change);
  expect(changed?.map(({ prefix }) => formatPrefix(prefix))).toEqual(expected);
});

test.each<[string, Port, string | undefined]>([
  ['nothing', port('10.0.1.0/24', '2001:db8::/64'), undefined],
  ['a wider pair', port('10.0.0.0/16'), 'the address pair 10.0.0.0/16'],
  ['a pair for the address alone', port('10.0.0.7/32'), 'covers 10.0.0.7'],
  ['no port security', { ...port(), portSecurityEnabled: false }, 'port security is off'],
])('finds what still lets a gateway use an address: %s', (_name, present, expected) => {
  const why = whatLetsThrough(present, ['10.0.0.7'].map(parseAddress));
  if (expected === undefined) expect(why).toBeUndefined();
  else expect(why).toContain(expected);
});

describe('preflight', () => {
  const many = Array.from({ length: 10 }, (_, index) => `192.0.2.${index}/32`);
  test.each<[string, string | undefined, Port | undefined, PairRules, boolean, string]>([
    [
      'reports a missing port setting',
      undefined,
      undefined,
      network,
      false,
      'its Neutron port is not named',
    ],
    [
      'reports a port that does not exist',
      'p',
      undefined,
      network,
      false,
      'its Neutron port p does not exist',
    ],
    [
      'accepts a port without port security',
      'p',
      { ...port(), portSecurityEnabled: false },
      network,
      true,
      'Neutron can not fence it',
    ],
    [
      'network',
      'p',
      port(),
      network,
      true,
      'one address pair for each network (10.0.0.0/24), because Neutron takes no more than 10',
    ],
    [
      'single',
      'p',
      port(),
      single,
      true,
      'one address pair for each address, so that single ones can be taken from it; at most 10',
    ],
    [
      'reports too many foreign pairs',
      'p',
      port(...many),
      network,
      false,
      '10 address pairs of others and Neutron takes 10',
    ],
    [
      'accepts foreign pairs with enough room',
      'p',
      port(...many.slice(1), '10.0.0.0/24'),
      network,
      true,
      'one address pair',
    ],
  ])('%s', (_name, id, found, rules, isFine, text) => {
    const report = examine('gw1', id, found, rules);
    expect(report).toMatchObject({ gateway: 'gw1', isFine });
    expect(report.text).toContain(text);
  });
});
