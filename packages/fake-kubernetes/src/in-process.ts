import { type Clock, systemClock } from '@causeway/base/time/clock';
import { type Log, discardLog } from '@causeway/base/observability/log';
import { type Random, systemRandom } from '@causeway/base/simulation/random';
import type { TransportRequest } from '@causeway/kubernetes/client/transport';
import { bootstrap } from './bootstrap.ts';
import { serveCustomResources } from './cluster/custom-resources.ts';
import { EmbeddedCluster } from './cluster/embedded-cluster.ts';
import type { ClusterApi } from './cluster-api.ts';
import { asApiError } from './http/api-error.ts';
import type { ApiRequest } from './http/call.ts';
import { dispatch } from './http/dispatch.ts';
import { Documents } from './http/documents.ts';
import { parseResourcePath } from './http/request-info.ts';
import { callOf, watchRequestOf } from './http/routing.ts';
import { WatchStream, type WatchSink } from './http/watch-stream.ts';
import { builtInResources } from './resources/built-in-resources.ts';
import { defaultNetwork } from './start.ts';
import { ObjectStore, type StoreOptions } from './store.ts';

export interface InProcessOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  readonly store?: StoreOptions;
}

export interface InProcessAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const bookmarkEveryMs = 60_000;
const hourMs = 3_600_000;
const listensNowhere = 6443;

/**
 * The embedded API without sockets, certificates or real time. Requests are handled in process, so that a
 * simulation controls the time of each request and of its response.
 */
export class InProcessKubernetes {
  readonly #cluster: EmbeddedCluster;
  readonly #documents: Documents;
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #watches = new Set<WatchStream>();

  constructor(options: InProcessOptions = {}) {
    const { clock = systemClock, random = systemRandom, log = discardLog } = options;
    this.#clock = clock;
    this.#log = log;
    this.#store = new ObjectStore(options.store);
    this.#cluster = new EmbeddedCluster(clock, this.#store);
    this.#cluster.serve(builtInResources(this.#store, defaultNetwork, random, clock));
    serveCustomResources(this.#store, this.#cluster.registry);
    this.#documents = new Documents(this.#cluster, 'localhost');
    const [range] = defaultNetwork.clusterIpRanges;
    if (range !== undefined) bootstrap(this.#cluster, range, listensNowhere);
  }

  /** Direct access to the objects, for tests that bypass the API. */
  get cluster(): ClusterApi {
    return this.#cluster;
  }

  /** Handles any request except a watch. Its changes are visible when the promise resolves. */
  async answer(request: TransportRequest): Promise<InProcessAnswer> {
    try {
      const document = this.#document(request);
      if (document !== undefined) return document;
      const { status, body } = await dispatch(this.#call(request));
      return { status, headers: jsonHeaders, body: await whole(body) };
    } catch (thrown) {
      return this.#refusal(thrown);
    }
  }

  /** Opens a watch that writes to the sink, or returns the error response. */
  watch(request: TransportRequest, sink: WatchSink): WatchStream | InProcessAnswer {
    try {
      const call = this.#call(request);
      const times = { bookmarkEveryMs, defaultTimeoutMs: hourMs };
      const watch: WatchStream = new WatchStream(
        this.#store,
        this.#clock,
        times,
        watchRequestOf(call),
        {
          write: (line) => sink.write(line),
          end: () => {
            this.#watches.delete(watch);
            sink.end();
          },
        },
      );
      this.#watches.add(watch);
      watch.start();
      return watch;
    } catch (thrown) {
      return this.#refusal(thrown);
    }
  }

  /** Ends every open watch cleanly, like a server after the watch timeout. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  /** Discovery documents: the served groups and kinds. */
  #document({ method, path, headers }: TransportRequest): InProcessAnswer | undefined {
    if (method !== 'GET') return undefined;
    const { pathname } = new URL(path, 'https://localhost');
    const accept = headers['accept'];
    const found = this.#documents.get(pathname, typeof accept === 'string' ? accept : undefined);
    if (found === undefined) return undefined;
    return { status: 200, headers: { 'content-type': found.contentType }, body: found.body };
  }

  #call({ method, path, headers, body }: TransportRequest) {
    const url = new URL(path, 'https://localhost');
    const request: ApiRequest = {
      method,
      headers,
      [Symbol.asyncIterator]: () => inPieces(body),
    };
    const resource = parseResourcePath(url.pathname);
    const { searchParams: query } = url;
    return callOf({ cluster: this.#cluster, clock: this.#clock, resource, query, request });
  }

  #refusal(thrown: unknown): InProcessAnswer {
    const error = asApiError(thrown, this.#log);
    const { retryAfterSeconds } = error.details ?? {};
    const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` };
    const headers = { ...jsonHeaders, ...retry };
    return { status: error.httpStatus, headers, body: JSON.stringify(error.toStatus()) };
  }
}

const jsonHeaders = { 'content-type': 'application/json' };

async function* inPieces(body: string | undefined): AsyncGenerator<Buffer> {
  if (body !== undefined) yield Buffer.from(body);
}

async function whole(body: string | AsyncIterable<string>): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const piece of body) text += piece;
  return text;
}
