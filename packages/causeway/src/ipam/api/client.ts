import { Agent, request, type Dispatcher } from '@causeway/base/http/http-client';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy, sleep, type Clock } from '@causeway/base/time/clock';
import { untilAborted } from '@causeway/base/time/until-aborted';
import { withDeadline } from '@causeway/base/time/deadline';
import { parseJson, readAnswer, readText } from './answer.ts';
import type { Operation } from './operation.ts';
import { operations, type AnswerOf, type OperationName, type RequestOf } from './operations.ts';
import { errorOf } from './problem.ts';

export interface IpamClientOptions {
  /** Tried in order; after a failure the next one is used. */
  readonly urls: readonly string[];
  /** Read at each call, so that a rotated token is used at once. */
  readonly token?: (() => Promise<string>) | undefined;
  readonly tls?:
    | {
        readonly ca?: string | undefined;
        readonly certificate?: string | undefined;
        readonly key?: string | undefined;
      }
    | undefined;
  readonly clock: Clock;
  /** Time limit of a call at one server. */
  readonly limitMs?: number;
  /** How often a call is sent before it fails. If omitted, at least once to each server. */
  readonly attempts?: number;
}

/** The server answered that the client must wait, and for how long. */
class TooEarly extends CausewayError {
  readonly retryAfterMs: number;

  constructor(problem: CausewayError, retryAfterMs: number) {
    super('unavailable', problem.message, problem.hint === undefined ? {} : { hint: problem.hint });
    this.retryAfterMs = retryAfterMs;
  }
}

/** Calls to the allocator's API, typed by the definitions that the server uses. */
export class IpamClient {
  readonly #options: IpamClientOptions;
  readonly #agent: Dispatcher;
  #current = 0;

  constructor(options: IpamClientOptions) {
    this.#options = options;
    const { ca, certificate: cert, key } = options.tls ?? {};
    this.#agent = new Agent({
      connections: 64,
      connect: {
        timeout: 2_000,
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
      },
    });
  }

  /**
   * Calls the servers in order until one answers. Every call may be repeated, so a call with a lost answer is
   * sent again, to the next server. After too many requests the client waits as long as the server says,
   * unless that exceeds the call's time limit. Rejects with the server's error.
   */
  async call<Name extends OperationName>(
    name: Name,
    input: RequestOf<Name>,
    signal: AbortSignal,
  ): Promise<AnswerOf<Name>> {
    const { urls, clock, limitMs = 20_000, attempts = Math.max(2, urls.length) } = this.#options;
    let failure: CausewayError | undefined;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (signal.aborted) throw abortedBy(signal);
      try {
        const extraMs = waitOf(input.body);
        return await withDeadline(clock, limitMs + extraMs, signal, name, (limit) =>
          this.#once(name, input, limit),
        );
      } catch (error) {
        failure = CausewayError.from(error);
        if (failure.code !== 'unavailable' && failure.code !== 'timeout') throw failure;
        if (failure instanceof TooEarly) {
          if (attempt + 1 === attempts || failure.retryAfterMs > limitMs) throw failure;
          await sleep(clock, failure.retryAfterMs, signal);
        } else {
          this.#current += 1;
        }
      }
    }
    throw failure ?? new CausewayError('invalid', 'no server is configured');
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #once<Name extends OperationName>(
    name: Name,
    input: RequestOf<Name>,
    signal: AbortSignal,
  ): Promise<AnswerOf<Name>> {
    const operation: Operation = operations[name];
    const { urls, token } = this.#options;
    const base = urls[this.#current % urls.length] ?? '';
    const target = base.replace(/\/$/, '') + pathOf(operation, input);
    const answering = request(target, {
      method: operation.method,
      dispatcher: this.#agent,
      signal,
      headers: {
        'causeway-ipam-version': '1.0',
        ...(token === undefined ? {} : { authorization: `Bearer ${await token()}` }),
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: input.body === undefined ? null : JSON.stringify(input.body),
    });
    const reading = answering.then(async ({ statusCode: status, headers, body }) => {
      return { status, headers, text: await readText(body) };
    });
    // undici notices an abort only after the request has a connection, which may take longer than its
    // deadline.
    const { status, headers, text } = await untilAborted(reading, signal).catch(
      (error: unknown) => {
        if (signal.aborted) throw abortedBy(signal);
        if (error instanceof CausewayError) throw error;
        const { message } = CausewayError.from(error);
        throw new CausewayError('unavailable', `${base} can't be reached: ${message}`, {
          cause: error,
        });
      },
    );
    if (status === 429) throw tooEarly(parseJson(text), headers['retry-after']);
    return readAnswer(operation, status, text) as AnswerOf<Name>;
  }
}

/** In seconds, as the allocator sends it. A date from a proxy, or no value, counts as one second. */
function tooEarly(body: unknown, retryAfter: string | string[] | undefined): TooEarly {
  const seconds = Number(retryAfter);
  return new TooEarly(errorOf(429, body), seconds > 0 ? seconds * 1000 : 1000);
}

function pathOf(operation: Operation, input: { params: unknown; query?: unknown }): string {
  const params = input.params as Record<string, string>;
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(
    (input.query ?? {}) as Record<string, string | number>,
  )) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Extends the time limit of a request that waits on the server. */
function waitOf(body: unknown): number {
  const { waitMs } = (body ?? {}) as { waitMs?: unknown };
  return typeof waitMs === 'number' ? waitMs : 0;
}
