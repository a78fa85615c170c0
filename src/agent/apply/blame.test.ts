import { expect, test } from 'vitest';
import { parseAddress } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import { TransactionError } from '../../nftables/transaction.ts';
import { blame } from './blame.ts';

test('what the kernel refuses is put to its endpoint, however deep the cause', () => {
  const element = { key: [parseAddress('192.0.2.1'), 6, 80, 3], value: [] };
  const fault = new TransactionError('no space', { element });
  const wrapped = new CausewayError('internal', 'failed', { cause: fault });
  expect(blame(wrapped)).toEqual([
    {
      endpoint: { address: '192.0.2.1', protocol: 'TCP', port: 80 },
      record: 0,
      message: 'no space',
    },
  ]);
});

test('what belongs to no endpoint is told all the same', () => {
  const fault = new TransactionError('busy', { element: { key: [parseAddress('192.0.2.1')] } });
  expect(blame(fault)).toEqual([{ endpoint: undefined, record: 0, message: 'busy' }]);
  expect(blame(new Error('something else'))).toEqual([]);
});
