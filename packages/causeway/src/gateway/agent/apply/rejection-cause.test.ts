import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { TransactionError } from '@causeway/nftables/model/transaction';
import { rejectionsFrom } from './rejection-cause.ts';

test('attributes a kernel error to its frontend at any depth of causes', () => {
  const element = { key: [parseAddress('192.0.2.1'), 6, 80, 3], value: [] };
  const fault = new TransactionError('no space', { element });
  const wrapped = new CausewayError('internal', 'failed', { cause: fault });
  expect(rejectionsFrom(wrapped)).toEqual([
    {
      frontend: { address: '192.0.2.1', protocol: 'TCP', port: 80 },
      record: 0,
      message: 'no space',
    },
  ]);
});

test('reports an error that belongs to no frontend', () => {
  const fault = new TransactionError('busy', { element: { key: [parseAddress('192.0.2.1')] } });
  expect(rejectionsFrom(fault)).toEqual([{ frontend: undefined, record: 0, message: 'busy' }]);
  expect(rejectionsFrom(new Error('something else'))).toEqual([]);
});
