import type { Command } from 'commander';
import type { AnswerOf } from '../../ipam/api/operations.ts';
import { print, timeText } from './connection.ts';

export function printReservations(
  command: Command,
  items: readonly AnswerOf<'listReservations'>['items'][number][],
): void {
  print(command, items, [
    {
      title: 'addresses',
      value: ({ addresses }) => addresses.map((each) => each.address).join(','),
    },
    {
      title: 'owner',
      value: ({ namespace, name, purpose }) =>
        name === undefined ? purpose : `${namespace}/${name}`,
    },
    { title: 'uid', value: ({ uid }) => uid },
    { title: 'fencing token', value: ({ fencingToken }) => String(fencingToken) },
    { title: 'since', value: ({ since }) => timeText(since) },
  ]);
}
