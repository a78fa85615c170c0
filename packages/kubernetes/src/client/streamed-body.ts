import type { Dispatcher } from 'undici';
import type { Clock } from '@causeway/base/time/clock';
import type { TransportResponse } from './transport.ts';

/**
 * This many chunks within a millisecond of each other indicate a list. Waiting for more of it saves both
 * sides most of their work: a reader that is faster than the writer would be woken for every single event.
 */
const piecesOfList = 8;
const quickMs = 1;
const gatherMs = 2;
/** Chunks of this size are delivered without waiting. */
const largePieceBytes = 32 * 1024;
/** Above this limit the server has to wait for the reader. */
const mostBufferedBytes = 1024 * 1024;

/**
 * Sends a request with an answer that is a long stream of small chunks. A server flushes each event of a watch
 * separately, ten thousand of them in one list; all chunks of one event loop iteration are delivered
 * together.
 */
export function dispatchStreamed(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<TransportResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<TransportResponse>();
  let body: StreamedBody | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  const fail = (error: Error) => {
    signal.removeEventListener('abort', onAbort);
    reject(error);
    body?.fail(error);
  };
  const onAbort = () => {
    const reason = asError(signal.reason);
    controller?.abort(reason);
    fail(reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  dispatcher.dispatch(options, {
    onRequestStart(started) {
      controller = started;
      if (signal.aborted) started.abort(asError(signal.reason));
    },
    onResponseStart(started, status, headers) {
      if (status < 200) return;
      body = new StreamedBody(started, clock);
      resolve({ status, headers, body });
    },
    onResponseData: (_, chunk) => body?.push(chunk),
    onResponseEnd() {
      signal.removeEventListener('abort', onAbort);
      body?.end();
    },
    onResponseError: (_, error) => fail(error),
  });
  return promise;
}

class StreamedBody implements AsyncIterable<Uint8Array> {
  readonly #controller: Dispatcher.DispatchController;
  readonly #clock: Clock;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;
  #isWakingUp = false;
  #pieceAt = 0;
  #quickPieces = 0;

  constructor(controller: Dispatcher.DispatchController, clock: Clock) {
    this.#controller = controller;
    this.#clock = clock;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > mostBufferedBytes) this.#controller.pause();
    this.#wakeUp();
  }

  end(): void {
    this.#end ??= {};
    this.#wakeUp();
  }

  fail(error: Error): void {
    this.#end ??= { error };
    this.#wakeUp();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (this.#chunks.length === 0 && this.#end === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
        const chunks = this.#chunks;
        if (chunks.length > 0) {
          const isLarge = this.#bytes >= largePieceBytes;
          this.#chunks = [];
          this.#bytes = 0;
          if (this.#controller.paused) this.#controller.resume();
          yield Buffer.concat(chunks);
          if (this.#isList(isLarge)) await this.#gather();
        } else if (this.#end !== undefined) {
          if (this.#end.error !== undefined) throw this.#end.error;
          return;
        }
      }
    } finally {
      // A reader that stops early closes the connection.
      if (this.#end === undefined) this.#controller.abort(new Error('the reader stopped'));
    }
  }

  #isList(isLarge: boolean): boolean {
    const now = this.#clock.monotonic();
    this.#quickPieces = now - this.#pieceAt < quickMs ? this.#quickPieces + 1 : 0;
    this.#pieceAt = now;
    return this.#quickPieces >= piecesOfList && !isLarge && this.#end === undefined;
  }

  #gather(): Promise<void> {
    this.#controller.pause();
    return new Promise((resolve) => {
      this.#clock.timer(gatherMs, () => {
        this.#controller.resume();
        resolve();
      });
    });
  }

  /** After all other events of this event loop iteration. */
  #wakeUp(): void {
    if (this.#isWakingUp) return;
    this.#isWakingUp = true;
    setImmediate(() => {
      this.#isWakingUp = false;
      this.#wake?.();
      this.#wake = undefined;
    });
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}
