import type { Driver } from './driver.ts';
import type { Rule } from '../model/expression.ts';
import { TransactionError } from '../model/transaction.ts';

const chain = 'probe';

/**
 * Whether the kernel can do what a rule asks for. It is tried within a transaction that takes it back, so
 * nothing changes. What fails for another reason says nothing about the rule.
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
