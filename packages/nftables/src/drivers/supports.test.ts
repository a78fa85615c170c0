import { expect, test } from 'vitest';
import { guardRule } from '../compile/listener-guard.ts';
import { MemoryDriver } from './memory-driver.ts';
import { supports } from './supports.ts';
import { TransactionError, type Transaction } from '../model/transaction.ts';

class PoorDriver extends MemoryDriver {
  override apply({ operations }: Transaction): Promise<void> {
    const operation = operations.find(({ op }) => op === 'set-rules');
    return Promise.reject(new TransactionError('no such expression', { operation }));
  }
}

class BusyDriver extends MemoryDriver {
  override apply(): Promise<void> {
    return Promise.reject(
      new TransactionError('changed in the meantime', {}, { code: 'conflict' }),
    );
  }
}

test('a supported rule leaves the table unchanged', async () => {
  const driver = new MemoryDriver('causeway');
  expect(await supports(driver, guardRule)).toBe(true);
  expect((await driver.read())?.chains.size).toBe(0);
});

test.each([
  ['a kernel that rejects the rule does not support it', PoorDriver, false],
  ['another failure counts as support', BusyDriver, true],
])('%s', async (_, Kind, answer) => {
  expect(await supports(new Kind('causeway'), guardRule)).toBe(answer);
});
