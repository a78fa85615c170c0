import { TransactionError } from '@causeway/nftables/model/transaction';
import { protocolNumbers } from '@causeway/nftables/model/operands';
import { tryParseAddress } from '@causeway/base/address/address';
import { parsePort, protocols } from '@causeway/base/address/port';
import type { FrontendId } from '../../protocol/frontend.ts';
import type { Rejection } from '../../protocol/rejection.ts';

/** The kernel's error, attributed to the frontend of the failed element if it is known. */
export function rejectionsFrom(thrown: unknown): Rejection[] {
  const fault = findTransactionError(thrown);
  if (fault === undefined) return [];
  return [{ frontend: frontendOf(fault), record: 0, message: fault.message }];
}

function findTransactionError(thrown: unknown): TransactionError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth += 1) {
    if (error instanceof TransactionError) return error;
    error = error.cause;
  }
  return undefined;
}

/** Elements of services and of their slots start with the frontend's address, protocol and port. */
function frontendOf({ element }: TransactionError): FrontendId | undefined {
  const [first, number, port] = element?.key ?? [];
  const address = typeof first === 'string' ? tryParseAddress(first) : undefined;
  const protocol = protocols.find((name) => protocolNumbers[name] === number);
  if (address === undefined || protocol === undefined || typeof port !== 'number') return undefined;
  return { address, protocol, port: parsePort(port) };
}
