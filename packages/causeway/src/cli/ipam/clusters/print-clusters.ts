import type { Command } from 'commander';
import type { AnswerOf } from '../../../ipam/api/operations.ts';
import { print, timeText } from '../connection.ts';

export function printClusters(command: Command, clusters: readonly AnswerOf<'getCluster'>[]): void {
  print(command, clusters, [
    { title: 'cluster', value: ({ cluster }) => cluster },
    { title: 'health', value: ({ health }) => health },
    { title: 'last heartbeat', value: ({ lastHeartbeat }) => timeText(lastHeartbeat) },
    // If addresses are reclaimed without this promise, the cluster may still be announcing them.
    { title: 'promise', value: ({ withdrawsAfterMs }) => promiseText(withdrawsAfterMs) },
    { title: 'addresses', value: ({ addresses }) => String(addresses) },
    { title: 'quota', value: ({ quota }) => String(quota ?? '') },
  ]);
}

function promiseText(withdrawsAfterMs: number | undefined): string {
  return withdrawsAfterMs === undefined ? 'none' : `withdraws after ${withdrawsAfterMs / 1000} s`;
}
