import fs from 'node:fs';
import { promisify } from 'node:util';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import { messageDone, messageError } from './constants.ts';
import { openNetlinkSocket, type SocketOptions } from './open-socket.ts';
import { headerLength } from './reader.ts';
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
    return this.#exchanges.run(async () => {
      const parts: Buffer[] = [];
      await this.#exchange(bytes, first, last, (part) => void parts.push(Buffer.from(part)));
      const [only] = parts;
      return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    });
  }

  /**
   * Sends the request for a dump, and passes each datagram of the answer to the visitor. The kernel produces the next
   * datagram after the visitor has resolved, so the memory does not depend on the size of the dump. A datagram is valid
   * until then. After an abort or an error of the visitor, the rest of the dump is read and discarded.
   */
  dump(
    bytes: Buffer,
    sequence: number,
    visit: (part: Buffer) => Promise<void> | void,
    signal?: AbortSignal,
  ): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(abortedBy(signal));
    return this.#exchanges.run(async () => {
      const failures: unknown[] = [];
      await this.#exchange(bytes, sequence, sequence, async (part) => {
        if (failures.length > 0 || signal?.aborted === true) return;
        try {
          await visit(part);
        } catch (error) {
          failures.push(error);
        }
      });
      if (signal?.aborted === true) throw abortedBy(signal);
      if (failures.length > 0) throw failures[0];
    });
  }

  async close(): Promise<void> {
    await this.#exchanges.idle();
    this.#isClosed = true;
    this.#socket.close();
  }

  async #exchange(
    bytes: Buffer,
    first: number,
    last: number,
    visit: (part: Buffer) => Promise<void> | void,
  ): Promise<void> {
    if (this.#isClosed) throw new CausewayError('unavailable', 'the netlink socket is closed');
    try {
      this.#reserve(bytes.length + 64 * 1024);
      await write(this.#socket.fd, bytes);
      for (;;) {
        const { bytesRead } = await read(this.#socket.fd, this.#answer, 0, largestAnswer, null);
        const part = this.#answer.subarray(0, bytesRead);
        const isEnd = isLast(part, first, last);
        await visit(part);
        if (isEnd) return;
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

/**
 * A dump ends with `done`; other exchanges end with the answer to the first or the last message. Only the headers are
 * read, because a dump has hundreds of thousands of messages.
 */
function isLast(part: Buffer, first: number, last: number): boolean {
  for (let at = 0; at + headerLength <= part.length; ) {
    const length = part.readUInt32LE(at);
    if (length < headerLength) return false;
    const type = part.readUInt16LE(at + 4);
    const sequence = part.readUInt32LE(at + 8);
    if (type === messageDone && sequence === last) return true;
    if (type === messageError && (sequence === first || sequence === last)) return true;
    at += (length + 3) & ~3;
  }
  return false;
}
