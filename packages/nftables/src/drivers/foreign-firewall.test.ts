import { expect, test } from 'vitest';
import { strictChains } from './foreign-firewall.ts';

const chain = (table: string, policy: string, hook = 'forward') => ({
  chain: { family: 'inet', table, name: 'fwd', handle: 1, type: 'filter', hook, prio: 0, policy },
});
const rule = (table: string, ...expr: object[]) => ({
  rule: { family: 'inet', table, chain: 'fwd', handle: 2, expr },
});
const state = (op: string, right: unknown) => ({
  match: { op, left: { ct: { key: 'state' } }, right },
});
const text = (...items: object[]) => JSON.stringify({ nftables: items });

test.each([
  ['no foreign chain', text(chain('ours', 'drop')), []],
  ['an open chain', text(chain('theirs', 'accept')), []],
  ['a chain of another hook', text(chain('theirs', 'drop', 'input')), []],
  ['a policy of drop', text(chain('theirs', 'drop')), ['its policy is drop']],
  [
    'a policy of drop with a rule that accepts',
    text(chain('theirs', 'drop'), rule('theirs', { accept: null })),
    [],
  ],
  [
    'a rule that drops invalid or new connections',
    text(
      chain('theirs', 'accept'),
      rule('theirs', state('in', ['invalid', 'new']), { drop: null }),
    ),
    ['a rule drops unknown connections'],
  ],
  [
    'a rule that accepts established connections',
    text(chain('theirs', 'accept'), rule('theirs', state('in', ['established']), { accept: null })),
    [],
  ],
] as const)('%s', (_, listing, expected) => {
  expect(strictChains('ours', listing).map(({ why }) => why)).toEqual(expected);
});
