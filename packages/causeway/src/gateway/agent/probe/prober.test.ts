import { expect, test } from 'vitest';
import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { ProbeResults } from './probe-results.ts';
import { runProber } from './prober.ts';

const [node, other] = ['10.0.0.1', '10.0.0.2'].map(parseAddress) as [Address, Address];
const intervalMs = 500;

test('a node that was unhealthy, removed and added again starts healthy', async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const targets = new Set([node, other]);
  const dead = new Set<Address>();
  let reported: ReadonlySet<Address> = new Set();
  const running = runProber(
    {
      clock,
      intervalMs,
      ledger: new ProbeResults({ fall: 2, rise: 2 }),
      targets: () => new Map([...targets].map((address) => [address, parsePort(80)])),
      probeTcp: ({ address }) => Promise.resolve(!dead.has(address)),
      onChange: (unhealthy) => (reported = unhealthy),
    },
    stop.signal,
  );
  await clock.advance(2 * intervalMs);
  dead.add(node);
  await clock.advance(4 * intervalMs);
  expect([...reported]).toEqual([node]);
  targets.delete(node);
  await clock.advance(2 * intervalMs);
  expect([...reported]).toEqual([]);
  dead.delete(node);
  targets.add(node);
  await clock.advance(4 * intervalMs);
  expect([...reported]).toEqual([]);
  stop.abort();
  await clock.advance(intervalMs);
  await running;
});

test('a round takes longer if an interval is too short to probe all targets', async () => {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const all = Array.from({ length: 3_000 }, (_, index) =>
    parseAddress(`10.1.${index >> 8}.${index & 255}`),
  );
  const attempted: Address[] = [];
  const running = runProber(
    {
      clock,
      intervalMs,
      ledger: new ProbeResults({ fall: 2, rise: 2 }),
      onChange() {},
      targets: () => new Map(all.map((address) => [address, parsePort(80)])),
      probeTcp({ address }) {
        attempted.push(address);
        return Promise.resolve(true);
      },
    },
    stop.signal,
  );
  await clock.advance(10);
  // A long round has more slices, not larger ones. Otherwise hundreds of sockets would be open at once.
  expect(attempted.length).toBe(50);
  await clock.advance(990);
  expect(attempted.length).toBeLessThan(all.length);
  await clock.advance(500);
  expect(new Set(attempted).size).toBe(all.length);
  stop.abort();
  await clock.advance(intervalMs);
  await running;
});
