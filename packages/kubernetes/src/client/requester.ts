import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy, sleep, type Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Random } from '@causeway/base/simulation/random';
import { KubeError } from './error.ts';
import { requestDuration, requestRetries } from './kube-metrics.ts';
import { withinLease, type LeaseGuard } from '@causeway/base/work/lease-guard';
import type { Status } from '../objects/object.ts';
import type { RateLimit } from './rate-limit.ts';
import { readStatus } from './read-status.ts';
import { retryDelay } from './retry.ts';
import { readBody, type Method, type Transport, type TransportResponse } from './transport.ts';

export interface Call {
  /** For messages and metrics: `get`, `list`, `watch`, `create`, … */
  readonly verb: string;
  readonly resource: string;
  /** For messages: which object. */
  readonly subject?: string;
  readonly method: Method;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** False for callers with their own retry loop. */
  readonly retries?: boolean | undefined;
}

/** The JSON answer, in the shape of the resource. */
export interface Answer {
  readonly value: unknown;
  readonly bytes: number;
}

export interface RequesterOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly userAgent: string;
  readonly rateLimit?: RateLimit | undefined;
  readonly leaseGuard?: LeaseGuard | undefined;
}

const defaultTimeoutMs = 30_000;

/** Sends calls: with a deadline, at a limited rate, guarded if they write, repeated where that is safe. */
export class Requester {
  readonly #options: RequesterOptions;
  readonly #duration;
  readonly #retries;

  constructor(options: RequesterOptions) {
    this.#options = options;
    this.#duration = options.metrics.histogram(requestDuration);
    this.#retries = options.metrics.counter(requestRetries);
  }

  withLeaseGuard(leaseGuard: LeaseGuard): Requester {
    return new Requester({ ...this.#options, leaseGuard });
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** One call, with its complete answer. */
  async call(call: Call): Promise<Answer> {
    const { clock, random } = this.#options;
    const what = describe(call);
    return withDeadline(
      clock,
      call.timeoutMs ?? defaultTimeoutMs,
      call.signal,
      what,
      async (signal) => {
        for (let failures = 1; ; failures += 1) {
          try {
            return await this.#withinLease(call, signal, (limited) => this.#once(call, limited));
          } catch (thrown) {
            if (signal.aborted) throw abortedBy(signal);
            const error = KubeError.fromTransport(what, thrown);
            const delayMs =
              call.retries === false ? undefined : retryDelay(call.method, failures, error, random);
            if (delayMs === undefined) throw error;
            this.#retries.add({ verb: call.verb, resource: call.resource });
            await sleep(clock, delayMs, signal);
          }
        }
      },
    );
  }

  /** A call with an answer that is read as a stream; the deadline covers only its beginning. */
  async open(call: Call, signal: AbortSignal): Promise<TransportResponse> {
    const what = describe(call);
    const limit = call.timeoutMs ?? defaultTimeoutMs;
    const tooLate = new AbortController();
    const timer = this.clock.timer(limit, () => tooLate.abort());
    try {
      return await this.#send(call, AbortSignal.any([signal, tooLate.signal]));
    } catch (thrown) {
      if (tooLate.signal.aborted && !signal.aborted) {
        throw new CausewayError('timeout', `${what} was not answered within ${limit} ms`);
      }
      throw signal.aborted ? abortedBy(signal) : KubeError.fromTransport(what, thrown);
    } finally {
      timer.cancel();
    }
  }

  /** The lease guard is checked immediately before each request, and a write that outlives it is aborted. */
  #withinLease<T>(
    call: Call,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { leaseGuard, clock } = this.#options;
    if (leaseGuard === undefined || call.method === 'GET') return work(signal);
    return withinLease(clock, leaseGuard, signal, describe(call), work);
  }

  async #once(call: Call, signal: AbortSignal): Promise<Answer> {
    const response = await this.#send(call, signal);
    const text = await readBody(response.body);
    try {
      return { value: JSON.parse(text) as unknown, bytes: text.length };
    } catch (cause) {
      throw new KubeError('unavailable', `${describe(call)}: the answer is not JSON`, { cause });
    }
  }

  async #send(call: Call, signal: AbortSignal): Promise<TransportResponse> {
    const { transport, clock, rateLimit, userAgent } = this.#options;
    await rateLimit?.take(signal);
    const started = clock.monotonic();
    let status = 'none';
    try {
      const response = await transport.send(
        {
          method: call.method,
          path: call.path,
          headers: {
            accept: 'application/json',
            'user-agent': userAgent,
            ...(call.body === undefined
              ? {}
              : { 'content-type': call.contentType ?? 'application/json' }),
          },
          ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
          isLong: call.verb === 'watch',
        },
        signal,
      );
      status = String(response.status);
      if (response.status >= 200 && response.status < 300) return response;
      throw await failureOf(call, response);
    } finally {
      this.#duration.observe(
        { verb: call.verb, resource: call.resource, status },
        (clock.monotonic() - started) / 1000,
      );
    }
  }
}

async function failureOf(call: Call, response: TransportResponse): Promise<KubeError> {
  const text = await readBody(response.body);
  const header = response.headers['retry-after'];
  const seconds =
    typeof header === 'string' && /^[0-9]{1,6}$/.test(header) ? Number(header) : undefined;
  return KubeError.fromStatus(describe(call), response.status, parseStatus(text), seconds);
}

function parseStatus(text: string): Status | undefined {
  try {
    const status = readStatus(JSON.parse(text));
    return status?.kind === 'Status' ? status : undefined;
  } catch {
    return undefined;
  }
}

export function describe(call: Call): string {
  return [call.verb, call.resource, call.subject].filter(Boolean).join(' ');
}
