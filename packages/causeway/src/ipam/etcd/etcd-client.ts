import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy, type Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import {
  GrpcConnection,
  type GrpcCall,
  type GrpcStream,
  type TlsFiles,
} from './grpc-connection.ts';
import { decodeToken, encodeAuthenticate } from './messages.ts';

export interface EtcdOptions {
  /** `http://` or `https://` with a port; tried in order, repeatedly. */
  readonly endpoints: readonly string[];
  /** Read for each new connection, so that renewed certificates are used without a restart. */
  readonly tls?: (() => Promise<TlsFiles>) | undefined;
  readonly user?: { readonly name: string; readonly password: string } | undefined;
  readonly clock: Clock;
  /** How long one call may take before another endpoint is tried. */
  readonly callLimitMs?: number;
}

const connectLimitMs = 2_000;

/**
 * Calls to an etcd cluster over one connection at a time. A call is sent **once**. If its outcome is unknown,
 * it rejects with `unavailable` or `timeout`, and the next call goes to another endpoint. The caller decides
 * whether to repeat the call.
 */
export class EtcdClient {
  readonly #options: EtcdOptions;
  readonly #callLimitMs: number;
  #connection: Promise<GrpcConnection> | undefined;
  #usable: GrpcConnection | undefined;
  #next = 0;
  #token: Promise<string> | undefined;
  #closed = false;

  constructor(options: EtcdOptions) {
    if (options.endpoints.length === 0) {
      throw new CausewayError('invalid', 'etcd needs at least one endpoint');
    }
    this.#options = options;
    this.#callLimitMs = options.callLimitMs ?? 3_000;
  }

  async call(path: string, message: Buffer, signal: AbortSignal): Promise<Buffer> {
    if (signal.aborted) throw abortedBy(signal);
    const { clock } = this.#options;
    return withDeadline(clock, this.#callLimitMs, signal, `etcd's ${path}`, async (limit) => {
      const connection = await this.#connected(limit);
      try {
        const metadata = await this.#metadata(connection, limit);
        return await connection.unary({ path, metadata }, message, limit);
      } catch (error) {
        throw this.#judge(error, connection, signal);
      }
    });
  }

  /** Opens a stream on the current connection. It ends with the connection; the caller then opens another. */
  async stream(
    path: string,
    onMessage: (message: Buffer) => void,
    onEnd: (error: CausewayError) => void,
    signal: AbortSignal,
  ): Promise<GrpcStream> {
    const { clock } = this.#options;
    return withDeadline(clock, this.#callLimitMs, signal, `etcd's ${path}`, async (limit) => {
      const connection = await this.#connected(limit);
      try {
        const call: GrpcCall = { path, metadata: await this.#metadata(connection, limit) };
        return connection.stream(call, onMessage, (error) =>
          onEnd(this.#judge(error, connection, signal)),
        );
      } catch (error) {
        throw this.#judge(error, connection, signal);
      }
    });
  }

  close(): void {
    this.#closed = true;
    this.#usable?.close();
  }

  async #connected(signal: AbortSignal): Promise<GrpcConnection> {
    if (this.#usable?.isUsable === true) return this.#usable;
    this.#usable?.close();
    this.#usable = undefined;
    this.#connection ??= this.#connect().finally(() => (this.#connection = undefined));
    const connection = await this.#connection;
    if (signal.aborted) throw abortedBy(signal);
    return connection;
  }

  /** Tries every endpoint once. */
  async #connect(): Promise<GrpcConnection> {
    const { endpoints, tls, clock } = this.#options;
    let failure = new CausewayError('unavailable', 'the etcd client is closed');
    for (let attempt = 0; attempt < endpoints.length && !this.#closed; attempt += 1) {
      const endpoint = endpoints[this.#next % endpoints.length] ?? '';
      try {
        const what = `connecting to etcd at ${endpoint}`;
        const connection = await withDeadline(
          ...([clock, connectLimitMs, undefined, what] as const),
          async (limit) => GrpcConnection.connect(endpoint, (await tls?.()) ?? {}, limit),
        );
        if (this.#closed) connection.close();
        this.#usable = connection;
        return connection;
      } catch (error) {
        failure = CausewayError.from(error);
        this.#next += 1;
      }
    }
    throw failure;
  }

  /** `hasleader`: a member without a quorum reports an error at once instead of waiting. */
  async #metadata(
    connection: GrpcConnection,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>>> {
    const { user } = this.#options;
    if (user === undefined) return { hasleader: 'true' };
    this.#token ??= connection
      .unary(
        { path: '/etcdserverpb.Auth/Authenticate', metadata: {} },
        encodeAuthenticate(user.name, user.password),
        signal,
      )
      .then(decodeToken);
    try {
      return { hasleader: 'true', token: await this.#token };
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
  }

  /** Consequence of a failed call for the next call: another endpoint, or a new token. */
  #judge(error: unknown, connection: GrpcConnection, signal: AbortSignal): CausewayError {
    const known = CausewayError.from(error);
    if (signal.aborted) return known;
    const staleToken = known.code === 'unauthorized' || known.message.includes('auth store is old');
    if (staleToken && this.#token !== undefined) {
      this.#token = undefined;
      // etcd refused the call before processing it. It may be sent again with a new token.
      return new CausewayError('unavailable', known.message, { cause: known });
    }
    const elsewhere =
      known.code === 'unavailable' || known.code === 'timeout' || known.code === 'aborted';
    if (elsewhere && this.#usable === connection) {
      this.#usable = undefined;
      this.#next += 1;
      connection.close();
    }
    return known;
  }
}
