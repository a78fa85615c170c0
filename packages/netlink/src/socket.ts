import fs from 'node:fs';
import { promisify } from 'node:util';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import { messageDone, messageError } from './constants.ts';
import { openNetlinkSocket, type SocketOptions } from './open-socket.ts';
import { readMessages } from './reader.ts';
import type { NetlinkSocket } from './system-calls.ts';

const write = promisify(fs.write);
const read = promisify(fs.read);

const smallestReserve = 4 * 1024 * 1024;
/** Size of one answer; the kernel makes none larger than half of it. */
const largestAnswer = 65_536;

/**
 * A netlink socket. It is written and read like a file: Node uses its existing threads, so no system call
 * blocks the event loop.
 */
export class ExchangeSocket {
  readonly #socket: NetlinkSocket;
  readonly #answer = Buffer.allocUnsafeSlow(largestAnswer);
  #reserved = 0;
  #sequence = 1;
  /** One exchange after another: a reader takes the first answer that arrives. */
  readonly #exchanges = new SerialQueue();
  #isClosed = false;

  private constructor(socket: NetlinkSocket) {
    this.#socket = socket;
    this.#reserve(smallestReserve);
  }

  static async open(options: SocketOptions): Promise<ExchangeSocket> {
    return new ExchangeSocket(await openNetlinkSocket(options));
  }

  /** The kernel's address of this socket. */
  get portId(): number {
    return this.#socket.portId;
  }

  /** Reserves this number of sequence numbers, each used once. */
  reserveSequence(count: number): number {
    const first = this.#sequence;
    this.#sequence = (first + count) % 0x7fffffff;
    return first;
  }

  /**
   * Sends the bytes, which must not change afterwards, and resolves with the kernel's complete answer. A sent
   * request can't be canceled: the signal only prevents the sending.
   */
  exchange(bytes: Buffer, first: number, last: number, signal?: AbortSignal): Promise<Buffer> {
    if (signal?.aborted === true) return Promise.reject(abortedBy(signal));
    return this.#exchanges.run(() => this.#exchange(bytes, first, last));
  }

  async close(): Promise<void> {
    await this.#exchanges.idle();
    this.#isClosed = true;
    this.#socket.close();
  }

  async #exchange(bytes: Buffer, first: number, last: number): Promise<Buffer> {
    if (this.#isClosed) throw new CausewayError('unavailable', 'the netlink socket is closed');
    try {
      this.#reserve(bytes.length + 64 * 1024);
      await write(this.#socket.fd, bytes);
      const parts: Buffer[] = [];
      for (;;) {
        const { bytesRead } = await read(this.#socket.fd, this.#answer, 0, largestAnswer, null);
        const part = Buffer.from(this.#answer.subarray(0, bytesRead));
        parts.push(part);
        if (isLast(part, first, last)) return parts.length === 1 ? part : Buffer.concat(parts);
      }
    } catch (error) {
      throw new CausewayError('unavailable', `netlink: ${CausewayError.from(error).message}`, {
        cause: error,
      });
    }
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#reserved) return;
    this.#reserved = bytes;
    this.#socket.reserve(bytes, bytes);
  }
}

/** A dump ends with `done`; other exchanges end with the answer to the first or the last message. */
function isLast(part: Buffer, first: number, last: number): boolean {
  for (const { type, sequence } of readMessages(part)) {
    if (type === messageDone && sequence === last) return true;
    if (type === messageError && (sequence === first || sequence === last)) return true;
  }
  return false;
}
