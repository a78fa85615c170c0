import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { diff, replacement } from '../../../packages/nftables/src/plan/diff.ts';
import type { Driver, ForeignChange } from '../../../packages/nftables/src/drivers/driver.ts';
import { buildRuleset } from '../../../packages/nftables/src/compile/layout.ts';
import { MemoryDriver } from '../../../packages/nftables/src/drivers/memory-driver.ts';
import { NetlinkDriver } from '../../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import { NftDriver } from '../../../packages/nftables/src/drivers/nft-driver.ts';
import { isEmpty } from '../../../packages/nftables/src/model/transaction.ts';
import { canUseNamespaces, TestNetwork, type Host } from '../../services/namespaces.ts';
import { waitForListeners } from './listeners.ts';
import { everything } from './sample.ts';

const table = 'contract';
const wanted = buildRuleset(everything(table));
const strangersEdit = ['add', 'element', 'inet', table, 'addresses4', '{ 198.51.100.1 }'];

let network: TestNetwork;
let host: Host;
let nextHost = 1;

describe.skipIf(!canUseNamespaces())("the agent's table", () => {
  beforeAll(async () => {
    network = await TestNetwork.create();
  });
  afterAll(() => network.remove());
  beforeEach(async () => {
    host = await network.host(`h${nextHost}`);
    nextHost += 1;
  });

  describe('if the kernel supports ownership', () => {
    const open = () => NetlinkDriver.open({ table, networkNamespace: host.path });

    test("can't be changed, removed or flushed by other processes", async () => {
      const driver = await open();
      try {
        await driver.apply(replacement(wanted));
        expect(driver.isOwned).toBe(true);
        expect((await host.attempt('nft', strangersEdit)).code).not.toBe(0);
        expect((await host.attempt('nft', ['delete', 'table', 'inet', table])).code).not.toBe(0);
        await host.run('nft', 'flush', 'ruleset');
        expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
      } finally {
        await driver.close();
      }
    });

    test('survives the process and is taken over unchanged', async () => {
      const first = await open();
      await first.apply(replacement(wanted));
      await first.close();
      const second = await open();
      try {
        expect(second.isOwned).toBe(true);
        expect(isEmpty(diff(await second.read(), wanted))).toBe(true);
        expect((await host.attempt('nft', strangersEdit)).code).not.toBe(0);
      } finally {
        await second.close();
      }
    });

    test('is not taken from a running process', async () => {
      const driver = await open();
      await driver.apply(replacement(wanted));
      await expect(open()).rejects.toMatchObject({ code: 'conflict' });
      await driver.close();
    });

    test('replaces a table without ownership', async () => {
      await new NftDriver({ table, networkNamespace: host.path }).apply(replacement(wanted));
      const driver = await open();
      expect(driver.isOwned).toBe(false);
      await driver.apply(replacement(wanted));
      expect(driver.isOwned).toBe(true);
      await driver.close();
    });
  });

  const watched: readonly { name: string; open: () => Promise<Driver> }[] = [
    {
      name: 'nft',
      open: () => Promise.resolve(new NftDriver({ table, networkNamespace: host.path })),
    },
    {
      name: 'netlink without ownership',
      open: () => NetlinkDriver.open({ table, networkNamespace: host.path, own: false }),
    },
  ];

  describe.each(watched)('with the $name driver', ({ open }) => {
    test('is watched: foreign changes are reported, own changes and other tables are not', async () => {
      const driver = await open();
      await driver.apply(replacement(wanted));
      const stop = new AbortController();
      const changes = driver.watch(stop.signal)[Symbol.asyncIterator]();
      const first = changes.next();
      await waitForListeners(host, 1);
      await host.attempt('nft', ['add', 'table', 'ip', 'other']);
      await driver.apply({ table, operations: [{ op: 'flush-set', set: 'hairpin4' }] });
      await host.run('nft', 'delete', 'table', 'inet', table);
      // The kernel announces the table's contents first. The agent's own flush would have come before it.
      const { value } = (await first) as { value: ForeignChange };
      expect(value).toMatchObject({ table, what: 'a rule was removed' });
      await driver.apply(replacement(wanted));
      expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
      await host.loadRules(`
        add set inet ${table} strange { type ether_addr ; }
        add chain inet ${table} strange
        add rule inet ${table} strange ether saddr @strange drop
        insert rule inet ${table} refuse jump strange
        add element inet ${table} addresses4 { 198.51.100.1 }
        delete element inet ${table} addresses4 { 192.0.2.1 }
        flush chain inet ${table} nat-output
      `);
      const repair = diff(await driver.read(), wanted);
      expect(repair.operations.some(({ op }) => op === 'remove-table')).toBe(false);
      await driver.apply(repair);
      expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
      stop.abort();
      expect((await changes.next()).done).toBe(true);
      await driver.close();
    });
  });

  test('is not changed on the basis of an old state', async () => {
    const driver = await NetlinkDriver.open({ table, networkNamespace: host.path, own: false });
    await driver.apply(replacement(wanted));
    const present = await driver.read();
    await host.run('nft', ...strangersEdit);
    const late = diff(present, buildRuleset({ ...everything(table), services: [] }));
    await expect(driver.apply(late)).rejects.toMatchObject({ code: 'conflict' });
    await driver.close();
  });

  test('is listed by nft like a table made by nft', async () => {
    const netlink = await NetlinkDriver.open({ table, networkNamespace: host.path, own: false });
    await netlink.apply(replacement(wanted));
    const ours = await host.run('nft', 'list', 'table', 'inet', table);
    await netlink.close();
    await new NftDriver({ table, networkNamespace: host.path }).apply(replacement(wanted));
    const theirs = await host.run('nft', 'list', 'table', 'inet', table);
    expect(rulesOf(ours)).toEqual(rulesOf(theirs));
    const bytecode = async () => host.run('nft', '--debug=netlink', 'list', 'table', 'inet', table);
    const reference = expressionsOf(await bytecode());
    const again = await NetlinkDriver.open({ table, networkNamespace: host.path, own: false });
    await again.apply(replacement(wanted));
    await again.close();
    expect(expressionsOf(await bytecode()).length).toBe(reference.length);
  });
});

test('the driver in memory reports foreign changes', async () => {
  const driver = new MemoryDriver(table);
  await driver.apply(replacement(wanted));
  driver.interfere([{ op: 'flush-set', set: 'addresses4' }]);
  for await (const change of driver.watch(new AbortController().signal)) {
    expect(change.table).toBe(table);
    break;
  }
});

/** Chains and their rules, without sets: nft prints their types as they were declared. */
function rulesOf(listing: string): string {
  return listing.slice(listing.indexOf('\tchain '));
}

function expressionsOf(debug: string): string[] {
  return debug.split('\n').filter((line) => line.trimStart().startsWith('['));
}
