import type { Clock, Timer } from '@causeway/base/time/clock';
import type { KubeObject } from '../object.ts';
import { apiVersionOf, storageResource, type ResourceDefinition } from '../resource-definition.ts';
import { ApiError } from '../status.ts';
import type { Change, ObjectStore } from '../store.ts';
import { isSelected, type Selection } from './list-query.ts';
import { partialMetadata, serialize } from './serialize.ts';
import { table, type IncludeObject } from './table.ts';
import type { Shape } from './negotiation.ts';
import type { WatchQuery } from './watch-query.ts';

export interface WatchRequest extends WatchQuery {
  readonly definition: ResourceDefinition;
  readonly selection: Selection;
  readonly shape: Shape;
  readonly includeObject: IncludeObject;
}

/** Destination of the lines of a watch. */
export interface WatchSink {
  write(line: string): void;
  /** Ends the response cleanly. The client can resume from the last version it received. */
  end(): void;
}

export interface WatchTimes {
  readonly bookmarkEveryMs: number;
  /** Duration of a watch if the client sets no timeout. */
  readonly defaultTimeoutMs: number;
}

const initialEventsEnd = 'k8s.io/initial-events-end';

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One watch, from its first event until the timeout, the client or the server ends it. */
export class WatchStream {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #times: WatchTimes;
  readonly #request: WatchRequest;
  readonly #sink: WatchSink;
  #subscription: { close(): void } | undefined;
  #bookmarkTimer: Timer | undefined;
  #endTimer: Timer | undefined;
  #sentHeadings = false;
  #isOpen = true;

  constructor(
    store: ObjectStore,
    clock: Clock,
    times: WatchTimes,
    request: WatchRequest,
    sink: WatchSink,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#times = times;
    this.#request = request;
    this.#sink = sink;
  }

  get resource(): string {
    return storageResource(this.#request.definition);
  }

  start(): void {
    const { after, sendInitialEvents, bookmarks, timeoutSeconds } = this.#request;
    const startsWithAll = sendInitialEvents || after === undefined || after === 0;
    if (startsWithAll) this.#sendInitialEvents();
    try {
      const from = startsWithAll ? this.#store.version : after;
      this.#subscription = this.#store.watch(this.resource, from, (change) =>
        this.#deliver(change),
      );
    } catch (error) {
      this.fail(error);
      return;
    }
    if (bookmarks) this.#scheduleBookmark();
    const timeoutMs =
      timeoutSeconds === undefined || timeoutSeconds === 0
        ? this.#times.defaultTimeoutMs
        : timeoutSeconds * 1000;
    this.#endTimer = this.#clock.timer(timeoutMs, () => this.end());
  }

  /** Ends the watch cleanly. A last bookmark lets the client resume from the current version. */
  end(): void {
    if (!this.#isOpen) return;
    if (this.#request.bookmarks) this.#sendBookmark();
    this.close();
    this.#sink.end();
  }

  /** Sends the error to the client within the stream and ends the watch. */
  fail(thrown: unknown): void {
    if (!this.#isOpen) return;
    const error =
      thrown instanceof ApiError ? thrown : new ApiError('InternalError', String(thrown));
    this.#write('ERROR', JSON.stringify(error.toStatus()));
    this.close();
    this.#sink.end();
  }

  /** Stops all writes after the client has disconnected. */
  close(): void {
    this.#isOpen = false;
    this.#subscription?.close();
    this.#bookmarkTimer?.cancel();
    this.#endTimer?.cancel();
  }

  #sendInitialEvents(): void {
    const { definition, selection, sendInitialEvents, bookmarks } = this.#request;
    for (const object of this.#store.list(this.resource, selection.namespace)) {
      if (isSelected(definition, selection, object)) this.#send('ADDED', object);
    }
    if (sendInitialEvents && bookmarks) this.#sendBookmark({ [initialEventsEnd]: 'true' });
  }

  /** An object that enters the selection is sent as ADDED, an object that leaves it as DELETED. */
  #deliver(change: Change): void {
    const { definition, selection } = this.#request;
    const matches = (object: KubeObject | undefined) =>
      object !== undefined && isSelected(definition, selection, object);
    const was = matches(change.previous);
    const is = change.type !== 'DELETED' && matches(change.object);
    if (is) this.#send(was ? 'MODIFIED' : 'ADDED', change.object);
    else if (was) this.#send('DELETED', this.#lastSeen(change));
  }

  /**
   * An object that leaves the selection is sent in its last selected state, with the version of the change.
   */
  #lastSeen({ type, object, previous }: Change): KubeObject {
    if (type === 'DELETED' || previous === undefined) return object;
    const { resourceVersion } = object.metadata;
    return { ...previous, metadata: { ...previous.metadata, resourceVersion } };
  }

  #send(type: EventType, object: KubeObject): void {
    const { definition, shape, includeObject } = this.#request;
    switch (shape) {
      case 'table': {
        const options = {
          includeObject,
          now: this.#clock.wallTime(),
          withHeadings: !this.#sentHeadings,
        };
        this.#sentHeadings = true;
        const { resourceVersion } = object.metadata;
        this.#write(
          type,
          JSON.stringify(table(definition, [object], { resourceVersion }, options)),
        );
        return;
      }
      case 'metadata':
        this.#write(type, JSON.stringify(partialMetadata(object)));
        return;
      default:
        this.#write(type, serialize(definition, object));
    }
  }

  #scheduleBookmark(): void {
    this.#bookmarkTimer = this.#clock.timer(this.#times.bookmarkEveryMs, () => {
      this.#sendBookmark();
      this.#scheduleBookmark();
    });
  }

  #sendBookmark(annotations?: Record<string, string>): void {
    const { definition, shape } = this.#request;
    const resourceVersion = String(this.#store.version);
    const metadata = { resourceVersion, ...(annotations === undefined ? {} : { annotations }) };
    const object =
      shape === 'table'
        ? this.#bookmarkTable(metadata)
        : { kind: definition.kind, apiVersion: apiVersionOf(definition), metadata };
    this.#write('BOOKMARK', JSON.stringify(object));
  }

  /** In a watch of tables, the row's object contains the version. */
  #bookmarkTable(metadata: object): object {
    const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
    const cells = this.#request.definition.columns.map(() => '');
    return {
      ...table(this.#request.definition, [], metadata, {
        includeObject: 'Metadata',
        now: 0,
        withHeadings: !this.#sentHeadings,
      }),
      rows: [{ cells, object }],
    };
  }

  #write(type: EventType | 'BOOKMARK' | 'ERROR', object: string): void {
    if (this.#isOpen) this.#sink.write(`{"type":"${type}","object":${object}}\n`);
  }
}
