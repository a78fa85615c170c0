import { expect, test } from 'vitest';
import { parseAddress as address } from '@causeway/base/address/address';
import { operationsText, ruleText } from './nft-text.ts';
import type { Operation } from '../model/transaction.ts';

const text = (...operations: Operation[]) => [...operationsText('causeway', operations)];

test('elements are written with their values, and removed without', () => {
  const set = { name: 'm', key: ['ipv4_addr', 'inet_service'], value: 'verdict' } as const;
  const elements = [
    { key: [address('192.0.2.1'), 80], value: { kind: 'goto', chain: 'c' } as const },
    { key: [address('192.0.2.1'), 81], value: { kind: 'drop' } as const },
  ];
  expect(text({ op: 'add-elements', set, elements })).toEqual([
    'create element inet causeway m { 192.0.2.1 . 80 : goto c, 192.0.2.1 . 81 : drop }',
  ]);
  expect(text({ op: 'remove-elements', set, elements })).toEqual([
    'delete element inet causeway m { 192.0.2.1 . 80, 192.0.2.1 . 81 }',
  ]);
});

test('long lists are split into lines', () => {
  const set = { name: 's', key: ['inet_service'] } as const;
  const elements = Array.from({ length: 2500 }, (_, index) => ({ key: [index + 1] }));
  expect(text({ op: 'add-elements', set, elements })).toHaveLength(3);
});

test('a rule has the usual nft syntax', () => {
  const rule = {
    statements: [
      { kind: 'compare', operand: { kind: 'tcp-flags' }, mask: 23, equal: false, value: 2 },
      {
        kind: 'dnat',
        family: 6,
        to: { kind: 'backend', address: address('fd00::1'), port: 80 as never },
      },
    ],
  } as const;
  expect(ruleText(rule)).toBe('tcp flags & 23 != 2 dnat ip6 to [fd00::1]:80');
});

test.each(['x; flush ruleset', 'a b', '', 'A', '1', 'a"', 'a\nb', '-a'])(
  'rejects a foreign name in the text: %j',
  (chain) => {
    expect(() => text({ op: 'add-chain', chain })).toThrow(RangeError);
    expect(() => text({ op: 'flush-set', set: chain })).toThrow(RangeError);
    expect(() => [...operationsText(chain, [{ op: 'add-table' }])]).toThrow(RangeError);
  },
);
