// The accepting holder's copy loop, compared with HAProxy in TCP mode.

import path from 'node:path';
import { once } from 'node:events';
import { TestNetwork } from '../test/services/namespaces.ts';
import type { BenchmarkSuite } from './benchmark.ts';
import { prepareHaproxy, runHaproxy } from './growth/haproxy.ts';
import { addGateway, backendAddress, backendPort, build } from './packet-gateways.ts';
import { alternate, servedPort } from './alternate-packets.ts';

const program = path.join(import.meta.dirname, 'relay-program.ts');
const blocks = ['receive', '40'] as const;

const bars = {
  'bytes through the accepting holder, beside HAProxy': {
    of: 'ratio',
    comparison: 'at least',
    limit: 0.5,
    unit: 'MB/s',
  },
} as const;

export const suite: BenchmarkSuite<keyof typeof bars> = {
  name: 'relay',
  bars,
  async run() {
    const network = await TestNetwork.create();
    try {
      const { client } = await build(network);
      const ours = await addGateway(network, 1);
      const target = `${backendAddress}:${backendPort}`;
      const relay = ours.host.start(process.execPath, program, String(servedPort), target);
      await new Promise<void>((resolve) => relay.stdout?.once('data', () => resolve()));
      const theirs = await addGateway(network, 2);
      await runHaproxy(await prepareHaproxy(), theirs, 1);
      const measured = await alternate(client, blocks, ours, theirs);
      relay.kill('SIGTERM');
      await once(relay, 'exit');
      return { 'bytes through the accepting holder, beside HAProxy': measured };
    } finally {
      await network.remove();
    }
  },
};
