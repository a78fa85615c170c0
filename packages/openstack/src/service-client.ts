import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Random } from '@causeway/base/simulation/random';
import type { CallOptions, Deletion } from './call.ts';
import { OpenStackError, type ServiceName } from './error.ts';
import { describe, type Exchange } from './exchange.ts';
import type { Fields } from './fields.ts';
import type { Endpoint } from './keystone/endpoint.ts';
import type { Token } from './keystone/token.ts';
import type { TokenSource } from './keystone/token-source.ts';
import type { OpenStackMetrics } from './metrics.ts';
import { everyPage, readPage } from './pages.ts';
import type { Requester } from './requester.ts';
import { readJson, readNothing } from './response.ts';
import type { Route } from './route.ts';

export interface ServiceClientParts {
  readonly service: ServiceName;
  readonly tokens: TokenSource;
  readonly endpoint: (token: Token) => Endpoint;
  readonly requester: Requester;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: OpenStackMetrics;
  readonly deadlineMs: number;
  readonly pageSize: number;
}

type Request<T> = Pick<Exchange<T>, 'method' | 'route' | 'repeatable' | 'read'> &
  Partial<Pick<Exchange<T>, 'body' | 'query' | 'headers' | 'alsoExpected'>>;

/** Calls to one service of one cloud in one scope, with a token and a deadline. */
export class ServiceClient {
  readonly #parts: ServiceClientParts;

  constructor(parts: ServiceClientParts) {
    this.#parts = parts;
  }

  get service(): ServiceName {
    return this.#parts.service;
  }

  get deadlineMs(): number {
    return this.#parts.deadlineMs;
  }

  get random(): Random {
    return this.#parts.random;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  get<T>(
    route: Route,
    parse: (value: unknown) => T,
    call: CallOptions,
    query?: URLSearchParams,
  ): Promise<T> {
    return this.#call(
      {
        method: 'GET',
        route,
        repeatable: 'yes',
        read: (response) => readJson(response, parse),
        ...(query === undefined ? {} : { query }),
      },
      call,
    );
  }

  /** Every object of the list. The deadline applies to each page, without the caller's time in between. */
  list<T extends { readonly id: string }>(
    route: Route,
    key: string,
    parse: (fields: Fields) => T,
    call: CallOptions,
    filter: URLSearchParams = new URLSearchParams(),
  ): AsyncGenerator<T> {
    const query = new URLSearchParams(filter);
    query.set('limit', String(this.#parts.pageSize));
    return everyPage(query, (page) =>
      this.#call(
        {
          method: 'GET',
          route,
          query: page,
          repeatable: 'yes',
          read: (response) => readPage(response, key, parse, this.#parts.clock),
        },
        call,
      ),
    );
  }

  /** Not repeated if it may have reached the service: wrap it in `createOnce`. */
  post<T>(
    route: Route,
    body: unknown,
    parse: (value: unknown) => T,
    call: CallOptions,
  ): Promise<T> {
    const read: Exchange<T>['read'] = (response) => readJson(response, parse);
    return this.#call({ method: 'POST', route, body, repeatable: 'no', read }, call);
  }

  put<T>(
    route: Route,
    body: unknown,
    parse: (value: unknown) => T,
    call: CallOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const read: Exchange<T>['read'] = (response) => readJson(response, parse);
    return this.#call({ method: 'PUT', route, body, headers, repeatable: 'yes', read }, call);
  }

  /** A PUT with an empty answer (202). */
  putQuietly(route: Route, body: unknown, call: CallOptions): Promise<void> {
    const read = readNothing;
    return this.#call({ method: 'PUT', route, body, repeatable: 'yes', read }, call);
  }

  /** The same, and not repeated if it may have reached the service. */
  putOnce(
    route: Route,
    body: unknown,
    call: CallOptions,
    query = new URLSearchParams(),
  ): Promise<void> {
    const read = readNothing;
    return this.#call({ method: 'PUT', route, body, query, repeatable: 'no', read }, call);
  }

  delete(route: Route, call: CallOptions): Promise<Deletion> {
    return this.#delete({ method: 'DELETE', route, repeatable: 'yes', read: readNothing }, call);
  }

  /** Not repeated if it may have reached the service. */
  deleteOnce(route: Route, call: CallOptions, query = new URLSearchParams()): Promise<Deletion> {
    const read = readNothing;
    return this.#delete({ method: 'DELETE', route, repeatable: 'no', read, query }, call);
  }

  async #delete(request: Request<void>, call: CallOptions): Promise<Deletion> {
    try {
      await this.#call(request, call);
      return 'deleted';
    } catch (error) {
      if (error instanceof OpenStackError && error.status === 404) return 'absent';
      throw error;
    }
  }

  /** The version document at the service's root. */
  versions<T>(parse: (value: unknown) => T, call: CallOptions): Promise<T> {
    return this.#call(
      {
        method: 'GET',
        route: { path: '/', template: '/' },
        repeatable: 'yes',
        alsoExpected: [300],
        read: (response) => readJson(response, parse),
      },
      call,
      'root',
    );
  }

  #call<T>(request: Request<T>, call: CallOptions, at: keyof Endpoint = 'base'): Promise<T> {
    const { service, tokens, endpoint, requester, clock, metrics, deadlineMs } = this.#parts;
    const what = describe({ service, method: request.method, route: request.route });
    const limitMs = call.deadlineMs ?? deadlineMs;
    return withDeadline(clock, limitMs, call.signal, what, async (signal) => {
      const perform = (token: Token) =>
        requester.perform(
          { service, base: endpoint(token)[at], token: token.value, ...request },
          signal,
        );
      const token = await tokens.token(signal);
      try {
        return await perform(token);
      } catch (error) {
        if (!(error instanceof OpenStackError) || error.status !== 401) throw error;
        // The service refused the token and did nothing, so even a POST may be repeated, once.
        tokens.reject(token);
        metrics.retries.add({ service, reason: 'token' });
        return perform(await tokens.token(signal));
      }
    });
  }
}
