import type { IncomingMessage } from 'node:http';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { chunksOf, readBounded } from '@causeway/base/http/bounded-body';

const largestBody = 1024 * 1024;

export class BodyTooLarge extends CausewayError {
  constructor() {
    super('invalid', 'the body of the request is too large', {
      hint: `A body has at most ${largestBody} bytes.`,
    });
  }
}

/** The JSON value of a request's body. Undefined for GET and HEAD, and for a request without a body. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const {
    'content-type': type,
    'content-length': length,
    'transfer-encoding': coding,
  } = request.headers;
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  if (type === undefined && coding === undefined && Number(length ?? 0) === 0) return undefined;
  if (type?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new CausewayError('invalid', 'the body of the request is not application/json');
  }
  if (Number(length ?? 0) > largestBody) throw new BodyTooLarge();
  const bytes = await readBounded(chunksOf(request), largestBody, () => new BodyTooLarge());
  return parse(bytes.toString());
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text, refusePrototypes) as unknown;
  } catch (cause) {
    if (cause instanceof CausewayError) throw cause;
    throw new CausewayError('invalid', 'the body of the request is not JSON', { cause });
  }
}

/** No code merges these objects today. The check keeps a later merge from changing a prototype. */
function refusePrototypes(key: string, value: unknown): unknown {
  const isPrototype =
    key === '__proto__' ||
    (key === 'constructor' &&
      typeof value === 'object' &&
      value !== null &&
      Object.hasOwn(value, 'prototype'));
  if (isPrototype) throw new CausewayError('invalid', `the body has the forbidden key ${key}`);
  return value;
}
