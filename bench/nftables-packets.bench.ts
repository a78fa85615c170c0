// Cost of the ruleset for packets: the first of a connection, and the following ones.

import type { NetlinkDriver } from '../packages/nftables/src/drivers/netlink/netlink-driver.ts';
import { TestNetwork } from '../test/services/namespaces.ts';
import type { BenchmarkSuite } from './benchmark.ts';
import { addGateway, build, programLinear, programOurs } from './packet-gateways.ts';
import { alternate } from './alternate-packets.ts';

const bars = {
  'first packet, 10,000 services beside 10': {
    of: 'ratio',
    comparison: 'at most',
    limit: 1.15,
    unit: 'ms',
  },
  'first packet, 10,000 services beside 10,000 linear rules': {
    of: 'ratio',
    comparison: 'at most',
    limit: 1,
    unit: 'ms',
  },
  'established connection, beside one hand-written DNAT rule': {
    of: 'ratio',
    comparison: 'at least',
    limit: 0.95,
    unit: 'MB/s',
  },
} as const;

export const suite: BenchmarkSuite<keyof typeof bars> = {
  name: 'nftables-packets',
  bars,
  async run() {
    const network = await TestNetwork.create();
    const drivers: NetlinkDriver[] = [];
    try {
      const { client } = await build(network);
      const few = await addGateway(network, 1);
      const many = await addGateway(network, 2);
      const linear = await addGateway(network, 3);
      const byHand = await addGateway(network, 4);
      drivers.push(await programOurs(few, 10), await programOurs(many, 10_000));
      await programLinear(linear, 10_000);
      await programLinear(byHand, 1);
      const connect = ['connect', '400'];
      return {
        'first packet, 10,000 services beside 10': await alternate(client, connect, many, few),
        'first packet, 10,000 services beside 10,000 linear rules': await alternate(
          client,
          connect,
          many,
          linear,
        ),
        'established connection, beside one hand-written DNAT rule': await alternate(
          client,
          ['receive', '25'],
          many,
          byHand,
        ),
      };
    } finally {
      await Promise.all(drivers.map((driver) => driver.close()));
      await network.remove();
    }
  },
};
