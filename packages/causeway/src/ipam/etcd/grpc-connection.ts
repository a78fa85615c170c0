import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ChannelCredentials,
  type ChannelOptions,
  type ServiceError,
} from '@grpc/grpc-js';
import type { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
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

/** A bidirectional call that stays open. */
export interface GrpcStream {
  send(message: Buffer): void;
  close(): void;
}

const channelOptions: ChannelOptions = {
  // etcd closes a connection that pings more often than every 5 s (its --grpc-keepalive-min-time), and an
  // idle connection that pings at all.
  'grpc.keepalive_time_ms': 6_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.keepalive_permit_without_calls': 0,
  // The window holds a page of entries, so that flow control never interrupts a page.
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
  // A page of a snapshot and a batch of a watch are smaller than this.
  'grpc.max_receive_message_length': 256 * 1024 * 1024,
  // A call is sent once; the caller decides about a repetition.
  'grpc.enable_retries': 0,
  // Each connection object has its own TCP connection.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_channelz': 0,
};

/** One HTTP/2 connection that carries gRPC calls. The owner replaces a broken connection. */
export class GrpcConnection {
  readonly endpoint: string;
  readonly #client: Client;
  /** Ends a running call, with the reason. */
  readonly #underWay = new Set<(reason: CausewayError) => void>();
  #isClosed = false;

  private constructor(endpoint: string, client: Client) {
    this.endpoint = endpoint;
    this.#client = client;
  }

  /** Rejects with `unavailable` as soon as the first attempt fails or the signal fires. */
  static async connect(
    endpoint: string,
    tls: TlsFiles,
    signal: AbortSignal,
  ): Promise<GrpcConnection> {
    let client: Client | undefined;
    try {
      client = new Client(targetOf(endpoint), credentialsOf(endpoint, tls), {
        ...channelOptions,
        ...serverNameOf(endpoint),
      });
      await firstAttempt(client, signal);
      return new GrpcConnection(endpoint, client);
    } catch (error) {
      client?.close();
      throw connectionError(endpoint, error);
    }
  }

  get isUsable(): boolean {
    if (this.#isClosed) return false;
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** One request, one response. Rejects with `aborted` on the signal, else with etcd's error. */
  unary({ path, metadata }: GrpcCall, message: Buffer, signal: AbortSignal): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw abortedBy(signal);
      this.#refuseClosed();
      const call = this.#client.makeUnaryRequest(
        ...([path, same, same, message, metadataOf(metadata)] as const),
        (error: ServiceError | null, response?: Buffer) => {
          if (error !== null) settle(statusError(error));
          else if (response === undefined) settle(connectionError(this.endpoint, noResponse()));
          else settle(undefined, response);
        },
      );
      const settle = (error: CausewayError | undefined, response?: Buffer) => {
        signal.removeEventListener('abort', onAbort);
        this.#underWay.delete(giveUp);
        if (error !== undefined) reject(error);
        else if (response !== undefined) resolve(response);
      };
      const giveUp = (reason: CausewayError) => {
        settle(reason);
        call.cancel();
      };
      const onAbort = () => giveUp(abortedBy(signal));
      this.#underWay.add(giveUp);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Calls `onEnd` once, with the reason, unless the caller closes the stream first. */
  stream(
    { path, metadata }: GrpcCall,
    onMessage: (message: Buffer) => void,
    onEnd: (error: CausewayError) => void,
  ): GrpcStream {
    this.#refuseClosed();
    const call = this.#client.makeBidiStreamRequest(path, same, same, metadataOf(metadata));
    let hasEnded = false;
    const cancel = () => {
      hasEnded = true;
      this.#underWay.delete(end);
      call.cancel();
    };
    const end = (reason: CausewayError) => {
      if (hasEnded) return;
      cancel();
      onEnd(reason);
    };
    this.#underWay.add(end);
    call.on('data', (message: Buffer) => {
      if (!hasEnded) onMessage(message);
    });
    call.on('error', (error: ServiceError) => end(statusError(error)));
    call.on('end', () => end(connectionError(this.endpoint, new Error('the stream ended'))));
    return {
      send: (message) => {
        if (!hasEnded) call.write(message);
      },
      close: cancel,
    };
  }

  /** Ends every running call. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const reason = connectionError(this.endpoint, new Error('the connection was closed'));
    for (const end of [...this.#underWay]) end(reason);
    this.#client.close();
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw connectionError(this.endpoint, new Error('the connection is closed'));
  }
}

/** The caller encodes and decodes messages. */
const same = (message: Buffer): Buffer => message;
const noResponse = () => new Error('no response');
const statusError = ({ code, details }: ServiceError) => grpcError(code, details);

function metadataOf(entries: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(entries)) metadata.set(name, value);
  return metadata;
}

function targetOf(endpoint: string): string {
  const { protocol, hostname, port } = new URL(endpoint);
  return `dns:///${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/**
 * Node refuses an IP address as the server name of a TLS client, and grpc-js uses the host of the endpoint.
 * For an IP address another server name is set, and the certificate is checked against the address.
 */
function serverNameOf(endpoint: string): ChannelOptions {
  return isIP(hostOf(endpoint)) === 0 ? {} : { 'grpc.ssl_target_name_override': 'etcd' };
}

function credentialsOf(endpoint: string, { ca, certificate, key }: TlsFiles): ChannelCredentials {
  if (new URL(endpoint).protocol !== 'https:') return credentials.createInsecure();
  const bytes = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(bytes(ca), bytes(key), bytes(certificate), {
    checkServerIdentity: (_, peer) => checkServerIdentity(hostOf(endpoint), peer),
  });
}

function hostOf(endpoint: string): string {
  return new URL(endpoint).hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Resolves when the channel is connected. Rejects when its first attempt fails. */
async function firstAttempt(client: Client, signal: AbortSignal): Promise<void> {
  const channel = client.getChannel();
  for (;;) {
    if (signal.aborted) throw abortedBy(signal);
    const state = channel.getConnectivityState(true);
    switch (state) {
      case connectivityState.READY:
        return;
      case connectivityState.TRANSIENT_FAILURE:
      case connectivityState.SHUTDOWN:
        throw await reasonOfFailure(client);
      case connectivityState.IDLE:
      case connectivityState.CONNECTING:
        await stateChange(client, state, signal);
    }
  }
}

function stateChange(client: Client, from: connectivityState, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortedBy(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    client.getChannel().watchConnectivityState(from, Infinity, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}

/** A channel does not report why it failed. A call on a failed channel ends at once with the reason. */
function reasonOfFailure(client: Client): Promise<Error> {
  return new Promise((resolve) => {
    client.makeUnaryRequest('/', same, same, Buffer.alloc(0), (error) =>
      resolve(new Error(error?.details ?? 'the connection failed')),
    );
  });
}
