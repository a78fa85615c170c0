import fs from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { insideLogGroup } from '@causeway/nftables/model/names';
import { messageAttributes, readMessages } from '@causeway/netlink/reader';
import { firstMessage } from '@causeway/netlink/first-message';
import type { SocketOptions } from '@causeway/netlink/open-socket';

export interface PacketTapOptions extends SocketOptions {
  /** The NFLOG group to which rules log packets. */
  readonly logGroup: number;
  /** The name of the TUN device through which packets are replayed. */
  readonly device: string;
  /** TUN device for packets from inside; none where it makes no difference. */
  readonly insideDevice?: string;
  /** Directory of the kernel's settings, /proc/sys by default. */
  readonly settingsDirectory?: string | undefined;
}

export interface PacketTapListener {
  /** `isInside` if the packet came through an interface of pods. */
  onPacket(packet: Buffer, isInside: boolean): void;
  /** The kernel's buffer overran: some packets are lost, and clients send them again. */
  onOverrun(): void;
}

/**
 * Source of the packets to idle Services, and the way to replay them. Two implementations: the kernel, and
 * memory in tests.
 */
export interface PacketTap {
  /** Injects a packet as if it had just arrived; false if the kernel rejected it. */
  inject(packet: Buffer, isInside: boolean): boolean;
}

/** The devices for replayed packets, or the reason why there are none. */
export type Devices =
  | { readonly device: number; readonly insideDevice?: number }
  | { readonly whyNoDevice: string };

type Descriptors = Devices & { readonly stop: number };

type WorkerMessage =
  | { readonly kind: 'packets'; readonly bytes: Uint8Array }
  | { readonly kind: 'overrun' };

const payloadAttribute = 9;
const logPacketMessage = 0x400;
/** Offset in the header of each message. */
const groupAt = 2;
const headerLength = 4;

/** Reads copies of logged packets in a separate thread, and replays packets through a TUN device. */
export class KernelPacketTap implements PacketTap {
  /** Resolves if the thread fails: then packets are no longer held. */
  readonly failed: Promise<unknown>;
  /** Set if packets are received but can't be replayed: clients have to send them again. */
  readonly whyNoDevice: string | undefined;
  readonly #descriptors: Descriptors;
  readonly #ended: Promise<void>;

  private constructor(worker: Worker, descriptors: Descriptors) {
    this.#descriptors = descriptors;
    this.whyNoDevice = 'whyNoDevice' in descriptors ? descriptors.whyNoDevice : undefined;
    this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()));
    this.failed = new Promise((resolve) => worker.once('error', resolve));
  }

  static async open(
    options: PacketTapOptions,
    listener: PacketTapListener,
  ): Promise<KernelPacketTap> {
    const file = new URL(`./packet-tap.worker${path.extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(file, { workerData: options, trackUnmanagedFds: false });
    const tap = new KernelPacketTap(worker, await firstMessage<Descriptors>(worker));
    const insideGroup = insideLogGroup(options.logGroup);
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'overrun') listener.onOverrun();
      for (const { packet, group } of loggedPackets(message)) {
        listener.onPacket(packet, group === insideGroup);
      }
    });
    return tap;
  }

  inject(packet: Buffer, isInside: boolean): boolean {
    if ('whyNoDevice' in this.#descriptors) return false;
    const { device, insideDevice = device } = this.#descriptors;
    try {
      return fs.writeSync(isInside ? insideDevice : device, packet) === packet.length;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    const one = Buffer.alloc(8);
    one.writeBigUInt64LE(1n);
    const { stop, ...devices } = this.#descriptors;
    fs.writeSync(stop, one);
    await this.#ended;
    fs.closeSync(stop);
    if ('whyNoDevice' in devices) return;
    fs.closeSync(devices.device);
    if (devices.insideDevice !== undefined) fs.closeSync(devices.insideDevice);
  }
}

/** Yields copies, because a datagram holds many packets and stays in memory as long as any of them. */
export function* loggedPackets(
  received: WorkerMessage,
): Iterable<{ packet: Buffer; group: number }> {
  if (received.kind === 'overrun') return;
  const { bytes } = received;
  const datagram = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const message of readMessages(datagram)) {
    if (message.type !== logPacketMessage || message.payload.length < headerLength) continue;
    const payload = messageAttributes(message).bytes(payloadAttribute);
    const group = message.payload.readUInt16BE(groupAt);
    if (payload !== undefined) yield { packet: Buffer.from(payload), group };
  }
}
