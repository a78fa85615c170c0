import { CausewayError, type ErrorCode } from '@causeway/base/error/causeway-error';
import { readBounded } from '@causeway/base/http/bounded-body';
import { isKeystoneRefusal, serviceErrorType, serviceMessage } from './error-body.ts';
import { OpenStackError, type Outcome } from './error.ts';
import { describe, type Exchange } from './exchange.ts';
import type { HttpResponse } from './transport.ts';

/** The largest single object we read; the largest real one, a big status tree, stays far below. */
const largestObject = 16 * 1024 * 1024;
const largestErrorBody = 64 * 1024;

/** Reads a body that is one JSON value and hands it to the parser. */
export async function readJson<T>(
  response: HttpResponse,
  parse: (value: unknown) => T,
): Promise<T> {
  const text = await readText(response, largestObject);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CausewayError('unavailable', 'the answer is not JSON', { cause });
  }
  return parse(value);
}

export async function readNothing(response: HttpResponse): Promise<void> {
  await response.discard();
}

async function readText(response: HttpResponse, limit: number): Promise<string> {
  const tooLarge = () =>
    new CausewayError('unavailable', `the answer is larger than ${limit} bytes`);
  return (await readBounded(response.body, limit, tooLarge)).toString('utf8');
}

/** A failed answer as an error with OpenStack's words and its id of the request. */
export async function readError(
  response: HttpResponse,
  exchange: Exchange<unknown>,
): Promise<OpenStackError> {
  const { status } = response;
  // The status is what matters; a body that is too long or breaks off takes nothing away from it.
  const body = await readText(response, largestErrorBody).catch(() => '');
  const secrets = [...(exchange.secrets ?? []), ...(exchange.token ? [exchange.token] : [])];
  const said = serviceMessage(body, secrets);
  const requestId =
    response.header('x-openstack-request-id') ?? response.header('x-compute-request-id');
  const words = said === undefined ? '' : `: ${said}`;
  return new OpenStackError(
    errorCodeOf(status, body),
    // Without the request's id, which is another one each time: who reads this in an Event or a status
    // must not take the same failure for a new one. Logs have it.
    `${describe(exchange)} answered ${status}${words}`,
    {
      service: exchange.service,
      outcome: outcomeOf(status, body),
      status,
      isKeystoneRefusal: isKeystoneRefusal(status, body),
      ...(requestId === undefined ? {} : { requestId }),
      ...(said === undefined ? {} : { serviceMessage: said }),
    },
  );
}

/** Whether a service that answered this has done nothing. Behind a 5xx anything may have happened. */
function outcomeOf(status: number, body: string): Outcome {
  const isRefusal = status < 500 || status === 501 || isStateInvalid(body) || isBusy(status, body);
  return isRefusal ? 'refused' : 'unknown';
}

/** Octavia makes creates of one project wait for each other, and turns away who waits too long. */
function isBusy(status: number, body: string): boolean {
  return status === 503 && body.includes('Unable to lock the project');
}

/** Mitaka's LBaaS v2 refuses to touch a locked load balancer with a 500. */
function isStateInvalid(body: string): boolean {
  return serviceErrorType(body) === 'StateInvalid';
}

const exhaustedTypes = /^(?:OverQuota|IpAddressGenerationFailure|ExternalIpAddressExhausted)/;

export function errorCodeOf(status: number, body: string): ErrorCode {
  if (status < 500 && isExhausted(body)) return 'exhausted';
  if (isStateInvalid(body)) return 'conflict';
  switch (status) {
    case 400:
    case 405:
    case 413:
    case 422:
      return 'invalid';
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'not-found';
    case 409:
      return 'conflict';
    case 410:
      return 'gone';
    case 408:
      return 'timeout';
    case 501:
      return 'unsupported';
    default:
      return status < 400 ? 'unsupported' : 'unavailable';
  }
}

/** Quotas answer 403 in Octavia and 409 in Neutron, empty pools 409 or 400: only the body tells. */
function isExhausted(body: string): boolean {
  const type = serviceErrorType(body);
  if (type !== undefined && exhaustedTypes.test(type)) return true;
  return /quota (?:has been met|exceeded)/i.test(serviceMessage(body) ?? '');
}
