import { CausewayError } from '../../domain/error.ts';

/** gRPC puts five bytes before each message: whether it is compressed (never, here) and its length. */
const headerSize = 5;
/** More than a page of a snapshot or a batch of a watch ever has. */
const largestMessage = 256 * 1024 * 1024;

export function frameOf(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(headerSize + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, headerSize);
  return frame;
}

/** Puts messages together again from whatever pieces the network delivers. */
export class FrameReader {
  readonly #onMessage: (message: Buffer) => void;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    // Joined only when a message is complete, so that a large one costs no more than its size.
    while (this.#size >= headerSize && this.#size >= headerSize + this.#length()) {
      const all = this.#joined();
      const end = headerSize + all.readUInt32BE(1);
      this.#pieces = end < all.length ? [all.subarray(end)] : [];
      this.#size = all.length - end;
      this.#onMessage(all.subarray(headerSize, end));
    }
  }

  #length(): number {
    const first = this.#pieces[0];
    const all = first !== undefined && first.length >= headerSize ? first : this.#joined();
    const length = all.readUInt32BE(1);
    if (all[0] !== 0 || length > largestMessage) {
      throw new CausewayError('internal', 'etcd sent a frame that is compressed or too large');
    }
    return length;
  }

  #joined(): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1) return first;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
