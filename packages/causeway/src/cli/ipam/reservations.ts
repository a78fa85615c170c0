import type { Command } from 'commander';
import { speaksWithServer, withServer } from './connection.ts';
import { onCluster } from './shared-options.ts';
import { printReservations } from './print-reservations.ts';

/** `causeway ipam reservations`: the reservations of a cluster. */
export function reservationsCommand(): Command {
  const command = onCluster('reservations').description('list the reservations of a cluster');
  return speaksWithServer(command).action(async (site: string, cluster: string) => {
    const request = { params: { site, cluster } };
    const answer = await withServer(command, (call) => call('listReservations', request));
    printReservations(command, answer.items);
  });
}
