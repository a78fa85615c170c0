import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import { noMetrics, type Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  JsonPatchOperation,
  ListOptions,
  Selection,
  WatchOptions,
  WriteOptions,
} from './client-options.ts';
import {
  keyOf,
  type KubeList,
  type KubeObject,
  type ObjectName,
  type Status,
} from '../objects/object.ts';
import type { PinnedCluster } from './pinned-cluster.ts';
import { RateLimit, type RateLimitOptions } from './rate-limit.ts';
import type { LeaseGuard } from '@causeway/base/work/lease-guard';
import { Requester, type Call } from './requester.ts';
import {
  apiVersionOf,
  collectionPath,
  objectPath,
  resourceName,
  type Resource,
} from '../objects/resource.ts';
import type { Method, Transport } from './transport.ts';
import { openWatch, type WatchStream } from '../cache/watch-stream.ts';
import type { Scale } from '../objects/workload-objects.ts';

export interface KubeClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random?: Random;
  readonly metrics?: Metrics;
  readonly userAgent?: string;
  /** Limits the requests of this client; without it only the server's fairness applies. */
  readonly rateLimit?: RateLimitOptions;
  /** The cluster that the process works for. With it, reflectors reject lists and watches of another cluster. */
  readonly cluster?: PinnedCluster | undefined;
}

/** Target size of a page: parsing it must not block the event loop. */
const pageBytes = 2 * 1024 * 1024;
const largestPage = 500;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The verbs of the Kubernetes API. Errors are KubeErrors; every call has a deadline. */
export class KubeClient {
  readonly #requester: Requester;
  readonly #transport: Transport;
  readonly cluster: PinnedCluster | undefined;

  constructor(options: KubeClientOptions, requester?: Requester) {
    const { transport, clock, rateLimit } = options;
    this.#transport = transport;
    this.cluster = options.cluster;
    this.#requester =
      requester ??
      new Requester({
        transport,
        clock,
        random: options.random ?? systemRandom,
        metrics: options.metrics ?? noMetrics,
        userAgent: options.userAgent ?? 'causeway',
        rateLimit: rateLimit === undefined ? undefined : new RateLimit(rateLimit, clock),
      });
  }

  /** The same client for a caller that may write only while the lease guard allows it. */
  withLeaseGuard(leaseGuard: LeaseGuard): KubeClient {
    const { cluster } = this;
    const options = { transport: this.#transport, clock: this.#requester.clock, cluster };
    return new KubeClient(options, this.#requester.withLeaseGuard(leaseGuard));
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    options: CallOptions = {},
  ): Promise<T> {
    return this.#object<T>('get', 'GET', resource, name, options);
  }

  /** Like `get`, with undefined for a missing object. */
  async find<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    options: CallOptions = {},
  ): Promise<T | undefined> {
    try {
      return await this.get(resource, name, options);
    } catch (error) {
      if (isErrorCode(error, 'not-found')) return undefined;
      throw error;
    }
  }

  /** Every object of one consistent state, read page by page during the iteration. */
  async *list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages(resource, options)) yield* page.items;
  }

  /** The pages of a list. All carry the resource version from which a watch can continue. */
  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): AsyncGenerator<KubeList<T>, void, undefined> {
    let token: string | undefined;
    let limit = options.pageSize ?? largestPage;
    do {
      const query = { ...selectorsOf(options), limit, continue: token };
      const call = this.#collectionCall('list', 'GET', resource, options, query);
      const answer = await this.#requester.call(call);
      const value = answer.value as KubeList<T>;
      yield value;
      token = value.metadata?.continue || undefined;
      const fitting = Math.floor((value.items.length * pageBytes) / Math.max(answer.bytes, 1));
      limit = Math.min(options.pageSize ?? largestPage, Math.max(fitting, 10));
    } while (token !== undefined);
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const namespace = object.metadata?.namespace;
    const call = this.#collectionCall(
      'create',
      'POST',
      resource,
      { ...options, namespace },
      writeQuery(options),
    );
    const { value } = await this.#requester.call({
      ...call,
      subject: keyOf(object),
      body: { ...typeMeta(resource), ...object },
    });
    return value as T;
  }

  /** Replaces the object; with its resourceVersion in it, only if it is unchanged since. */
  async update<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    const body = { ...typeMeta(resource), ...object };
    return this.#object(
      'update',
      'PUT',
      resource,
      nameOf(object),
      options,
      writeQuery(options),
      body,
    );
  }

  /** JSON patch (RFC 6902): operations on paths, atomic. */
  async patchJson<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    operations: readonly JsonPatchOperation[],
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#patch(resource, name, 'application/json-patch+json', operations, options);
  }

  /** Merge patch (RFC 7386): given fields are replaced, null removes. */
  async patchMerge<T extends KubeObject>(
    resource: Resource<T>,
    name: ObjectName,
    patch: object,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#patch(resource, name, 'application/merge-patch+json', patch, options);
  }

  /** Server-side apply: sets our fields to those of the object, and creates it if it is missing. */
  async apply<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: ApplyOptions,
  ): Promise<T> {
    const body = { ...typeMeta(resource), ...object };
    const query = { force: options.force === true ? true : undefined };
    const type = 'application/apply-patch+yaml';
    return this.#patch(resource, nameOf(object), type, body, options, query);
  }

  /** Deletes an object. With finalizers it may remain for a while, with a deletionTimestamp. */
  async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    const { preconditions, propagationPolicy, gracePeriodSeconds } = options;
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(preconditions === undefined ? {} : { preconditions }),
      ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    };
    await this.#object<Status>('delete', 'DELETE', resource, name, options, {}, body);
  }

  async getScale(resource: Resource, name: ObjectName, options: CallOptions = {}): Promise<Scale> {
    return this.#object<Scale>('get', 'GET', resource, name, { ...options, subresource: 'scale' });
  }

  async setScale(
    resource: Resource,
    name: ObjectName,
    replicas: number,
    options: WriteOptions = {},
  ): Promise<Scale> {
    const scale = { ...options, subresource: 'scale' } as const;
    return this.#patch<Scale>(
      resource,
      name,
      'application/merge-patch+json',
      { spec: { replicas } },
      scale,
    );
  }

  /** The JSON answer of a path: `/version`, discovery. */
  async getPath(path: string, options: CallOptions = {}): Promise<unknown> {
    const call: Call = {
      verb: 'get',
      resource: 'path',
      subject: path,
      method: 'GET',
      path,
      ...options,
    };
    return (await this.#requester.call(call)).value;
  }

  /**
   * Changes in batches as they arrive; iterate immediately. Ends when the server ends the watch; throws when
   * the connection breaks or is idle for too long, and for an error inside the stream.
   */
  async watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): Promise<WatchStream<T>> {
    const query = {
      ...selectorsOf(options),
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      ...(options.sendInitialEvents === true
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
        : {}),
    };
    const { signal, idleTimeoutMs, ...selection } = options;
    const call = this.#collectionCall('watch', 'GET', resource, selection, query);
    return openWatch<T>(this.#requester, call, signal, idleTimeoutMs);
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  #patch<T extends KubeObject>(
    resource: Resource,
    name: ObjectName,
    contentType: string,
    patch: object,
    options: WriteOptions,
    query: Query = {},
  ): Promise<T> {
    const all = { ...writeQuery(options), ...query };
    return this.#object<T>('patch', 'PATCH', resource, name, options, all, patch, contentType);
  }

  async #object<T>(
    verb: string,
    method: Method,
    resource: Resource,
    name: ObjectName,
    options: WriteOptions,
    query: Query = {},
    body?: unknown,
    contentType?: string,
  ): Promise<T> {
    const { value } = await this.#requester.call({
      verb,
      method,
      resource: resourceName(resource),
      subject: keyOf({ metadata: name }),
      path: `${objectPath(resource, name, options.subresource)}${queryString(query)}`,
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      retries: options.retries,
    });
    return value as T;
  }

  #collectionCall(
    verb: string,
    method: Method,
    resource: Resource,
    options: Selection & CallOptions,
    query: Query,
  ): Call {
    return {
      verb,
      method,
      resource: resourceName(resource),
      path: `${collectionPath(resource, options.namespace)}${queryString(query)}`,
      signal: options.signal,
      timeoutMs: options.timeoutMs,
      retries: options.retries,
    };
  }
}

function typeMeta(resource: Resource) {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function nameOf(object: KubeObject): ObjectName {
  const { name = '', namespace } = object.metadata ?? {};
  return namespace === undefined ? { name } : { namespace, name };
}

function selectorsOf({ labelSelector, fieldSelector }: Selection): Query {
  return { labelSelector, fieldSelector };
}

function writeQuery({ fieldManager, dryRun }: WriteOptions): Query {
  return { fieldManager, dryRun: dryRun === true ? 'All' : undefined };
}

function queryString(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
