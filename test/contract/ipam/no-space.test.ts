import { expect, test } from 'vitest';
import { EtcdLedger } from '../../../packages/causeway/src/ipam/etcd-ledger.ts';
import { WriteWatch } from '../../../packages/causeway/src/ipam/write-watch.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { startEtcdCluster } from '../../services/etcd-cluster.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { never } from './server-under-test.ts';

const withEtcd = await isAvailable(() => ensureProgram('etcd'));

test.skipIf(!withEtcd)(
  "etcd's alarm NOSPACE is noticed without a change, and its end too",
  async () => {
    const etcd = await startEtcdCluster({ members: 1 });
    const ledger = new EtcdLedger({ endpoints: etcd.endpoints, clock: systemClock, root: '/w/' });
    const alarm = async (action: string) => {
      const { header } = await etcd.call(0, 'kv/range', { key: 'YQ==' });
      const memberID = (header as { member_id: string }).member_id;
      await etcd.call(0, 'maintenance/alarm', { action, memberID, alarm: 'NOSPACE' });
    };
    const options = { ledger, clock: systemClock, log: discardLog, metrics: noMetrics };
    const watch = new WriteWatch(options);
    const before = await ledger.barrier(never);
    await watch.check(never);
    expect(watch.problem).toBeUndefined();
    expect(await ledger.barrier(never)).toBe(before);
    await alarm('ACTIVATE');
    await watch.check(never);
    expect(watch.problem).toContain('alarm disarm');
    // Reads work: the server stays ready for them.
    expect(await ledger.barrier(never)).toBe(before);
    await alarm('DEACTIVATE');
    await watch.check(never);
    expect(watch.problem).toBeUndefined();
    await ledger.close();
    await etcd.stop();
  },
  120_000,
);
