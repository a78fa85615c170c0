import type { Family } from '@causeway/base/address/address';
import { groupsConntrack, subsystemConntrack } from '@causeway/netlink/constants';
import { EventSocket } from '@causeway/netlink/event-socket';
import type { SocketOptions } from '@causeway/netlink/open-socket';
import { readMessages, type Message } from '@causeway/netlink/reader';
import { ExchangeSocket } from '@causeway/netlink/socket';
import { whenAborted } from '@causeway/base/time/when-aborted';
import { families, protocolNumbers } from '../model/operands.ts';
import { connectionOf, connectionsIn } from './read-connections.ts';
import { listRequest, type Tracked } from './tracked-connection.ts';

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

/** Passes all TCP connections in conntrack to the visitor. A connection is valid during its visit. */
export async function listConnections(
  visit: (connection: Tracked) => void,
  signal?: AbortSignal,
  options: SocketOptions = {},
): Promise<void> {
  const socket = await ExchangeSocket.open(options);
  try {
    for (const family of families) {
      const query = { family, protocol: protocolNumbers.TCP };
      const sequence = socket.reserveSequence(1);
      const visitAll = (part: Buffer) => {
        for (const connection of connectionsIn(part, query)) visit(connection);
      };
      await socket.dump(listRequest(query, sequence), sequence, visitAll, signal);
    }
  } finally {
    await socket.close();
  }
}

function handleEvent(message: Message, listener: ConnectionListener): void {
  if (message.type >> 8 !== subsystemConntrack) return;
  const family = addressFamilies[message.payload[0] ?? 0];
  if (family === undefined) return;
  const tracked = connectionOf(message.payload, { family, protocol: protocolNumbers.TCP });
  if (tracked === undefined) return;
  if ((message.type & 0xff) === destroyed) listener.ended(tracked);
  else listener.began(tracked);
}
