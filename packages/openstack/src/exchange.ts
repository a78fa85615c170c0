import type { ServiceName } from './error.ts';
import type { Repeatable } from './retry.ts';
import type { Route } from './route.ts';
import type { Secret } from './secret.ts';
import type { HttpResponse, Method } from './transport.ts';

/** One logical request; it may take several attempts. */
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
  /** Statuses above 299 that are answers too, such as the 300 of a document of versions. */
  readonly alsoExpected?: readonly number[];
  /** Reads the whole body. A body that breaks off counts as an answer that never came. */
  read(response: HttpResponse): Promise<T>;
  /** What must not show in a message, beside the token. */
  readonly secrets?: readonly Secret[];
}

/** The request for people: without ids, addresses and anything secret. */
export function describe(
  exchange: Pick<Exchange<unknown>, 'service' | 'method' | 'route'>,
): string {
  return `${exchange.service} ${exchange.method} ${exchange.route.template}`;
}
