import { writeState } from '../src/agent/wire/write-push.ts';
import { addressFromInteger, addressToInteger, parseAddress } from '../src/domain/address.ts';
import { faults, strikeMaster, type Fault } from '../test/kernel/gateway/faults.ts';
import { endpoint, nothing } from '../test/kernel/gateway/services.ts';
import { Topology } from '../test/kernel/gateway/topology.ts';
import type { Bar, BenchmarkSuite, Measurement } from './benchmark.ts';

const addressCount = 1_000;
const sampled = 10;
const runs = 20;
const advertMs = 100;

type Figure = 'failover-keepalived-killed' | 'failover-link-down' | 'failover-power-cut';
const figures: readonly Figure[] = [
  'failover-keepalived-killed',
  'failover-link-down',
  'failover-power-cut',
];
const bar: Bar = { of: 'ratio', comparison: 'at most', limit: 6, unit: 'ms' };

const addresses = Array.from({ length: addressCount }, (_, index) =>
  addressFromInteger(addressToInteger(parseAddress('10.77.4.0')) + BigInt(index), 4),
);
const sample = addresses.filter((_, index) => index % (addressCount / sampled) === 0);

/** The longest silence of any sampled address over all runs. Every second run is the way back. */
async function worstOf(topology: Topology, fault: Fault): Promise<Measurement> {
  const silences: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const struck = await strikeMaster(topology, fault, sample);
    silences.push(Math.max(...struck.silences.map(({ longestMs }) => longestMs)));
  }
  console.log(`  ${fault.name}: ${silences.join(' ')} ms`);
  const worst = Math.max(...silences);
  const spread = [Math.min(...silences) / advertMs, worst / advertMs] as const;
  return { value: worst, baseline: advertMs, spread };
}

/** How long addresses are silent when the gateway that holds them fails, in advert intervals. */
export const suite: BenchmarkSuite<Figure> = {
  name: 'gateway-failover',
  long: true,
  bars: {
    'failover-keepalived-killed': bar,
    'failover-link-down': bar,
    'failover-power-cut': bar,
  },
  async run() {
    const topology = await Topology.start();
    try {
      await topology.startAgents({ log: { level: 'warn' } });
      const endpoints = addresses.map((address) => endpoint(address, 'UDP', ['p1', 'p2']));
      await topology.push(writeState({ ...nothing, endpoints }, { generation: 1 }));
      const measured: [Figure, Measurement][] = [];
      for (const [index, fault] of faults.entries()) {
        const figure = figures[index];
        if (figure !== undefined) measured.push([figure, await worstOf(topology, fault)]);
      }
      return Object.fromEntries(measured) as Record<Figure, Measurement>;
    } finally {
      await topology.stop();
    }
  },
};
