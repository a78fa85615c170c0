import fs from 'node:fs';
import { Worker } from 'node:worker_threads';
import { firstMessage, workerFile, type SocketOptions } from './socket.ts';

export interface EventSocketOptions extends SocketOptions {
  /** The multicast group to listen to. */
  readonly group: number;
}

type EventMessage =
  | { readonly kind: 'events'; readonly bytes: Uint8Array }
  | { readonly kind: 'overrun' };

export interface EventListener {
  onEvents(bytes: Buffer): void;
  /** Some were lost. */
  onOverrun(): void;
}

/** Listens to the kernel's announcements in a thread of its own. */
export class EventSocket {
  readonly #worker: Worker;
  readonly #stop: number;

  private constructor(worker: Worker, stop: number, listener: EventListener) {
    this.#worker = worker;
    this.#stop = stop;
    worker.on('message', (message: EventMessage) => {
      if (message.kind === 'overrun') {
        listener.onOverrun();
      } else {
        const { buffer, byteOffset, byteLength } = message.bytes;
        listener.onEvents(Buffer.from(buffer, byteOffset, byteLength));
      }
    });
  }

  static async open(options: EventSocketOptions, listener: EventListener): Promise<EventSocket> {
    const worker = new Worker(workerFile('events'), {
      workerData: options,
      trackUnmanagedFds: false,
    });
    const { stop } = await firstMessage<{ stop: number }>(worker);
    return new EventSocket(worker, stop, listener);
  }

  /** The thread waits in the kernel; writing to the descriptor wakes it for the last time. */
  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    const one = Buffer.alloc(8);
    one.writeBigUInt64LE(1n);
    await new Promise<void>((resolve, reject) => {
      fs.write(this.#stop, one, (error) => (error === null ? resolve() : reject(error)));
    });
    await ended;
    await new Promise<void>((resolve) => fs.close(this.#stop, () => resolve()));
  }
}
