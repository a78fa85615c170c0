import type { Allocator } from '../allocator.ts';
import type { Caller, Permission } from '../credential.ts';
import type { Decide } from '../decision.ts';
import type { Heartbeats } from '../heartbeats.ts';
import type { Platforms } from '../platform/platforms.ts';
import type { AnswerOf, InputOf, OperationName } from './operations.ts';

/** Input of a handler: the caller, the permission that the call needs, and the allocator. */
export interface Context {
  readonly allocator: Allocator;
  readonly heartbeats: Heartbeats;
  readonly platforms: Platforms;
  readonly caller: Caller;
  readonly needs: Permission;
  readonly signal: AbortSignal;
}

export type Handlers<Names extends OperationName = OperationName> = {
  readonly [Name in Names]: (context: Context, input: InputOf<Name>) => Promise<AnswerOf<Name>>;
};

/** Carries out a change with the queue key of the object that it changes. */
export function change<T>(
  { allocator, caller, needs, signal }: Context,
  queueKey: string,
  decide: Decide<T>,
): Promise<T> {
  return allocator.change({ caller, needs, queueKey, decide }, signal);
}
