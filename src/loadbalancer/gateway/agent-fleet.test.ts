import { afterEach, expect, test } from 'vitest';
import { endpointKey, makeEndpoint, type Endpoint } from '../../agent/model/endpoint.ts';
import { parseAddress } from '../../domain/address.ts';
import { parsePort } from '../../domain/port.ts';
import { silentLog } from '../../runtime/log.ts';
import { seededRandom } from '../../runtime/random.ts';
import { settled, SimulatedClock } from '../../runtime/simulated-clock.ts';
import { AgentFleet } from './agent-fleet.ts';
import { MemoryAgent } from './memory-agent.ts';

const address = parseAddress('192.0.2.1');
const endpoint = (service: string, port = 80): Endpoint =>
  makeEndpoint({
    address,
    protocol: 'TCP',
    port: parsePort(port),
    service: `default/${service}`,
    destinations: [],
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
    clock,
    random: seededRandom(1),
    log: silentLog,
    limitMs: 1_000,
    checkEveryMs: 60_000,
    onNews: () => {},
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

test('all gateways get the whole first, then only what changes', async () => {
  const [one, two] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet } = await start(one, two);
  const generation = fleet.setService('default/a', [endpoint('a')]);
  run(fleet);
  await settled();
  expect(fleet.servingSince(generation, [address])).toEqual({ kind: 'served' });
  expect([...one.holds.keys()]).toEqual([endpointKey(endpoint('a'))]);
  fleet.setService('default/b', [endpoint('b', 81)]);
  await settled();
  expect(two.pushes.map(({ header }) => header.kind)).toEqual(['state', 'delta']);
  expect(two.pushes[1]?.endpoints.size).toBe(1);
});

test('one that hangs or fails delays no other, and catches up when it is back', async () => {
  const [slow, good] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet, clock } = await start(slow, good);
  slow.mode = 'hangs';
  const generation = fleet.setService('default/a', [endpoint('a')]);
  run(fleet);
  await settled();
  expect(good.holds.size).toBe(1);
  expect(fleet.servingSince(generation, [address])).toEqual({
    kind: 'waiting',
    message: 'Waiting for g1',
  });
  await clock.advance(1_001);
  expect(fleet.servingSince(generation, [address])).toEqual({ kind: 'served' });
  slow.mode = 'works';
  await clock.advance(20_000);
  expect(slow.holds.size).toBe(1);
});

test('with no gateway to be reached nothing is called served', async () => {
  const agent = new MemoryAgent();
  agent.mode = 'fails';
  const { fleet } = await start(agent);
  const generation = fleet.setService('default/a', [endpoint('a')]);
  expect(fleet.servingSince(generation, [address])).toEqual({
    kind: 'waiting',
    message: 'No gateway can be reached: no route',
  });
});

test('an address is free only when every gateway has confirmed that it is gone, or is fenced', async () => {
  const [one, two] = [new MemoryAgent(), new MemoryAgent()];
  const { fleet, clock } = await start(one, two);
  fleet.setService('default/a', [endpoint('a')]);
  run(fleet);
  await settled();
  two.mode = 'fails';
  one.keeps = { address, protocol: 'TCP', port: 80 };
  const removed = fleet.setService('default/a', []);
  await settled();
  const without = Math.max(removed, fleet.generation);
  expect(fleet.mayAnnounce(address, without)).toEqual(['g1', 'g2']);
  one.keeps = undefined;
  fleet.setService('default/b', [endpoint('b', 81)]);
  await settled();
  expect(fleet.mayAnnounce(address, without)).toEqual(['g2']);
  fleet.fence('g2');
  expect(fleet.mayAnnounce(address, without)).toEqual([]);
  await clock.advance(1);
});

test('the first push does not say that it means to remove; later ones do', async () => {
  const agent = new MemoryAgent();
  const { fleet } = await start(agent);
  fleet.setService('default/a', [endpoint('a')]);
  run(fleet);
  await settled();
  fleet.setService('default/a', []);
  await settled();
  expect(agent.pushes.map(({ header }) => header.meansRemoval)).toEqual([false, true]);
});

test('generations start beyond those of every gateway', async () => {
  const agent = new MemoryAgent();
  agent.generation = 9_000_000_000_000;
  const { fleet } = await start(agent);
  run(fleet);
  await settled();
  expect(agent.pushes[0]?.header.generation).toBeGreaterThan(9_000_000_000_000);
});
