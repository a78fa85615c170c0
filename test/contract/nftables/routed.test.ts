import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EngineRuleset } from '../../../packages/causeway/src/gateway/agent/engine-ruleset.ts';
import { parseAddress as address } from '../../../packages/base/src/address/address.ts';
import { parsePort as port } from '../../../packages/base/src/address/port.ts';
import { parsePrefix as prefix } from '../../../packages/base/src/address/prefix.ts';
import { diff } from '../../../packages/nftables/src/plan/diff.ts';
import type { Driver } from '../../../packages/nftables/src/drivers/driver.ts';
import { NetlinkDriver } from '../../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import { NftDriver } from '../../../packages/nftables/src/drivers/nft-driver.ts';
import {
  routedRuleset,
  routedTable,
  type RoutedService,
} from '../../../packages/nftables/src/compile/routed-ruleset.ts';
import type { TableFamily } from '../../../packages/nftables/src/model/ruleset.ts';
import { isEmpty } from '../../../packages/nftables/src/model/transaction.ts';
import { canUseNamespaces, TestNetwork, type Host } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import { waitForListeners } from './listeners.ts';

const settings = { table: 'contract', hashSeed: 0xdeadbeef };

describe.skipIf(!canUseNamespaces())('tables that send packets to nodes', () => {
  let network: TestNetwork;
  let host: Host;
  let next = 1;
  beforeAll(async () => {
    network = await TestNetwork.create();
    host = await network.host('routed');
  });
  afterAll(() => network?.remove());

  const cases = [
    [4, 'ip', '192.0.2.1', ['10.0.0.1', '10.0.0.2'], '198.51.100.0/24'],
    [6, 'ip6', '2001:db8::1', ['fd00::1', 'fd00::2'], '2001:db8:1::/48'],
  ] as const;

  test.each(cases)(
    'of IPv%i are the same from both drivers, and read back as they were written',
    async (family, tableFamily, virtual, nodeTexts, range) => {
      const nodes = nodeTexts.map(address);
      const base = { address: address(virtual), protocol: 'TCP' } as const;
      const services: RoutedService[] = [
        { ...base, port: port(80), dispatch: { kind: 'nodes-unchanged' } },
        {
          ...base,
          port: port(81),
          dispatch: { kind: 'nodes-unchanged', nodes: nodes.slice(1) },
          affinity: { kind: 'client-hash' },
          sourceRanges: [prefix(range)],
        },
      ];
      const wanted = routedRuleset(family, settings, services, nodes);
      if (wanted === undefined) throw new Error('nothing is routed');
      const table = routedTable(settings.table, family);
      const options = { table, family: tableFamily, networkNamespace: host.path };
      const netlink = await NetlinkDriver.open({ ...options, own: false });
      const listings: string[] = [];
      for (const driver of [netlink, new NftDriver(options)]) {
        await driver.apply(diff(await driver.read(), wanted));
        expect(isEmpty(diff(await driver.read(), wanted))).toBe(true);
        const listing = await host.run('nft', 'list', 'table', tableFamily, table);
        // nft prints the types of its own sets differently.
        listings.push(listing.slice(listing.indexOf('chain ')));
        await driver.apply({ table, operations: [{ op: 'remove-table' }] });
        expect(await driver.read()).toBeUndefined();
      }
      await netlink.close();
      expect(listings[0]).toContain('dup to');
      expect(listings[0]).toContain('notrack');
      expect(listings[0]).toEqual(listings[1]);
    },
  );

  interface Opening {
    readonly table: string;
    readonly family: TableFamily;
    readonly networkNamespace: string;
  }
  const watched: [string, (options: Opening) => Promise<Driver>][] = [
    ['nft', (options) => Promise.resolve(new NftDriver(options))],
    ['netlink without ownership', (options) => NetlinkDriver.open({ ...options, own: false })],
  ];

  test.each(watched)('are watched beside the main table: %s', async (_name, open) => {
    const { signal } = new AbortController();
    const machine = await network.host(`watched${next++}`);
    const openTable = (table: string, family: TableFamily) =>
      open({ table, family, networkNamespace: machine.path });
    const main = await openTable('contract', 'inet');
    const ruleset = new EngineRuleset(
      main,
      { ...settings, localSources: [], hairpin: false, resumeConnections: true },
      {
        open: (family) =>
          openTable(routedTable(settings.table, family), family === 4 ? 'ip' : 'ip6'),
        prepare: () => Promise.resolve(),
      },
    );
    const whole = {
      set: cases.map(([, , virtual]) => ({
        address: address(virtual),
        protocol: 'TCP' as const,
        port: port(80),
        dispatch: { kind: 'nodes-unchanged' as const },
      })),
      nodes: cases.flatMap(([, , , nodes]) => nodes.map(address)),
      drainingNodes: [],
      policies: [],
      pods: [],
    };
    await ruleset.replaceAll(whole, signal);
    const before = await machine.run('nft', 'list', 'ruleset');
    const stop = new AbortController();
    const seen = new Set<string>();
    const following = (async () => {
      for await (const { table } of ruleset.foreignChanges(stop.signal)) seen.add(table);
    })();
    await waitForListeners(machine, 3);
    for (const [family, tableFamily] of cases) {
      seen.clear();
      const table = routedTable(settings.table, family);
      await machine.run('nft', 'delete', 'table', tableFamily, table);
      await waitFor('the change to show', () => seen.has(table));
      await ruleset.replaceAll(whole, signal);
    }
    expect(await machine.run('nft', 'list', 'ruleset')).toBe(before);
    stop.abort();
    await following;
    await ruleset.close();
    await main.close();
  });
});
