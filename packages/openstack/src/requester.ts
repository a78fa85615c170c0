import { CausewayError } from '@causeway/base/error/causeway-error';
import { type Clock, sleep } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Random } from '@causeway/base/simulation/random';
import { withinLease, type LeaseGuard } from '@causeway/base/work/lease-guard';
import { OpenStackError } from './error.ts';
import { describe, type Exchange } from './exchange.ts';
import type { Limiter } from './limiter.ts';
import type { OpenStackMetrics } from './metrics.ts';
import { readError } from './response.ts';
import { decideRetry, parseRetryAfter, type RetryPolicy } from './retry.ts';
import { TransportError, type HttpResponse, type RequestCarrier } from './transport.ts';

export interface RequesterParts {
  readonly transport: RequestCarrier;
  readonly limiter: Limiter;
  readonly retry: RetryPolicy;
  /** For one attempt: a hung request is aborted early enough to be repeated. */
  readonly attemptDeadlineMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: OpenStackMetrics;
  /** Limits how long writes may be sent. */
  readonly leaseGuard?: LeaseGuard | undefined;
}

/** Sends requests to one cloud: within its limit, with retries where they are safe, and with metrics. */
export class Requester {
  readonly #parts: RequesterParts;

  constructor(parts: RequesterParts) {
    this.#parts = parts;
  }

  async perform<T>(exchange: Exchange<T>, signal: AbortSignal): Promise<T> {
    const { limiter, clock, retry, random, log, metrics } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      const result = await limiter.run(signal, () => {
        // Checked before the request is counted.
        this.#leaseGuardFor(exchange)?.remainingMs();
        return this.#attempt(exchange, signal);
      });
      if (result.error === undefined) return result.value;
      const { error } = result;
      if (signal.aborted) throw error;
      const decision = decideRetry(
        { outcome: error.outcome, status: error.status, retryAfterMs: result.retryAfterMs },
        attempt,
        exchange.repeatable,
        retry,
        random,
      );
      if (!decision.retry) throw error;
      metrics.retries.add({ service: exchange.service, reason: decision.reason });
      log.debug(
        { service: exchange.service, route: exchange.route.template, attempt, ...decision, error },
        'repeating a request to OpenStack',
      );
      await sleep(clock, decision.delayMs, signal);
    }
  }

  /** Checked immediately before each request; a write that outlives the lease is aborted. */
  #leaseGuardFor({ method, service }: Exchange<unknown>): LeaseGuard | undefined {
    // A login changes nothing that others use.
    return method === 'GET' || service === 'identity' ? undefined : this.#parts.leaseGuard;
  }

  async #attempt<T>(exchange: Exchange<T>, signal: AbortSignal): Promise<AttemptResult<T>> {
    const { clock, metrics, attemptDeadlineMs } = this.#parts;
    const { service, method, route } = exchange;
    const started = clock.monotonic();
    let status: number | undefined;
    try {
      const ask = async (inner: AbortSignal): Promise<AttemptResult<T>> => {
        const response = await this.#send(exchange, inner);
        status = response.status;
        if (response.status < 300 || exchange.alsoExpected?.includes(response.status) === true) {
          return { error: undefined, value: await exchange.read(response) };
        }
        return {
          error: await readError(response, exchange),
          retryAfterMs: parseRetryAfter(response.header('retry-after'), clock.wallTime()),
        };
      };
      const what = describe(exchange);
      const leaseGuard = this.#leaseGuardFor(exchange);
      return await withDeadline(clock, attemptDeadlineMs, signal, what, (inner) =>
        leaseGuard === undefined ? ask(inner) : withinLease(clock, leaseGuard, inner, what, ask),
      );
    } catch (error) {
      return { error: unanswered(error, exchange, status), retryAfterMs: undefined };
    } finally {
      metrics.requests.add({
        service,
        method,
        route: route.template,
        status: String(status ?? 'none'),
      });
      const seconds = (clock.monotonic() - started) / 1000;
      metrics.duration.observe({ service, method, route: route.template }, seconds);
    }
  }

  #send(exchange: Exchange<unknown>, signal: AbortSignal): Promise<HttpResponse> {
    const { method, base, route, query, token, body } = exchange;
    const search = query === undefined || query.size === 0 ? '' : `?${query.toString()}`;
    return this.#parts.transport.send({
      method,
      url: base + route.path + search,
      headers: {
        accept: 'application/json',
        'user-agent': 'causeway',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { 'x-auth-token': token.reveal() }),
        ...exchange.headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  }
}

type AttemptResult<T> =
  | { readonly error: undefined; readonly value: T }
  | { readonly error: OpenStackError; readonly retryAfterMs: number | undefined };

/** The error for a request without a usable answer: missing, truncated or invalid. */
function unanswered(
  thrown: unknown,
  exchange: Exchange<unknown>,
  status: number | undefined,
): OpenStackError {
  if (thrown instanceof OpenStackError) return thrown;
  const known = CausewayError.from(thrown);
  const brokeOff = known instanceof TransportError || known.code === 'timeout';
  return new OpenStackError(
    known.code === 'internal' ? 'unavailable' : known.code,
    `${describe(exchange)} failed: ${known.message}`,
    {
      service: exchange.service,
      outcome: known instanceof TransportError ? known.outcome : 'unknown',
      cause: known,
      // An answer with a status that we can't parse: a repetition would not be better.
      ...(brokeOff || status === undefined ? {} : { status }),
      ...(known.hint === undefined ? {} : { hint: known.hint }),
    },
  );
}
