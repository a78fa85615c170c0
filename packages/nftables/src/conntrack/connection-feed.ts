import { setImmediate } from 'node:timers/promises';
import type { Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  groupsConntrack,
  messageDone,
  messageError,
  subsystemConntrack,
} from '@causeway/netlink/constants';
import { EventSocket } from '@causeway/netlink/event-socket';
import type { SocketOptions } from '@causeway/netlink/open-socket';
import { messageAttributes, readMessages, type Message } from '@causeway/netlink/reader';
import { ExchangeSocket } from '@causeway/netlink/socket';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { kernelErrors } from '../drivers/netlink/kernel-error.ts';
import { families, protocolNumbers } from '../model/operands.ts';
import { decodeConnection, listRequest, type Tracked } from './tracked-connection.ts';

export interface ConnectionListener {
  began(connection: Tracked): void;
  ended(connection: Tracked): void;
  /** All later connections are reported. */
  onListening(): void;
  /** Events were lost: a new listing is necessary. */
  onLoss(): void;
}

const destroyed = 2;
const addressFamilies: Readonly<Record<number, Family>> = { 2: 4, 10: 6 };
/** Entries that are decoded before the event loop runs. */
const decodedAtOnce = 500;

/** Reports the beginning and the end of TCP connections from conntrack's events, until the signal fires. */
export async function followConnections(
  listener: ConnectionListener,
  signal: AbortSignal,
  options: SocketOptions = {},
): Promise<void> {
  const socket = await EventSocket.open(
    { ...options, group: [groupsConntrack.new, groupsConntrack.destroy] },
    {
      onEvents: (bytes) => {
        for (const message of readMessages(bytes)) handleEvent(message, listener);
      },
      onOverrun: () => listener.onLoss(),
    },
  );
  try {
    listener.onListening();
    await whenAborted(signal);
  } finally {
    socket.close();
  }
}

/** All TCP connections in conntrack. The event loop runs in between. */
export async function* listConnections(
  signal?: AbortSignal,
  options: SocketOptions = {},
): AsyncGenerator<Tracked> {
  const socket = await ExchangeSocket.open(options);
  try {
    for (const family of families) yield* listFamily(socket, family, signal);
  } finally {
    await socket.close();
  }
}

async function* listFamily(
  socket: ExchangeSocket,
  family: Family,
  signal: AbortSignal | undefined,
): AsyncGenerator<Tracked> {
  const query = { family, protocol: protocolNumbers.TCP };
  const sequence = socket.reserveSequence(1);
  const answer = await socket.exchange(listRequest(query, sequence), sequence, sequence, signal);
  const [error] = kernelErrors(answer);
  if (error !== undefined) {
    throw new CausewayError('unavailable', `conntrack could not be read: errno ${error.errno}`);
  }
  let decoded = 0;
  for (const message of readMessages(answer)) {
    if (message.type === messageDone || message.type === messageError) continue;
    const tracked = decodeConnection(messageAttributes(message), query);
    if (tracked !== undefined) yield tracked;
    decoded += 1;
    if (decoded % decodedAtOnce === 0) await setImmediate();
  }
}

function handleEvent(message: Message, listener: ConnectionListener): void {
  if (message.type >> 8 !== subsystemConntrack) return;
  const family = addressFamilies[message.payload[0] ?? 0];
  if (family === undefined) return;
  const tracked = decodeConnection(messageAttributes(message), {
    family,
    protocol: protocolNumbers.TCP,
  });
  if (tracked === undefined) return;
  if ((message.type & 0xff) === destroyed) listener.ended(tracked);
  else listener.began(tracked);
}
