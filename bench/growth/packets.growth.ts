// From the first packet of a connection to the first byte of its answer, through gateways of several kinds.

import type { NetlinkDriver } from '../../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import { TestNetwork } from '../../test/services/namespaces.ts';
import { addGateway, build, programLinear, programOurs, type Gateway } from '../packet-gateways.ts';
import { exchangeWithAll } from '../alternate-packets.ts';
import { Ratios, serviceCounts, type GrowthSuite } from './curve.ts';
import { prepareHaproxy, runHaproxy } from './haproxy.ts';

const rounds = 7;
const exchanges = 60;
/** Each Service is a proxy of its own in HAProxy: with more it takes minutes to start. */
const mostForHaproxy = 10_000;

interface Way extends Gateway {
  readonly series: string;
  readonly at: number;
}

export const suite: GrowthSuite = {
  name: 'packets',
  async run() {
    const network = await TestNetwork.create();
    const drivers: NetlinkDriver[] = [];
    try {
      const { client } = await build(network);
      const haproxy = await prepareHaproxy();
      let number = 0;
      const next = () => addGateway(network, (number += 1));
      const byHand = await next();
      await programLinear(byHand, 1);
      const ways: Way[] = [];
      for (const at of serviceCounts) {
        const ours = await next();
        drivers.push(await programOurs(ours, at));
        const linear = await next();
        await programLinear(linear, at);
        ways.push(
          { series: 'Causeway', at, ...ours },
          { series: 'a rule for each', at, ...linear },
        );
        if (at > mostForHaproxy) continue;
        const proxied = await next();
        await runHaproxy(haproxy, proxied, at);
        ways.push({ series: 'HAProxy', at, ...proxied });
      }
      const ratios = new Ratios();
      for (let round = 0; round < rounds; round += 1) {
        const [reference = 1, ...times] = await exchangeWithAll(client, exchanges, [
          byHand,
          ...ways,
        ]);
        for (const [index, { series, at }] of ways.entries()) {
          ratios.add(series, at, (times[index] ?? Number.NaN) / reference);
        }
      }
      return {
        'first-answer-by-services': {
          title: 'Connect and get the first byte',
          along: 'Services',
          baseline: 'one DNAT rule written by hand',
          series: ratios.series(),
        },
      };
    } finally {
      await Promise.all(drivers.map((driver) => driver.close()));
      await network.remove();
    }
  },
};
