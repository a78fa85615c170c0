import { CausewayError, type ErrorOptions } from '@causeway/base/error/causeway-error';
import type { Rule } from './expression.ts';
import type { BaseHook, Element, SetDefinition } from './ruleset.ts';

/** One step of a transaction. The order matters: an object comes before its references. */
export type Operation =
  | { readonly op: 'add-table' }
  /** Removes the table with its contents; does nothing if there is none. */
  | { readonly op: 'remove-table' }
  | { readonly op: 'add-chain'; readonly chain: string; readonly base?: BaseHook }
  | { readonly op: 'remove-chain'; readonly chain: string }
  /** Replaces all rules of a chain. */
  | { readonly op: 'set-rules'; readonly chain: string; readonly rules: readonly Rule[] }
  | { readonly op: 'add-set'; readonly definition: SetDefinition }
  | { readonly op: 'remove-set'; readonly set: string }
  | { readonly op: 'flush-set'; readonly set: string; readonly isMap?: boolean }
  | {
      readonly op: 'add-elements' | 'remove-elements';
      readonly set: SetDefinition;
      readonly elements: readonly Element[];
    };

export type ElementsOperation = Extract<Operation, { elements: readonly Element[] }>;

/** Changes to one table that take effect atomically. */
export interface Transaction {
  readonly table: string;
  readonly operations: readonly Operation[];
  /** Fail with `conflict` if anything has changed since this generation was read. */
  readonly basedOn?: number;
}

export function isEmpty(transaction: Transaction): boolean {
  return transaction.operations.length === 0;
}

/** Reason for a rejected transaction. None of it has taken effect. */
export class TransactionError extends CausewayError {
  /** The faulty operation, if the kernel reports it. */
  readonly operation: Operation | undefined;
  /** The faulty element, if the operation has elements. */
  readonly element: Element | undefined;

  constructor(
    message: string,
    fault: { operation?: Operation | undefined; element?: Element | undefined },
    options: ErrorOptions & { code?: 'conflict' | 'internal' | 'forbidden' | 'exhausted' } = {},
  ) {
    super(options.code ?? 'internal', message, options);
    this.operation = fault.operation;
    this.element = fault.element;
  }
}
