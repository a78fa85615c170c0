import type { Command } from 'commander';
import { print } from '../connection.ts';
import type { AnswerOf } from '../../../ipam/api/operations.ts';

export function printPools(command: Command, pools: readonly AnswerOf<'setPool'>[]): void {
  print(command, pools, [
    { title: 'pool', value: ({ name }) => name },
    { title: 'addresses', value: ({ addresses }) => addresses.join(',') },
    { title: 'total', value: ({ usage }) => String(usage.total) },
    {
      title: 'held',
      value: ({ usage: { held, outside = 0 } }) =>
        outside === 0 ? String(held) : `${held} and ${outside} outside`,
    },
    { title: 'quarantined', value: ({ usage }) => String(usage.quarantined) },
    { title: 'free', value: ({ usage }) => String(usage.free) },
    { title: 'drained', value: ({ drained }) => (drained ? 'yes' : '') },
  ]);
}
