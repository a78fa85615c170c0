// Reservations of many clusters in one ledger on etcd, compared with bare transactions of the same size.

import { EtcdLedger } from '../../packages/causeway/src/ipam/etcd-ledger.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { startEtcdCluster } from '../../test/services/etcd-cluster.ts';
import {
  bareTransaction,
  never,
  prepareSite,
  rateOf,
  reserveInProcess,
  runAllocator,
  spiedOn,
} from '../ipam-load.ts';
import { inRounds, type GrowthSuite, type Point } from './curve.ts';

const clusterCounts = [1, 10, 100, 1_000] as const;
const rounds = 5;
const callers = 64;
const milliseconds = 1_500;

/** The cost of a reservation, in parts of a second, with this many concurrent clusters. */
async function measure(at: number): Promise<readonly Point[]> {
  const etcd = await startEtcdCluster({ members: 1, fsync: true });
  const root = '/causeway/ipam/';
  const spied = spiedOn(new EtcdLedger({ endpoints: etcd.endpoints, root, clock: systemClock }));
  const { ledger } = spied;
  const running = await runAllocator(ledger);
  try {
    await prepareSite(running.allocator, at);
    await reserveInProcess(running.allocator, 0);
    let bare = 0;
    let asked = 0;
    const like = spied.last();
    if (like === undefined) throw new Error('no transaction was seen');
    const subject = {
      series: 'reservation',
      at,
      measure: async () =>
        1 /
        (await rateOf(
          milliseconds,
          () => reserveInProcess(running.allocator, (asked += 1) % at),
          callers,
        )),
    };
    const [series] = await inRounds(
      rounds,
      [subject],
      async () =>
        1 /
        (await rateOf(
          milliseconds,
          () => ledger.commit(bareTransaction(like, (bare += 1)), never),
          callers,
        )),
    );
    return series?.points ?? [];
  } finally {
    await running.stop();
    await ledger.close();
    await etcd.stop();
  }
}

export const suite: GrowthSuite = {
  name: 'clusters',
  async run() {
    const points: Point[] = [];
    for (const at of clusterCounts) points.push(...(await measure(at)));
    return {
      'reservation-by-clusters': {
        title: 'A reserved address, 64 requests at a time',
        along: 'clusters',
        baseline: 'a bare etcd transaction of its size',
        series: [{ name: 'Causeway', points }],
      },
    };
  },
};
