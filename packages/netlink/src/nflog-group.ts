import { CausewayError } from '@causeway/base/error/causeway-error';
import { messageError, netlinkAck, netlinkRequest } from './constants.ts';
import { readMessages } from './reader.ts';
import type { NetlinkSocket } from './system-calls.ts';
import { MessageWriter } from './writer.ts';

/** Constants of linux/netfilter/nfnetlink_log.h. */
const configMessage = (4 << 8) | 1;
const attribute = { command: 1, mode: 2, bufferSize: 3, timeout: 4, threshold: 5 } as const;
const bindCommand = 1;
const copyPacket = 2;
const wholePacket = 0xffff;

/**
 * Several packets share one datagram, which delays them by a hundredth of a second at most: a pod takes
 * longer.
 */
const batch = { packets: 32, hundredths: 1, bytes: 128 * 1024 };

/** Makes the socket receive everything that rules log to the group. Only one process can. */
export function listenToGroup(socket: NetlinkSocket, group: number): void {
  configure(socket, group, (writer) => writer.u8(attribute.command, bindCommand));
  configure(socket, group, (writer) => {
    writer.raw(attribute.mode, 6, (buffer, at) => {
      buffer.writeUInt32BE(wholePacket, at);
      buffer[at + 4] = copyPacket;
      buffer[at + 5] = 0;
    });
    writer.u32(attribute.bufferSize, batch.bytes);
    writer.u32(attribute.timeout, batch.hundredths);
    writer.u32(attribute.threshold, batch.packets);
  });
}

function configure(
  socket: NetlinkSocket,
  group: number,
  write: (writer: MessageWriter) => void,
): void {
  const writer = new MessageWriter(256);
  writer.message(configMessage, netlinkRequest | netlinkAck, 1, 0, group);
  write(writer);
  writer.endMessage();
  socket.send(writer.bytes());
  for (;;) {
    for (const { type, payload } of readMessages(socket.receive())) {
      if (type !== messageError) continue;
      const errno = -payload.readInt32LE(0);
      if (errno === 0) return;
      throw new CausewayError(
        errno === 1 || errno === 16 ? 'forbidden' : 'unavailable',
        `the kernel does not bind NFLOG group ${group}: errno ${errno}`,
        { hint: 'Another process may use it: choose another group, or stop that process.' },
      );
    }
  }
}
