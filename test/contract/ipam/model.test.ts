import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Allocator } from '../../../packages/causeway/src/ipam/allocator.ts';
import { EtcdLedger } from '../../../packages/causeway/src/ipam/etcd-ledger.ts';
import type { Ledger } from '../../../packages/causeway/src/ipam/ledger.ts';
import { poolSpecSchema } from '../../../packages/causeway/src/ipam/records.ts';
import { setPool, setSite } from '../../../packages/causeway/src/ipam/site-decisions.ts';
import { SqliteLedger } from '../../../packages/causeway/src/ipam/sqlite-ledger.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { startEtcdCluster } from '../../services/etcd-cluster.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { clusters, commands, makeCluster, run, type Real } from './allocator-commands.ts';
import { addressNumber, SiteModel } from './allocator-model.ts';

const withEtcd = await isAvailable(() => ensureProgram('etcd'));

const places = {
  SQLite: {
    runs: 150,
    open: async () => {
      const directory = await scratchDirectory('model');
      const ledger = await SqliteLedger.open(path.join(directory, 'ipam.db'));
      return { ledger, close: () => removeDirectory(directory) };
    },
  },
  etcd: {
    runs: 40,
    open: async () => {
      const etcd = await startEtcdCluster({ members: 1 });
      const ledger = new EtcdLedger({ endpoints: etcd.endpoints, clock: systemClock, root: '/m/' });
      return { ledger, close: () => etcd.stop() };
    },
  },
};

describe.each(Object.entries(places))('the allocator on %s', (name, { runs, open }) => {
  const isHere = name !== 'etcd' || withEtcd;
  let place: { ledger: Ledger; close(): Promise<void> };
  let allocator: Allocator;
  let following: Promise<void>;
  let now = 0;
  let sites = 0;
  const stop = new AbortController();
  beforeAll(async () => {
    if (!isHere) return;
    place = await open();
    const clock = { ...systemClock, wallTime: () => now };
    allocator = new Allocator({ ledger: place.ledger, clock, log: discardLog });
    following = allocator.follower.run(stop.signal);
    await allocator.follower.reached(1, stop.signal);
  });
  afterAll(async () => {
    if (!isHere) return;
    stop.abort();
    await following;
    await place.ledger.close();
    await place.close();
  });

  test.skipIf(!isHere)('behaves like a simple model of it for any requests', async () => {
    const setting = fc.record({
      quota: fc.integer({ min: 1, max: 3 }),
      quarantineMs: fc.constantFrom(0, 100),
      keepMs: fc.constantFrom(0, 500),
    });
    await fc.assert(
      fc.asyncProperty(setting, commands, async ({ quota, quarantineMs, keepMs }, asked) => {
        const model = new SiteModel(quota, quarantineMs, keepMs);
        const site = `site-${(sites += 1)}`;
        const real: Real = { allocator, site, setTime: (time) => (now = time) };
        real.setTime(model.now);
        const settings = { quarantineMs, keepMs };
        await run(real, setSite({ site, settings }));
        const addresses = [`${addressNumber(0)}-${addressNumber(3)}`];
        await run(real, setPool({ site, pool: poolSpecSchema.parse({ name: 'p', addresses }) }));
        model.pool = new Set([0, 1, 2, 3].map(addressNumber));
        for (const cluster of clusters) await makeCluster(real, cluster, quota);
        await fc.asyncModelRun(() => ({ model, real }), asked);
        const held = [...model.held.values()].map((each) => each.address);
        expect(new Set(held).size).toBe(held.length);
      }),
      { numRuns: runs },
    );
  });
});
