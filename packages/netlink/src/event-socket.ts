import { openNetlinkSocket, type SocketOptions } from './open-socket.ts';
import { noBuffers, SystemCallError, type NetlinkSocket } from './system-calls.ts';

export interface EventSocketOptions extends SocketOptions {
  /** The multicast group to listen to. */
  readonly group: number;
}

export interface EventListener {
  onEvents(bytes: Buffer): void;
  /** Some were lost. */
  onOverrun(): void;
}

/** Room for the announcement of a table with tens of thousands of elements, until somebody looks. */
const bufferBytes = 16 * 1024 * 1024;
/** Node can't wait for such a socket, and a thread that does would take 15 MB. */
const checkEveryMs = 50;
/** Datagrams that are taken before the event loop gets its turn. */
const datagramsAtOnce = 32;

/** Listens to the kernel's announcements. */
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
    socket.join(options.group);
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

  /** False where nothing has arrived. */
  #takeOne(): boolean {
    try {
      const bytes = this.#socket.receiveNow();
      if (bytes !== undefined) this.#listener.onEvents(bytes);
      return bytes !== undefined;
    } catch (error) {
      // The kernel announced more than the buffer held: something was missed.
      if (!(error instanceof SystemCallError) || error.errno !== noBuffers) throw error;
      this.#listener.onOverrun();
      return true;
    }
  }
}
