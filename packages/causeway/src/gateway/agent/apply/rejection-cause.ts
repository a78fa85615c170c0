import { TransactionError } from '@causeway/nftables/model/transaction';
import { protocolNumbers } from '@causeway/nftables/model/operands';
import { tryParseAddress } from '@causeway/base/address/address';
import { parsePort, protocols } from '@causeway/base/address/port';
import type { EndpointId } from '../../protocol/endpoint.ts';
import type { Rejection } from '../../protocol/rejection.ts';

/** What the kernel said, put to the endpoint that the element at fault belongs to, where that can be told. */
export function rejectionsFrom(thrown: unknown): Rejection[] {
  const fault = findTransactionError(thrown);
  if (fault === undefined) return [];
  return [{ endpoint: endpointOf(fault), record: 0, message: fault.message }];
}

function findTransactionError(thrown: unknown): TransactionError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth += 1) {
    if (error instanceof TransactionError) return error;
    error = error.cause;
  }
  return undefined;
}

/** Elements of services and of their slots begin with the endpoint's address, protocol and port. */
function endpointOf({ element }: TransactionError): EndpointId | undefined {
  const [first, number, port] = element?.key ?? [];
  const address = typeof first === 'string' ? tryParseAddress(first) : undefined;
  const protocol = protocols.find((name) => protocolNumbers[name] === number);
  if (address === undefined || protocol === undefined || typeof port !== 'number') return undefined;
  return { address, protocol, port: parsePort(port) };
}
