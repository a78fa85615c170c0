import { openNetlinkSocket, type SocketOptions } from './open-socket.ts';
import { noBuffers, SystemCallError, type NetlinkSocket } from './system-calls.ts';

export interface EventSocketOptions extends SocketOptions {
  /** The multicast groups to subscribe to. */
  readonly group: number | readonly number[];
}

export interface EventListener {
  onEvents(bytes: Buffer): void;
  /** Some messages were lost. */
  onOverrun(): void;
}

/** Holds the notifications of a table with tens of thousands of elements until the next check. */
const bufferBytes = 16 * 1024 * 1024;
/** Node can't wait for such a socket, and a thread for it would take 15 MB. */
const checkEveryMs = 50;
/** Datagrams that are read before the event loop runs. */
const datagramsAtOnce = 32;

/** Receives the kernel's notifications. */
export class EventSocket {
  readonly #socket: NetlinkSocket;
  readonly #listener: EventListener;
  readonly #timer: NodeJS.Timeout;
  #more: NodeJS.Immediate | undefined;

  private constructor(socket: NetlinkSocket, listener: EventListener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#timer = setInterval(() => this.#take(), checkEveryMs);
  }

  static async open(options: EventSocketOptions, listener: EventListener): Promise<EventSocket> {
    const socket = await openNetlinkSocket(options);
    socket.reserve(0, bufferBytes);
    for (const group of [options.group].flat()) socket.join(group);
    return new EventSocket(socket, listener);
  }

  close(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#more);
    this.#socket.close();
  }

  #take(): void {
    clearImmediate(this.#more);
    for (let taken = 0; taken < datagramsAtOnce; taken += 1) if (!this.#takeOne()) return;
    this.#more = setImmediate(() => this.#take());
  }

  /** False if nothing has arrived. */
  #takeOne(): boolean {
    try {
      const bytes = this.#socket.receiveNow();
      if (bytes !== undefined) this.#listener.onEvents(bytes);
      return bytes !== undefined;
    } catch (error) {
      // The kernel sent more than the buffer held: notifications were lost.
      if (!(error instanceof SystemCallError) || error.errno !== noBuffers) throw error;
      this.#listener.onOverrun();
      return true;
    }
  }
}
