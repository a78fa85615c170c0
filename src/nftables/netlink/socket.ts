import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { CausewayError } from '../../domain/error.ts';
import { abortedBy } from '../../runtime/clock.ts';

export interface SocketOptions {
  /** A path such as /run/netns/blue; the process's own namespace when left out. */
  readonly networkNamespace?: string;
}

/** Bytes for the kernel, and the numbers of the first and last message in them. */
export interface ExchangeRequest {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly first: number;
  readonly last: number;
}

export type ExchangeReply =
  | { readonly kind: 'ready'; readonly portId: number }
  | { readonly kind: 'reply'; readonly id: number; readonly bytes: Uint8Array }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly errno: number;
      readonly message: string;
    };

interface Waiting {
  resolve(bytes: Buffer): void;
  reject(error: Error): void;
}

/** A netlink socket in a thread of its own, so that no system call holds up the event loop. */
export class ExchangeSocket {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #sequence = 1;
  readonly portId: number;

  private constructor(worker: Worker, portId: number) {
    this.#worker = worker;
    this.portId = portId;
    worker.on('message', (reply: ExchangeReply) => this.#settle(reply));
    worker.on('error', (error) => this.#fail(CausewayError.from(error)));
    worker.on('exit', () =>
      this.#fail(new CausewayError('unavailable', 'the netlink thread has ended')),
    );
  }

  static async open(options: SocketOptions): Promise<ExchangeSocket> {
    const worker = new Worker(workerFile('exchange'), {
      workerData: options,
      trackUnmanagedFds: false,
    });
    const { portId } = await firstMessage<{ portId: number }>(worker);
    return new ExchangeSocket(worker, portId);
  }

  /** Numbers for so many messages, each used once. */
  reserveSequence(count: number): number {
    const first = this.#sequence;
    this.#sequence = (first + count) % 0x7fffffff;
    return first;
  }

  /**
   * Sends the bytes, which must not be used afterwards, and resolves with everything the kernel
   * answered. Once sent it cannot be taken back, so the signal only keeps it from being sent.
   */
  exchange(bytes: Buffer, first: number, last: number, signal?: AbortSignal): Promise<Buffer> {
    if (signal?.aborted === true) return Promise.reject(abortedBy(signal));
    const id = this.#nextId;
    this.#nextId += 1;
    const request: ExchangeRequest = { id, bytes: bytes as Uint8Array<ArrayBuffer>, first, last };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage(request, [request.bytes.buffer]);
    });
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.postMessage('close');
    await ended;
  }

  #settle(reply: ExchangeReply): void {
    if (reply.kind === 'ready') return;
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.kind === 'reply') {
      const { buffer, byteOffset, byteLength } = reply.bytes;
      waiting?.resolve(Buffer.from(buffer, byteOffset, byteLength));
    } else {
      waiting?.reject(new CausewayError('unavailable', reply.message));
    }
  }

  #fail(error: CausewayError): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

/** A thread's program lies beside this file and ends as it does: in the sources and once compiled. */
export function workerFile(name: string): URL {
  return new URL(`./${name}.worker${path.extname(import.meta.url)}`, import.meta.url);
}

/** What a worker says first; rejects if it ends or fails before that. */
export function firstMessage<T>(worker: Worker): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => () => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      act();
    };
    const onMessage = (message: T) => settle(() => resolve(message))();
    const onError = (error: unknown) => settle(() => reject(CausewayError.from(error)))();
    const onExit = settle(() =>
      reject(new CausewayError('unavailable', 'the netlink thread ended at once')),
    );
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
