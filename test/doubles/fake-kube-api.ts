import type { KubeObject, Status } from '../../packages/kubernetes/src/objects/object.ts';
import type {
  Transport,
  TransportRequest,
  TransportResponse,
} from '../../packages/kubernetes/src/client/transport.ts';
import { ByteStream } from './byte-stream.ts';

interface HistoryEntry {
  readonly revision: number;
  readonly collection: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

interface OpenWatch {
  readonly stream: ByteStream;
  readonly matches: (collection: string, object: KubeObject) => boolean;
}

interface Place {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** Answer of a fault instead of the API's; undefined leaves the request alone. */
export type Fault = (request: TransportRequest) => TransportResponse | Error | undefined;

const pathPattern =
  /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?/;

/**
 * A Kubernetes API in memory, with just enough for the client's own tests, and all faults of a real one. The
 * sandbox has what kubectl and controllers need.
 */
export class FakeKubeApi implements Transport {
  readonly objects = new Map<string, KubeObject>();
  readonly requests: TransportRequest[] = [];
  revision = 100;
  fault: Fault | undefined;
  /** Whether an expired watch is rejected with a status or with an error inside the stream. */
  goneAs: 'status' | 'event' = 'status';
  /** Old servers reject streamed lists; even older ones ignore the parameter. */
  streamedLists: 'known' | 'refused' | 'ignored' = 'known';
  #history: HistoryEntry[] = [];
  #compacted = 0;
  #uids = 0;
  #watches = new Set<OpenWatch>();
  #snapshots: { readonly revision: number; readonly items: readonly KubeObject[] }[] = [];

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Creates or changes an object of a collection, as another client would. */
  put(collection: string, object: KubeObject): KubeObject {
    const key = `${collection}/${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`;
    const before = this.objects.get(key);
    this.revision += 1;
    const after: KubeObject = {
      ...object,
      metadata: {
        ...object.metadata,
        uid: before?.metadata?.uid ?? `uid-${++this.#uids}`,
        resourceVersion: String(this.revision),
      },
    };
    this.objects.set(key, after);
    this.#record(collection, before === undefined ? 'ADDED' : 'MODIFIED', after);
    return after;
  }

  remove(collection: string, namespace: string, name: string): void {
    const key = `${collection}/${namespace}/${name}`;
    const before = this.objects.get(key);
    if (before === undefined) return;
    this.revision += 1;
    this.objects.delete(key);
    const metadata = { ...before.metadata, resourceVersion: String(this.revision) };
    this.#record(collection, 'DELETED', { ...before, metadata });
  }

  /** Drops the history: requests for older versions must list again. */
  compact(): void {
    this.#compacted = this.revision;
    this.#history = [];
  }

  /** Like restoring a backup: older contents, with versions counted on from there. */
  restore(objects: ReadonlyMap<string, KubeObject>, revision: number): void {
    this.cutWatches();
    this.objects.clear();
    for (const [key, object] of objects) this.objects.set(key, object);
    this.revision = revision;
    this.#history = [];
    this.#compacted = 0;
  }

  bookmark(): void {
    this.say(eventLine('BOOKMARK', { metadata: { resourceVersion: String(this.revision) } }));
  }

  /** Sends bytes to every open watch. */
  say(text: string): void {
    for (const { stream } of this.#watches) stream.push(text);
  }

  /** Ends every watch like a server after its timeout. */
  endWatches(): void {
    for (const { stream } of this.#watches) stream.end();
    this.#watches.clear();
  }

  /** Breaks every connection, optionally after a part of an event. */
  cutWatches(piece = ''): void {
    for (const { stream } of this.#watches) {
      if (piece !== '') stream.push(piece);
      stream.fail(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
    }
    this.#watches.clear();
  }

  /** Half-open: clients believe that they are connected, but get no more data. */
  freezeWatches(): void {
    this.#watches.clear();
  }

  /** Sends the last changes again, like a faulty server. */
  echo(count: number): void {
    for (const { type, object } of this.#history.slice(-count)) this.say(eventLine(type, object));
  }

  send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    this.requests.push(request);
    if (signal.aborted) return Promise.reject(new DOMException('aborted', 'AbortError'));
    const outcome = this.fault?.(request) ?? this.#handle(request, signal);
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
  }

  close(): Promise<void> {
    this.endWatches();
    return Promise.resolve();
  }

  #handle(request: TransportRequest, signal: AbortSignal): TransportResponse {
    const url = new URL(request.path, 'http://fake');
    const [, namespace, collection = '', name] = pathPattern.exec(url.pathname) ?? [];
    const place = { collection, namespace, name };
    const query = url.searchParams;
    if (request.method !== 'GET') return this.#write(request, place);
    if (query.get('watch') === 'true') return this.#watch(query, place, signal);
    if (name === undefined) return this.#list(query, place);
    const found = this.objects.get(`${collection}/${namespace ?? ''}/${name}`);
    return found === undefined ? failure(404, 'NotFound') : answer(200, found);
  }

  #matching(query: URLSearchParams, place: Place): OpenWatch['matches'] {
    const [, onlyName] = /^metadata\.name=(.*)$/.exec(query.get('fieldSelector') ?? '') ?? [];
    return (collection, { metadata }) =>
      collection === place.collection &&
      (place.namespace === undefined || metadata?.namespace === place.namespace) &&
      (onlyName === undefined || metadata?.name === onlyName);
  }

  #select(matches: OpenWatch['matches']): KubeObject[] {
    return [...this.objects]
      .filter(([key, object]) => matches(key.split('/')[0] ?? '', object))
      .map(([, object]) => object);
  }

  #list(query: URLSearchParams, place: Place): TransportResponse {
    const limit = Number(query.get('limit') ?? 500);
    const [snapshotText, offsetText] = (query.get('continue') ?? '').split(':');
    let snapshot = this.#snapshots[Number(snapshotText || NaN)];
    const offset = snapshot === undefined ? 0 : Number(offsetText);
    if (snapshot === undefined) {
      const items = this.#select(this.#matching(query, place));
      snapshot = { revision: this.revision, items };
      this.#snapshots.push(snapshot);
    } else if (snapshot.revision < this.#compacted) return failure(410, 'Expired');
    const end = offset + limit;
    const token = `${this.#snapshots.indexOf(snapshot)}:${end}`;
    return answer(200, {
      kind: 'List',
      metadata: {
        resourceVersion: String(snapshot.revision),
        ...(end < snapshot.items.length ? { continue: token } : {}),
      },
      items: snapshot.items.slice(offset, end),
    });
  }

  #watch(query: URLSearchParams, place: Place, signal: AbortSignal): TransportResponse {
    const matches = this.#matching(query, place);
    const stream = new ByteStream(signal);
    const from = Number(query.get('resourceVersion') ?? 0);
    if (query.get('sendInitialEvents') === 'true') {
      if (this.streamedLists === 'refused') return failure(422, 'Invalid');
      for (const object of this.#select(matches)) stream.push(eventLine('ADDED', object));
      const metadata = {
        resourceVersion: String(this.revision),
        annotations: { 'k8s.io/initial-events-end': 'true' },
      };
      if (this.streamedLists === 'known') stream.push(eventLine('BOOKMARK', { metadata }));
    } else if (from < this.#compacted) {
      const gone: Status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
      if (this.goneAs === 'status') return failure(410, 'Expired');
      stream.push(eventLine('ERROR', gone));
      stream.end();
    } else {
      for (const { revision, collection, type, object } of this.#history) {
        if (revision > from && matches(collection, object)) stream.push(eventLine(type, object));
      }
    }
    this.#watches.add({ stream, matches });
    return { status: 200, headers: {}, body: stream };
  }

  #write(request: TransportRequest, place: Place): TransportResponse {
    const body = JSON.parse(request.body ?? '{}') as KubeObject & Record<string, unknown>;
    const name = place.name ?? body.metadata?.name ?? '';
    const namespace = place.namespace ?? '';
    const before = this.objects.get(`${place.collection}/${namespace}/${name}`);
    const wanted = body.metadata?.resourceVersion;
    if (request.method === 'POST') {
      if (before !== undefined) return failure(409, 'AlreadyExists');
      return answer(
        201,
        this.put(place.collection, { ...body, metadata: { ...body.metadata, namespace } }),
      );
    }
    if (before === undefined) return failure(404, 'NotFound');
    if (wanted !== undefined && wanted !== before.metadata?.resourceVersion) {
      return failure(409, 'Conflict');
    }
    if (request.method === 'DELETE') {
      this.remove(place.collection, namespace, name);
      return answer(200, { kind: 'Status', status: 'Success' });
    }
    const after = request.method === 'PUT' ? body : (mergePatch(before, body) as KubeObject);
    return answer(200, this.put(place.collection, after));
  }

  #record(collection: string, type: HistoryEntry['type'], object: KubeObject): void {
    this.#history.push({ revision: this.revision, collection, type, object });
    for (const { stream, matches } of this.#watches) {
      if (matches(collection, object)) stream.push(eventLine(type, object));
    }
  }
}

export function eventLine(type: string, object: KubeObject): string {
  return `${JSON.stringify({ type, object })}\n`;
}

export function answer(status: number, body: unknown, headers: Record<string, string> = {}) {
  const stream = new ByteStream();
  stream.push(JSON.stringify(body));
  stream.end();
  return { status, headers, body: stream };
}

export function failure(code: number, reason: string, headers: Record<string, string> = {}) {
  const status: Status = { kind: 'Status', status: 'Failure', code, reason, message: reason };
  return answer(code, status, headers);
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...(target as Record<string, unknown>) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key] ?? {}, value);
  }
  return merged;
}
