// Cost of one changed endpoint for a gateway: with Causeway, and with a program that rewrites all its rules.

import type { NetlinkDriver } from '../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import type { VirtualService } from '../../packages/nftables/src/compile/virtual-service.ts';
import { TestNetwork, type Host } from '../../test/services/namespaces.ts';
import { median } from '../benchmark.ts';
import { linearRules } from '../packet-gateways.ts';
import {
  endpoint,
  load,
  replaceEndpoints,
  service,
  services,
  spawnedElement,
  type Loaded,
} from '../ruleset-load.ts';
import { inRounds, serviceCounts, type GrowthSuite, type Subject } from './curve.ts';

const rounds = 5;
const frontendCounts = [1, 10, 100, 1_000] as const;
const baseline = 'one spawned nft add element into an empty table';

async function reloadAll(host: Host, text: string): Promise<number> {
  const started = performance.now();
  await host.loadRules(text);
  return performance.now() - started;
}

/** Replaces one of this many endpoints of the first Service, in milliseconds. */
async function replaceOneOf(count: number, { layout, driver }: Loaded): Promise<number> {
  const times: number[] = [];
  const { address, protocol, port } = service(0);
  const fixed = Array.from({ length: count - 1 }, (_, index) => endpoint(100_000 + index));
  for (let index = 0; index < 21; index += 1) {
    const backends = [...fixed, endpoint(200_000 + index)];
    const changed: VirtualService = {
      address,
      protocol,
      port,
      dispatch: { kind: 'slots', backends },
    };
    const started = performance.now();
    const plan = layout.plan({ set: [changed] });
    await driver.apply(plan.transaction);
    plan.accept();
    // The first one adds the others as well.
    if (index > 0) times.push(performance.now() - started);
  }
  return median(times);
}

export const suite: GrowthSuite = {
  name: 'changes',
  async run() {
    const network = await TestNetwork.create();
    const drivers: NetlinkDriver[] = [];
    try {
      const empty = await network.host('empty');
      await empty.run('nft', 'add', 'table', 'inet', 'beside');
      await empty.run('nft', 'add', 'set', 'inet', 'beside', 's', '{ type ipv4_addr ; }');
      let element = 0;
      const spawned = () => spawnedElement(empty, 's', (element += 1));
      const byServices: Subject[] = [];
      const byEndpoints: Subject[] = [];
      for (const at of serviceCounts) {
        const loaded = await load(await network.host(`ours${at}`), at);
        drivers.push(loaded.driver);
        const linear = await network.host(`linear${at}`);
        const text = linearRules(services(at).map(({ address }) => address));
        byServices.push(
          { series: 'Causeway', at, measure: () => replaceEndpoints(loaded) },
          { series: 'all rules again', at, measure: () => reloadAll(linear, text) },
        );
      }
      for (const at of frontendCounts) {
        const loaded = await load(await network.host(`endpoints${at}`), 1_000);
        drivers.push(loaded.driver);
        byEndpoints.push({ series: 'Causeway', at, measure: () => replaceOneOf(at, loaded) });
      }
      return {
        'change-by-services': {
          title: 'One changed endpoint',
          along: 'Services',
          baseline,
          series: await inRounds(rounds, byServices, spawned),
        },
        'change-by-endpoints': {
          title: 'One changed endpoint, among 1,000 Services',
          along: 'endpoints of its Service',
          baseline,
          series: await inRounds(rounds, byEndpoints, spawned),
        },
      };
    } finally {
      await Promise.all(drivers.map((driver) => driver.close()));
      await network.remove();
    }
  },
};
