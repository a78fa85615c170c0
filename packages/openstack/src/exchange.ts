import type { ServiceName } from './error.ts';
import type { Repeatable } from './retry.ts';
import type { Route } from './route.ts';
import type { Secret } from './secret.ts';
import type { HttpResponse, Method } from './transport.ts';

/** One logical request of one or more attempts. */
export interface Exchange<T> {
  readonly service: ServiceName;
  readonly method: Method;
  readonly base: string;
  readonly route: Route;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: Secret;
  readonly body?: unknown;
  readonly repeatable: Repeatable;
  /** Statuses above 299 that are valid answers, such as the 300 of a version document. */
  readonly alsoExpected?: readonly number[];
  /** Reads the whole body. A truncated body counts as a missing answer. */
  read(response: HttpResponse): Promise<T>;
  /** Values to remove from messages, beside the token. */
  readonly secrets?: readonly Secret[];
}

/** Describes the request for messages, without IDs, addresses and secrets. */
export function describe(
  exchange: Pick<Exchange<unknown>, 'service' | 'method' | 'route'>,
): string {
  return `${exchange.service} ${exchange.method} ${exchange.route.template}`;
}
