import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../packages/causeway/src/gateway/protocol/write-update.ts';
import { isAvailable } from '../../services/missing.ts';
import { faults, strikeActive } from './faults.ts';
import { requireNetworkTools } from './network.ts';
import { frontend, nothing } from './services.ts';
import { Topology } from './topology.ts';

const isRunnable = await isAvailable(requireNetworkTools);
const addresses = ['10.77.1.1', '10.77.1.2', '10.77.1.3', '2001:db8:77::1:1'];

describe.skipIf(!isRunnable)('failover and failback', () => {
  let topology: Topology;

  beforeAll(async () => {
    topology = await Topology.start();
    await topology.startAgents({ addresses: { advertMs: 100 } });
    // A port for each: a server's packet that arrives first must show which address it belongs to.
    const frontends = addresses.flatMap((address, index) => [
      frontend(address, 'UDP', ['p1', 'p2'], {}, index),
      frontend(address, 'TCP', ['p1', 'p2'], {}, index),
    ]);
    await topology.push(writeState({ ...nothing, frontends }, { generation: 1 }));
  });
  afterAll(() => topology.stop());

  // Each fault hits one gateway and then the other: the second time is the failback of the first.
  test.each(faults)('running transfers survive when $name, there and back', async (fault) => {
    const transfers = await Promise.all([
      topology.startClient('c', 'down', '10.77.1.1', 80, 10, 4_000_000, 12_000),
      topology.startClient('c', 'up', '10.77.1.2', 80, 10, 4_000_000, 12_000),
      topology.startClient('c', 'down', '2001:db8:77::1:1', 80, 5, 2_000_000, 12_000),
    ]);
    const first = await strikeActive(topology, fault, addresses);
    const second = await strikeActive(topology, fault, addresses);
    expect(second.struck).not.toBe(first.struck);
    for (const { outages } of [first, second]) {
      process.stderr.write(
        `${fault.name}: ${outages.map((each) => each.longestMs).join(' ')} ms\n`,
      );
      for (const { lostInARow } of outages) expect(lostInARow).toBeLessThan(500);
    }
    const results = await Promise.all(transfers.map((each) => each.result()));
    expect(results).toEqual([
      { whole: 10, of: 10 },
      { whole: 10, of: 10 },
      { whole: 5, of: 5 },
    ]);
  });
});
