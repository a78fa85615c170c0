import type { ForeignChange } from '../driver.ts';
import { messages, subsystemNftables } from '@causeway/netlink/constants';
import { messageAttributes, readMessages } from '@causeway/netlink/reader';

const words: Readonly<Record<number, string>> = {
  [messages.newTable]: 'the table was changed',
  [messages.deleteTable]: 'the table was removed',
  [messages.newChain]: 'a chain was added',
  [messages.deleteChain]: 'a chain was removed',
  [messages.newRule]: 'a rule was added',
  [messages.deleteRule]: 'a rule was removed',
  [messages.newSet]: 'a set was added',
  [messages.deleteSet]: 'a set was removed',
  [messages.newElements]: 'elements were added',
  [messages.deleteElements]: 'elements were removed',
};

/** The kernel's notifications about our table that we did not cause. */
export function* foreignChanges(
  bytes: Buffer,
  table: string,
  isOurs: (port: number) => boolean,
): Iterable<ForeignChange> {
  for (const message of readMessages(bytes)) {
    if (message.type >> 8 !== subsystemNftables || isOurs(message.port)) continue;
    const what = words[message.type & 0xff];
    // The first attribute of each of these messages is the table's name.
    if (what === undefined || messageAttributes(message).text(1) !== table) continue;
    yield { table, what };
  }
}
