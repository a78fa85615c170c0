import { describe, expect, it } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { parsePrefix as prefix } from '@causeway/base/address/prefix';
import { makeSlice } from '../testing/objects.ts';
import { parseEgressPolicy } from './egress-rules.ts';
import { judgeSlice } from './judge.ts';
import { cidr, makePolicy, named } from './testing/policies.ts';

const context = {
  clusterNetworks: [prefix('10.1.0.0/16'), prefix('10.96.0.0/16'), prefix('fd00:1::/64')],
  addressesOf: (name: string) =>
    name === 'known.example' ? new Set([address('203.0.113.5')]) : undefined,
};
const judge = (addresses: string[], ...rules: Parameters<typeof makePolicy>[1]) =>
  judgeSlice(
    makeSlice({ addresses, addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4' }),
    [parseEgressPolicy(makePolicy('one', rules))],
    context,
  ).kind;
const denyAll = cidr('Deny', '0.0.0.0/0');

describe('the egress firewall', () => {
  it.each<[string, string[], ReturnType<typeof cidr>[], string]>([
    ['no rule matches', ['203.0.113.1'], [cidr('Deny', '198.51.100.0/24')], 'shown'],
    ['a denied address', ['198.51.100.1'], [cidr('Deny', '198.51.100.0/24')], 'hidden'],
    [
      'the first match wins: allowed',
      ['203.0.113.1'],
      [cidr('Allow', '203.0.113.0/24'), denyAll],
      'shown',
    ],
    [
      'the first match wins: denied',
      ['203.0.113.1'],
      [denyAll, cidr('Allow', '203.0.113.0/24')],
      'hidden',
    ],
    [
      'one denied address hides the others',
      ['203.0.113.1', '198.51.100.1'],
      [cidr('Deny', '198.51.100.0/24')],
      'hidden',
    ],
    ['all inside the cluster', ['10.1.0.1', '10.96.0.1'], [denyAll], 'shown'],
    [
      'a mixed slice: addresses inside are evaluated too',
      ['10.1.0.1', '203.0.113.1'],
      [cidr('Deny', '10.1.0.0/16')],
      'hidden',
    ],
    [
      '0.0.0.0/32 is one address and not all',
      ['203.0.113.1'],
      [cidr('Deny', '0.0.0.0/32')],
      'shown',
    ],
    ['host bits have no effect', ['198.51.100.9'], [cidr('Deny', '198.51.100.7/24')], 'hidden'],
    ['IPv6 denied', ['2001:db8::1'], [cidr('Deny', '2001:db8::/32')], 'hidden'],
    ['IPv6 inside', ['fd00:1::1'], [cidr('Deny', '::/0')], 'shown'],
    ['a rule of the other family', ['2001:db8::1'], [denyAll], 'shown'],
    [
      'a denied name with this address',
      ['203.0.113.5'],
      [named('Deny', 'known.example')],
      'hidden',
    ],
    [
      'a denied name with another address',
      ['203.0.113.6'],
      [named('Deny', 'known.example')],
      'shown',
    ],
    [
      'a name that allows it',
      ['203.0.113.5'],
      [named('Allow', 'Known.Example.'), denyAll],
      'shown',
    ],
    [
      'an unresolved name that denies, outside',
      ['203.0.113.6'],
      [named('Deny', 'new.example')],
      'hidden',
    ],
    [
      'an unresolved name after a rule that allows',
      ['203.0.113.6'],
      [cidr('Allow', '203.0.113.0/24'), named('Deny', 'new.example')],
      'shown',
    ],
    [
      'an unresolved name that allows',
      ['203.0.113.6'],
      [named('Allow', 'new.example'), denyAll],
      'hidden',
    ],
    [
      'an unresolved name that denies, in a mixed slice',
      ['10.1.0.1', '203.0.113.5'],
      [named('Allow', 'known.example'), named('Deny', 'new.example')],
      'shown',
    ],
    ['no rules at all', ['203.0.113.1'], [], 'shown'],
    ['an invalid address', ['nonsense'], [denyAll], 'shown'],
  ])('%s', (_, addresses, rules, verdict) => {
    expect(judge(addresses, ...rules)).toBe(verdict);
  });

  it('hides slices if there are several policies, or an unreadable one', () => {
    const slice = makeSlice({ addresses: ['203.0.113.1'] });
    const inside = makeSlice({ addresses: ['10.1.0.1'] });
    const two = ['one', 'two'].map((name) => parseEgressPolicy(makePolicy(name, [])));
    expect(judgeSlice(slice, two, context)).toMatchObject({ kind: 'hidden' });
    expect(judgeSlice(inside, two, context)).toEqual({ kind: 'shown' });
    for (const rule of [
      { type: 'Maybe', to: { cidrSelector: '203.0.113.0/24' } },
      { type: 'Allow', to: {} },
      { type: 'Allow', to: { cidrSelector: '010.0.0.0/8' } },
      { type: 'Allow', to: { cidrSelector: '203.0.113.0/24', dnsName: 'x' } },
    ]) {
      const broken = parseEgressPolicy(makePolicy('one', [rule]));
      expect(judgeSlice(slice, [broken], context)).toMatchObject({ kind: 'hidden' });
    }
    expect(judgeSlice(slice, [], context)).toEqual({ kind: 'shown' });
  });

  it('names the rule', () => {
    const policy = parseEgressPolicy(makePolicy('one', [cidr('Allow', '192.0.2.0/24'), denyAll]));
    const slice = makeSlice({ addresses: ['203.0.113.1'] });
    expect(judgeSlice(slice, [policy], context)).toEqual({
      kind: 'hidden',
      address: '203.0.113.1',
      because: 'rule 2 of the EgressNetworkPolicy shop/one (Deny 0.0.0.0/0)',
      rule: 'one 2',
    });
  });
});
