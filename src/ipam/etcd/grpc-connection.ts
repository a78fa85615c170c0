import http2 from 'node:http2';
import type { CausewayError } from '../../domain/error.ts';
import { abortedBy, type Clock, type Timer } from '../../runtime/clock.ts';
import { FrameReader, frameOf } from './grpc-frames.ts';
import { connectionError, grpcError } from './grpc-error.ts';

export interface TlsFiles {
  /** PEM texts. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export interface GrpcCall {
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A call in both directions that stays open. */
export interface GrpcStream {
  send(message: Buffer): void;
  close(): void;
}

/** etcd closes a connection that pings more often than every 5 s (its --grpc-keepalive-min-time). */
const pingEveryMs = 6_000;
const pingLimitMs = 3_000;
/** Enough for a page of entries without a pause for flow control. */
const windowSize = 4 * 1024 * 1024;

/** One HTTP/2 connection that carries gRPC calls. It is used until it breaks, and then replaced. */
export class GrpcConnection {
  readonly endpoint: string;
  readonly #session: http2.ClientHttp2Session;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #failure: CausewayError | undefined;

  private constructor(endpoint: string, session: http2.ClientHttp2Session, clock: Clock) {
    this.endpoint = endpoint;
    this.#session = session;
    this.#clock = clock;
    session.on('error', (error) => this.#fail(error));
    session.on('goaway', () => this.#fail(new Error('the server is going away')));
    session.on('close', () => this.#fail(new Error('the connection was closed')));
    this.#pingLater();
  }

  static connect(
    endpoint: string,
    tls: TlsFiles,
    clock: Clock,
    signal: AbortSignal,
  ): Promise<GrpcConnection> {
    return new Promise((resolve, reject) => {
      const { ca, certificate: cert, key } = tls;
      const session = http2.connect(endpoint, {
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        settings: { initialWindowSize: windowSize, enablePush: false },
      });
      const fail = (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        // Node emits "connect" also for a session that was destroyed while it connected.
        session.off('connect', onConnect);
        session.destroy();
        reject(connectionError(endpoint, error));
      };
      const onAbort = () => fail(abortedBy(signal));
      const onConnect = () => {
        signal.removeEventListener('abort', onAbort);
        const connection = new GrpcConnection(endpoint, session, clock);
        session.off('error', fail);
        session.setLocalWindowSize(windowSize);
        resolve(connection);
      };
      // "on", not "once": a second error of an abandoned session has no other listener.
      session.on('error', fail);
      session.once('connect', onConnect);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  get isUsable(): boolean {
    return this.#failure === undefined && !this.#session.closed && !this.#session.destroyed;
  }

  /** One request, one response. Rejects with `aborted` on the signal, else as etcd says. */
  unary(call: GrpcCall, message: Buffer, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let response: Buffer | undefined;
      const onAbort = () => {
        stream.close(http2.constants.NGHTTP2_CANCEL);
        settle(abortedBy(signal));
      };
      const settle = (error: CausewayError | undefined) => {
        signal.removeEventListener('abort', onAbort);
        if (error !== undefined) reject(error);
        else if (response !== undefined) resolve(response);
        else reject(connectionError(this.endpoint, new Error('no response')));
      };
      const stream = this.#open(call, { onMessage: (body) => (response = body), onEnd: settle });
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      stream.end(frameOf(message));
    });
  }

  /** `onEnd` is called once, with the reason, however the stream ends. */
  stream(
    call: GrpcCall,
    onMessage: (message: Buffer) => void,
    onEnd: (error: CausewayError) => void,
  ): GrpcStream {
    const stream = this.#open(call, {
      onMessage,
      onEnd: (error) => onEnd(error ?? connectionError(this.endpoint, new Error('stream ended'))),
    });
    return {
      send: (message) => {
        if (!stream.closed && !stream.destroyed) stream.write(frameOf(message));
      },
      close: () => stream.close(http2.constants.NGHTTP2_CANCEL),
    };
  }

  close(): void {
    this.#fail(new Error('closed by us'));
  }

  #open(
    { path, metadata }: GrpcCall,
    handlers: {
      readonly onMessage: (message: Buffer) => void;
      readonly onEnd: (error: CausewayError | undefined) => void;
    },
  ): http2.ClientHttp2Stream {
    if (this.#failure !== undefined) throw this.#failure;
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
    const frames = new FrameReader(handlers.onMessage);
    let status: http2.IncomingHttpHeaders = {};
    let failure: unknown;
    stream.on('response', (headers) => (status = headers));
    stream.on('trailers', (headers) => (status = headers));
    stream.on('data', (chunk: Buffer) => {
      try {
        frames.push(chunk);
      } catch (error) {
        // What can't be read ends this stream, not the process.
        failure = error;
        stream.close(http2.constants.NGHTTP2_CANCEL);
      }
    });
    stream.on('error', (error) => (failure = error));
    stream.on('close', () => handlers.onEnd(this.#outcome(status, failure)));
    return stream;
  }

  #outcome(status: http2.IncomingHttpHeaders, failure: unknown): CausewayError | undefined {
    const code = status['grpc-status'];
    if (typeof code !== 'string') {
      return connectionError(this.endpoint, failure ?? this.#failure ?? new Error('cut off'));
    }
    if (code === '0') return undefined;
    const text = status['grpc-message'];
    return grpcError(Number(code), typeof text === 'string' ? percentDecoded(text) : '');
  }

  /** A peer that stops answering without closing (a stopped process, a cut cable) is found by pings. */
  #pingLater(): void {
    this.#timer = this.#clock.timer(pingEveryMs, () => {
      if (!this.isUsable) return;
      this.#timer = this.#clock.timer(pingLimitMs, () =>
        this.#fail(new Error('no answer to a ping')),
      );
      this.#session.ping(() => {
        this.#timer?.cancel();
        if (this.isUsable) this.#pingLater();
      });
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= connectionError(this.endpoint, error);
    this.#timer?.cancel();
    if (!this.#session.destroyed) this.#session.destroy();
  }
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
