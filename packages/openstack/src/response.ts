import { CausewayError, type ErrorCode } from '@causeway/base/error/causeway-error';
import { readBounded } from '@causeway/base/http/bounded-body';
import { isKeystoneRefusal, serviceErrorType, serviceMessage } from './error-body.ts';
import { OpenStackError, type Outcome } from './error.ts';
import { describe, type Exchange } from './exchange.ts';
import type { HttpResponse } from './transport.ts';

/** The largest single object that is read; the largest real one, a big status tree, is far smaller. */
const largestObject = 16 * 1024 * 1024;
const largestErrorBody = 64 * 1024;

/** Reads a body of one JSON value and parses it. */
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

/** Converts a failed answer into an error with OpenStack's message and request ID. */
export async function readError(
  response: HttpResponse,
  exchange: Exchange<unknown>,
): Promise<OpenStackError> {
  const { status } = response;
  // The status is decisive; a body that is too long or truncated does not matter.
  const body = await readText(response, largestErrorBody).catch(() => '');
  const secrets = [...(exchange.secrets ?? []), ...(exchange.token ? [exchange.token] : [])];
  const said = serviceMessage(body, secrets);
  const requestId =
    response.header('x-openstack-request-id') ?? response.header('x-compute-request-id');
  const words = said === undefined ? '' : `: ${said}`;
  return new OpenStackError(
    errorCodeOf(status, body),
    // The message omits the request ID, which differs each time: an Event or a status would show the same
    // failure as a new one. Logs contain it.
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

/** Whether a service with this answer has done nothing. After a 5xx the outcome is unknown. */
function outcomeOf(status: number, body: string): Outcome {
  const isRefusal = status < 500 || status === 501 || isStateInvalid(body) || isBusy(status, body);
  return isRefusal ? 'refused' : 'unknown';
}

/** Octavia serializes the creates of a project, and rejects those that wait too long. */
function isBusy(status: number, body: string): boolean {
  return status === 503 && body.includes('Unable to lock the project');
}

/** Mitaka's LBaaS v2 answers 500 for a locked load balancer. */
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

/**
 * Quotas answer 403 in Octavia and 409 in Neutron, empty pools 409 or 400: only the body distinguishes them.
 */
function isExhausted(body: string): boolean {
  const type = serviceErrorType(body);
  if (type !== undefined && exhaustedTypes.test(type)) return true;
  return /quota (?:has been met|exceeded)/i.test(serviceMessage(body) ?? '');
}
