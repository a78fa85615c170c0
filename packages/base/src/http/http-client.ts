import { createRequire } from 'node:module';
import type * as undici from 'undici';

export type { Dispatcher } from 'undici';
export type Agent = undici.Agent;

/**
 * The parts of undici that are used. All of it, with fetch, WebSockets, caches and mocks, takes 10 MB more
 * in each process: docs/develop/architecture.md#why-we-load-parts-of-undici.
 */
const load = createRequire(import.meta.url);
const part = (name: string): unknown => load(`undici/lib/${name}.js`);

export const Agent = part('dispatcher/agent') as typeof undici.Agent;
export const ProxyAgent = part('dispatcher/proxy-agent') as typeof undici.ProxyAgent;

// As in undici's own index: requests are methods of every dispatcher.
const { prototype } = part('dispatcher/dispatcher') as typeof undici.Dispatcher;
Object.assign(prototype, part('api/index'));

type RequestOptions = Omit<undici.Dispatcher.RequestOptions, 'origin' | 'path'> & {
  readonly dispatcher: undici.Dispatcher;
};

/** Sends one request to a URL over the connections of a dispatcher. */
export async function request(
  url: string | URL,
  { dispatcher, ...options }: RequestOptions,
): Promise<undici.Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  return dispatcher.request({ ...options, origin, path: `${pathname}${search}` });
}
