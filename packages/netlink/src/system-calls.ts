import fs from 'node:fs';
import koffi from 'koffi';
import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * The system calls that netlink needs and Node lacks. Calls that open and set up a socket return immediately;
 * calls that send or wait block, so they belong in a worker thread. A thread that enters another network
 * namespace stays there.
 */
const libc = koffi.load(null);
const socketCall = libc.func('int socket(int domain, int type, int protocol)') as (
  domain: number,
  type: number,
  protocol: number,
) => number;
const bindCall = libc.func('int bind(int fd, void *address, int length)') as (
  fd: number,
  address: Buffer,
  length: number,
) => number;
const nameCall = libc.func('int getsockname(int fd, void *address, void *length)') as (
  fd: number,
  address: Buffer,
  length: Buffer,
) => number;
const optionCall = libc.func(
  'int setsockopt(int fd, int level, int name, void *value, int length)',
) as (fd: number, level: number, name: number, value: Buffer, length: number) => number;
const sendCall = libc.func('int64_t send(int fd, void *data, size_t length, int flags)') as (
  fd: number,
  data: Buffer,
  length: number,
  flags: number,
) => number;
const receiveCall = libc.func('int64_t recv(int fd, void *data, size_t length, int flags)') as (
  fd: number,
  data: Buffer,
  length: number,
  flags: number,
) => number;
const pollCall = libc.func('int poll(void *fds, unsigned long count, int timeout)') as (
  fds: Buffer,
  count: number,
  timeout: number,
) => number;
const setnsCall = libc.func('int setns(int fd, int type)') as (fd: number, type: number) => number;
const eventfdCall = libc.func('int eventfd(unsigned int value, int flags)') as (
  value: number,
  flags: number,
) => number;

const netlinkFamily = 16;
const rawSocket = 3;
const closeOnExec = 0x80000;
const netfilterProtocol = 12;
const socketLevel = 1;
const netlinkLevel = 270;
const sendBuffer = { plain: 7, force: 32 } as const;
const receiveBuffer = { plain: 8, force: 33 } as const;
const notPermitted = 1;
const addMembership = 1;
const capAck = 10;
const extendedAck = 11;
const newNetworkNamespace = 0x40000000;
const pollIn = 1;

export const noBuffers = 105;
const interrupted = 4;
const tryAgain = 11;
const doNotWait = 0x40;

/** A failed system call. */
export class SystemCallError extends CausewayError {
  readonly errno: number;

  constructor(call: string, errno: number) {
    const denied = errno === 1 || errno === 13;
    super(denied ? 'forbidden' : 'unavailable', `${call} failed with errno ${errno}`, {
      ...(denied
        ? {
            hint: 'CAP_NET_ADMIN is needed to program nftables, CAP_NET_RAW to receive neighbor messages.',
          }
        : {}),
    });
    this.errno = errno;
  }
}

export function openSocket(domain: number, type: number, protocol: number): number {
  return checked('socket', socketCall(domain, type | closeOnExec, protocol));
}

/** A socket of the kernel's own families. */
export class KernelSocket {
  readonly fd: number;
  readonly #buffer: Buffer;

  constructor(fd: number, largest = 65_536) {
    this.#buffer = Buffer.allocUnsafeSlow(largest);
    this.fd = fd;
  }

  bind(address: Buffer): void {
    checked('bind', bindCall(this.fd, address, address.length));
  }

  option(level: number, name: number, value: Buffer): void {
    checked('setsockopt', optionCall(this.fd, level, name, value, value.length));
  }

  /** Waits for one datagram and returns it in its own memory. */
  receive(): Buffer {
    for (;;) {
      const datagram = this.#receive(0);
      if (datagram !== undefined) return datagram;
    }
  }

  /** One datagram that has arrived; undefined if there is none. */
  receiveNow(): Buffer | undefined {
    return this.#receive(doNotWait);
  }

  #receive(flags: number): Buffer | undefined {
    const length = receiveCall(this.fd, this.#buffer, this.#buffer.length, flags);
    if (length >= 0) return Buffer.from(this.#buffer.subarray(0, length));
    const errno = koffi.errno();
    if (errno === interrupted || errno === tryAgain) return undefined;
    throw new SystemCallError('recv', errno);
  }

  close(): void {
    fs.closeSync(this.fd);
  }

  /** Waits until a datagram can be received; undefined once the other descriptor is readable. */
  static waitForAny(
    sockets: readonly KernelSocket[],
    stop: number,
  ): readonly KernelSocket[] | undefined {
    const fds = Buffer.alloc((sockets.length + 1) * 8);
    for (const [index, fd] of [...sockets.map((socket) => socket.fd), stop].entries()) {
      fds.writeInt32LE(fd, index * 8);
      fds.writeInt16LE(pollIn, index * 8 + 4);
    }
    while (pollCall(fds, sockets.length + 1, -1) < 0) {
      if (koffi.errno() !== interrupted) throw new SystemCallError('poll', koffi.errno());
    }
    const isReady = (index: number) => fds.readInt16LE(index * 8 + 6) !== 0;
    if (isReady(sockets.length)) return undefined;
    return sockets.filter((_, index) => isReady(index));
  }
}

/** A netlink socket in the network namespace of the calling thread. */
export function openNetlink(): number {
  return openSocket(netlinkFamily, rawSocket, netfilterProtocol);
}

/** A netfilter netlink socket. */
export class NetlinkSocket extends KernelSocket {
  /** The kernel's address of this socket. */
  readonly portId: number;

  constructor(fd = openNetlink()) {
    super(fd, 1024 * 1024);
    const address = Buffer.alloc(12);
    address.writeUInt16LE(netlinkFamily, 0);
    this.bind(address);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(address.length);
    checked('getsockname', nameCall(this.fd, address, length));
    this.portId = address.readUInt32LE(4);
    this.#number(netlinkLevel, capAck, 1);
    this.#number(netlinkLevel, extendedAck, 1);
  }

  /** A transaction is one datagram, so the buffer must hold the largest. */
  reserve(sendBytes: number, receiveBytes: number): void {
    this.#grow(sendBuffer, sendBytes);
    this.#grow(receiveBuffer, receiveBytes);
  }

  join(group: number): void {
    this.#number(netlinkLevel, addMembership, group);
  }

  send(bytes: Buffer): void {
    const sent = checked('send', sendCall(this.fd, bytes, bytes.length, 0));
    if (sent !== bytes.length) throw new SystemCallError('send', 0);
  }

  /** Only root of the machine may exceed its limit; root of a user namespace gets up to it. */
  #grow(buffer: typeof sendBuffer | typeof receiveBuffer, bytes: number): void {
    try {
      this.#number(socketLevel, buffer.force, bytes);
    } catch (error) {
      if (!(error instanceof SystemCallError) || error.errno !== notPermitted) throw error;
      this.#number(socketLevel, buffer.plain, bytes);
    }
  }

  #number(level: number, name: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    this.option(level, name, bytes);
  }
}

/** Moves the calling thread into the namespace at the path. */
export function enterNetworkNamespace(path: string): void {
  const fd = fs.openSync(path, 'r');
  try {
    checked('setns', setnsCall(fd, newNetworkNamespace));
  } finally {
    fs.closeSync(fd);
  }
}

/** A descriptor that is readable after eight bytes were written to it. */
export function createEventDescriptor(): number {
  return checked('eventfd', eventfdCall(0, closeOnExec));
}

function checked(call: string, result: number): number {
  if (result < 0) throw new SystemCallError(call, koffi.errno());
  return result;
}
