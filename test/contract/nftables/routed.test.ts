import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress as address } from '../../../src/domain/address.ts';
import { parsePort as port } from '../../../src/domain/port.ts';
import { parsePrefix as prefix } from '../../../src/domain/prefix.ts';
import { diff } from '../../../src/nftables/diff.ts';
import { NetlinkDriver } from '../../../src/nftables/netlink/netlink-driver.ts';
import { NftDriver } from '../../../src/nftables/nft-driver.ts';
import {
  routedRuleset,
  routedTable,
  type RoutedService,
} from '../../../src/nftables/routed-ruleset.ts';
import { isEmpty } from '../../../src/nftables/transaction.ts';
import { canUseNamespaces, TestNetwork, type Host } from '../../services/namespaces.ts';

const settings = { table: 'contract', hashSeed: 0xdeadbeef };

describe.skipIf(!canUseNamespaces())('tables that send packets to nodes', () => {
  let network: TestNetwork;
  let host: Host;
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
    'of IPv%i are the same whoever writes them, and read back as they were written',
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
        // nft says the types of its own sets in other words.
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
});
