import type { Driver } from './driver.ts';
import type { Rule } from '../model/expression.ts';
import { TransactionError } from '../model/transaction.ts';

const chain = 'probe';

/**
 * Whether the kernel supports a rule. The check runs in a transaction that reverts itself, so nothing
 * changes. Other failures count as support.
 */
export async function supports(driver: Driver, rule: Rule, signal?: AbortSignal): Promise<boolean> {
  try {
    await driver.apply(
      {
        table: driver.table,
        operations: [
          { op: 'add-table' },
          { op: 'add-chain', chain },
          { op: 'set-rules', chain, rules: [rule] },
          { op: 'set-rules', chain, rules: [] },
          { op: 'remove-chain', chain },
        ],
      },
      signal,
    );
    return true;
  } catch (error) {
    return !(error instanceof TransactionError && error.operation?.op === 'set-rules');
  }
}
