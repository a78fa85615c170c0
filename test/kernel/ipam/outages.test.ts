import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAvailable } from '../../services/missing.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { ensureProgram } from '../../services/programs.ts';
import { logTail } from '../../services/service-process.ts';
import { HopelessError, waitFor } from '../../services/wait-for.ts';
import { isReady, LedgerLab, type Allocator, type Direction } from './ledger-lab.ts';
import { Tenant } from './tenant.ts';

const available = canUseNamespaces() && (await isAvailable(() => ensureProgram('etcd')));

/** One allocator for each: how long its packets are dropped. */
const outageSeconds = [1, 4, 8, 15];
/** An outage of this length is longer than every time limit of a call to etcd. */
const noticedSeconds = 8;

describe.skipIf(!available)('allocators on an etcd of three members', () => {
  let lab: LedgerLab;
  let tenants: Tenant[] = [];
  let pids: number[] = [];
  beforeAll(async () => {
    lab = await LedgerLab.start(outageSeconds.length);
    await lab.prepareSite('10.7.0.1-10.7.0.200', 50);
    pids = lab.allocators.map(({ process }) => process.pid);
    tenants = lab.allocators.map((allocator) => new Tenant(allocator, lab.site));
  });
  afterAll(() => lab.stop());

  const isAlive = (allocator: Allocator) => {
    if (allocator.process.isRunning()) return;
    throw new HopelessError(`${allocator.name} ended:\n${logTail(allocator.logFile)}`);
  };
  /** Waits until every tenant has new answers: the service continues. */
  const serviceGoesOn = async () => {
    const before = tenants.map(({ acknowledged }) => acknowledged);
    for (const [index, allocator] of lab.allocators.entries()) {
      await isReady(allocator);
      await waitFor(`answers of ${allocator.name}`, () => {
        isAlive(allocator);
        return (tenants[index]?.acknowledged ?? 0) > (before[index] ?? 0) + 10;
      });
    }
    expect(lab.allocators.map(({ process }) => process.pid)).toEqual(pids);
  };
  const saysNotReady = (allocator: Allocator) =>
    waitFor(`${allocator.name} to say that it is not ready`, async () => {
      isAlive(allocator);
      const { isReady: ready, text } = await allocator.readiness();
      return !ready && text;
    });

  test.each<Direction>(['to etcd', 'from etcd'])(
    'continue after packets %s were dropped for 1, 4, 8 and 15 s',
    async (direction) => {
      await serviceGoesOn();
      const outages = outageSeconds.map(async (seconds, index) => {
        const allocator = lab.allocators[index];
        if (allocator === undefined) throw new Error('no allocator');
        await lab.drop(allocator, direction);
        const isNoticed = seconds < noticedSeconds ? undefined : saysNotReady(allocator);
        await delay(seconds * 1_000);
        await isNoticed?.then((text) => expect(text).toContain('ledger'));
        await lab.letThrough(allocator);
      });
      await Promise.all(outages);
      await serviceGoesOn();
    },
  );

  test('report that they are not ready while etcd has no quorum, and continue when it has', async () => {
    await serviceGoesOn();
    await lab.dropBetweenMembers();
    for (const allocator of lab.allocators)
      expect(await saysNotReady(allocator)).toContain('ledger');
    await lab.letThroughBetweenMembers();
    await serviceGoesOn();
  });

  test('lost no acknowledged reservation and assigned no address twice', async () => {
    for (const tenant of tenants) await tenant.stop();
    for (const by of lab.allocators) {
      const held: string[] = [];
      for (const tenant of tenants) {
        const result = await tenant.compare(by);
        expect(result.problems).toEqual([]);
        held.push(...result.held);
      }
      expect(new Set(held).size).toBe(held.length);
      expect(held.length).toBeGreaterThan(0);
    }
    const codes = new Set(tenants.flatMap(({ failures }) => [...failures]));
    expect([...codes].filter((code) => code !== 'unavailable' && code !== 'timeout')).toEqual([]);
  });

  test('report that they are ready after an outage without changes in the ledger', async () => {
    for (const allocator of lab.allocators) await lab.drop(allocator, 'to etcd');
    for (const allocator of lab.allocators) await saysNotReady(allocator);
    for (const allocator of lab.allocators) await lab.letThrough(allocator);
    for (const allocator of lab.allocators) await isReady(allocator);
  });
});
