import fs from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageAttributes, readMessages } from '../../nftables/netlink/reader.ts';
import { firstMessage, type SocketOptions } from '../../nftables/netlink/socket.ts';

export interface PacketTapOptions extends SocketOptions {
  /** The NFLOG group that rules copy packets to. */
  readonly logGroup: number;
  /** The name of the TUN device that packets are put back through. */
  readonly device: string;
}

export interface PacketTapListener {
  onPacket(packet: Buffer): void;
  /** The kernel had more than its buffer held: some are lost, and clients send them again. */
  onOverrun(): void;
}

/** Where packets of sleeping Services come from and are put back. Two implementations: the kernel, and memory in tests. */
export interface PacketTap {
  /** Puts a packet on its way as if it had just arrived; false if the kernel did not take it. */
  inject(packet: Buffer): boolean;
}

type WorkerMessage =
  | { readonly kind: 'packets'; readonly bytes: Uint8Array }
  | { readonly kind: 'overrun' };

const payloadAttribute = 9;
const logPacketMessage = 0x400;

/** Reads copies of logged packets in a thread of its own, and puts packets back through a TUN device. */
export class KernelPacketTap implements PacketTap {
  /** Resolves if the thread fails: then nothing is held any more. */
  readonly failed: Promise<unknown>;
  readonly #stop: number;
  readonly #device: number;
  readonly #ended: Promise<void>;

  private constructor(worker: Worker, { stop, device }: { stop: number; device: number }) {
    this.#stop = stop;
    this.#device = device;
    this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()));
    this.failed = new Promise((resolve) => worker.once('error', resolve));
  }

  static async open(
    options: PacketTapOptions,
    listener: PacketTapListener,
  ): Promise<KernelPacketTap> {
    const file = new URL(`./packet-tap.worker${path.extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(file, { workerData: options, trackUnmanagedFds: false });
    const tap = new KernelPacketTap(
      worker,
      await firstMessage<{ stop: number; device: number }>(worker),
    );
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'overrun') listener.onOverrun();
      else for (const packet of loggedPackets(message.bytes)) listener.onPacket(packet);
    });
    return tap;
  }

  inject(packet: Buffer): boolean {
    try {
      return fs.writeSync(this.#device, packet) === packet.length;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    const one = Buffer.alloc(8);
    one.writeBigUInt64LE(1n);
    fs.writeSync(this.#stop, one);
    await this.#ended;
    fs.closeSync(this.#stop);
    fs.closeSync(this.#device);
  }
}

/** Copies, because the datagram they came in holds many and lives as long as any of them. */
function* loggedPackets(bytes: Uint8Array): Iterable<Buffer> {
  const datagram = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const message of readMessages(datagram)) {
    if (message.type !== logPacketMessage) continue;
    const payload = messageAttributes(message).bytes(payloadAttribute);
    if (payload !== undefined) yield Buffer.from(payload);
  }
}
