import { afterEach, expect, test } from 'vitest';
import { endpointKey, makeEndpoint, type Endpoint } from '../../agent/model/endpoint.ts';
import { parseAddress } from '../../domain/address.ts';
import { parsePort } from '../../domain/port.ts';
import { silentLog } from '../../runtime/log.ts';
import { noMetrics } from '../../runtime/metrics.ts';
import { seededRandom } from '../../runtime/random.ts';
import { settled, SimulatedClock } from '../../runtime/simulated-clock.ts';
import { AgentFleet } from './agent-fleet.ts';
import { MemoryAgent } from './memory-agent.ts';

// Which gateway may lose much at once, and by whose word.

const endpoint = (service: string, port = 80): Endpoint =>
  makeEndpoint({
    ...{ address: parseAddress('192.0.2.1'), protocol: 'TCP', port: parsePort(port) },
    ...{ service: `default/${service}`, destinations: [] },
  });

let stop = new AbortController();
let ended: Promise<void> | undefined;
afterEach(async () => {
  stop.abort();
  await ended;
});

async function start(...agents: MemoryAgent[]) {
  stop = new AbortController();
  const clock = new SimulatedClock();
  const fleet = new AgentFleet({
    agents: new Map(agents.map((agent, index) => [`g${index + 1}`, agent])),
    ...{ clock, random: seededRandom(1), log: silentLog, metrics: noMetrics },
    ...{ limitMs: 1_000, checkEveryMs: 60_000, onNews: () => {}, onComplaint: () => {} },
  });
  const starting = fleet.start(stop.signal);
  await clock.advance(1_000);
  await starting;
  return { fleet, clock };
}

function run(fleet: AgentFleet): void {
  fleet.complete();
  ended = fleet.run(stop.signal);
}

/** Has endpoints of which this controller knows nothing, and lets only one of them go unasked. */
function strange(...services: string[]): MemoryAgent {
  const agent = new MemoryAgent();
  agent.mayLose = 1;
  for (const [index, service] of services.entries()) {
    const each = endpoint(service, 1_000 + index);
    agent.holds.set(endpointKey(each), each);
  }
  return agent;
}

test('a gateway that had nothing to lose does not vouch for what another one would', async () => {
  const [empty, full] = [new MemoryAgent(), strange('x', 'y', 'z')];
  const { fleet, clock } = await start(empty, full);
  fleet.setService('default/a', [endpoint('a')]);
  run(fleet);
  await clock.advance(60_000);
  fleet.setService('default/a', [endpoint('a', 81)]);
  await clock.advance(60_000);
  expect(empty.pushes.map(({ header }) => header.meansRemoval)).toEqual([false, true]);
  expect(full.holds.size).toBe(3);
});

test('what an operator let one gateway lose, the others lose too, and nothing else', async () => {
  const names = ['w', 'x', 'y', 'z'];
  const [allowed, same, more] = [strange(...names), strange(...names), strange(...names, 'more')];
  const { fleet, clock } = await start(allowed, same, more);
  run(fleet);
  await clock.advance(60_000);
  expect([allowed, same, more].map(({ holds }) => holds.size)).toEqual([4, 4, 5]);
  allowed.mayLose = Number.POSITIVE_INFINITY;
  await clock.advance(120_000);
  expect([allowed, same, more].map(({ holds }) => holds.size)).toEqual([0, 0, 5]);
});

test('a gateway that is given an older state back is asked again', async () => {
  const agent = new MemoryAgent();
  const { fleet, clock } = await start(agent);
  fleet.setService('default/a', [endpoint('a')]);
  run(fleet);
  await settled();
  const old = strange('x', 'y', 'z');
  agent.mayLose = 1;
  for (const [key, each] of old.holds) agent.holds.set(key, each);
  agent.generation = 7;
  await clock.advance(120_000);
  expect(agent.holds.size).toBe(4);
});
