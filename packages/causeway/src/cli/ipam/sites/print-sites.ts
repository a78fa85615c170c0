import type { Command } from 'commander';
import { print } from '../connection.ts';
import type { AnswerOf } from '../../../ipam/api/operations.ts';

export function printSites(command: Command, sites: readonly AnswerOf<'setSite'>[]): void {
  print(command, sites, [
    { title: 'site', value: ({ name }) => name },
    { title: 'pools', value: ({ pools }) => pools.join(',') },
    { title: 'clusters', value: ({ clusters }) => String(clusters) },
    { title: 'waiting', value: ({ waiting }) => String(waiting) },
    { title: 'state', value: ({ suspended }) => suspended?.as ?? 'serving' },
  ]);
}
