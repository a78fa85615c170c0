import type { Context } from '../../../packages/causeway/src/ipam/api/context.ts';
import { handlers } from '../../../packages/causeway/src/ipam/api/handlers.ts';
import type { Operation } from '../../../packages/causeway/src/ipam/api/operation.ts';
import {
  operations,
  type AnswerOf,
  type OperationName,
  type RequestOf,
} from '../../../packages/causeway/src/ipam/api/operations.ts';

/** A call of the allocator's API without HTTP: the real handlers parse and run it. */
export async function askHandler<Name extends OperationName>(
  context: Context,
  name: Name,
  input: RequestOf<Name>,
): Promise<AnswerOf<Name>> {
  const operation: Operation = operations[name];
  const parsed = {
    params: operation.params.parse(input.params),
    query: operation.query.parse(input.query ?? {}),
    body: operation.body.parse(input.body ?? {}),
  };
  const handle = handlers[name] as (context: Context, input: unknown) => Promise<unknown>;
  return (await handle(context, parsed)) as AnswerOf<Name>;
}
