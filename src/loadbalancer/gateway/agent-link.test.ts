import { afterEach, expect, test } from 'vitest';
import { endpointKey, makeEndpoint } from '../../agent/model/endpoint.ts';
import { parseAddress } from '../../domain/address.ts';
import { parsePort } from '../../domain/port.ts';
import { silentLog } from '../../runtime/log.ts';
import { seededRandom } from '../../runtime/random.ts';
import { SimulatedClock } from '../../runtime/simulated-clock.ts';
import { writeState } from '../../agent/wire/write-push.ts';
import { AgentLink } from './agent-link.ts';
import { MemoryAgent } from './memory-agent.ts';
import { WantedState } from './wanted-state.ts';

const endpoints = [80, 81, 82].map((port) =>
  makeEndpoint({
    address: parseAddress('192.0.2.1'),
    protocol: 'TCP',
    port: parsePort(port),
    service: `default/s${port}`,
    destinations: [],
  }),
);

let stop = new AbortController();
const running: Promise<void>[] = [];
afterEach(async () => {
  stop.abort();
  await Promise.all(running.splice(0));
});

/** A gateway that has all endpoints and may lose one, and a controller that saw the last of them go. */
function start(seen: number) {
  stop = new AbortController();
  const clock = new SimulatedClock();
  const agent = new MemoryAgent();
  agent.mayLose = 1;
  for (const each of endpoints) agent.holds.set(endpointKey(each), each);
  const link = new AgentLink({
    ...{ name: 'g1', agent, clock, random: seededRandom(1), log: silentLog },
    ...{ limitMs: 1_000, checkEveryMs: 60_000 },
    goBeyond: (generation) => state.goBeyond(generation),
    ...{ onNews: () => {}, onPush: () => {}, onComplaints: () => {} },
  });
  const state = new WantedState(1);
  const gone = endpoints.slice(endpoints.length - seen);
  for (const each of gone) state.setService(each.service ?? '', [each]);
  for (const each of gone) state.setService(each.service ?? '', []);
  return { agent, clock, link, run: () => running.push(link.run(state, stop.signal)) };
}

test('a gateway that refuses to lose so much is told that it is meant if all of it was seen to go', async () => {
  const { agent, clock, link, run } = start(3);
  run();
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(0);
  expect(link.failure).toBeUndefined();
});

test('it is not told so if some of it was never heard of', async () => {
  const { agent, clock, link, run } = start(2);
  run();
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(3);
  expect(link.failure?.message).toBe('too much would go');
});

test('a list that lacks some of what it serves proves nothing', async () => {
  const { agent, clock, run } = start(2);
  const list = agent.counters.bind(agent);
  agent.counters = async (signal) => (await list(signal)).slice(1);
  run();
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(3);
});

test('who is stopped while it speaks with the gateway ends at once, and not at the next look', async () => {
  const { agent, clock, run } = start(3);
  agent.mayLose = 3;
  const answer = Promise.withResolvers<void>();
  const push = agent.push.bind(agent);
  agent.push = async (lines, signal) => {
    await answer.promise;
    return push(lines, signal);
  };
  run();
  await clock.advance(0);
  stop.abort();
  answer.resolve();
  await clock.advance(0);
  expect(agent.pushes).toHaveLength(1);
  await Promise.all(running.splice(0));
});

/** Somebody who takes himself for the leader says something else. */
async function interfere(agent: MemoryAgent): Promise<void> {
  const generation = agent.generation + 1;
  const whole = { endpoints, policies: [], assignments: [], nodes: [] };
  await agent.push(writeState(whole, { generation }), stop.signal);
}

test('a gateway that tells of a generation beyond ours gets ours again', async () => {
  const { agent, clock, link, run } = start(3);
  agent.mayLose = 3;
  run();
  await clock.advance(1_000);
  const own = agent.generation;
  link.heard(own);
  link.heard(own - 1);
  await clock.advance(1_000);
  expect(agent.pushes).toHaveLength(1);
  await interfere(agent);
  expect(link.confirmed).toBe(own);
  link.heard(agent.generation);
  expect(link.confirmed).toBe(0);
  await clock.advance(1_000);
  expect(agent.holds.size).toBe(0);
  expect(link.confirmed).toBe(own + 2);
});

test('before anything is taken for unused, a gateway can be asked what it has', async () => {
  const { agent, clock, link, run } = start(3);
  agent.mayLose = 3;
  run();
  await clock.advance(1_000);
  const before = link.confirmed;
  await link.look(stop.signal);
  expect(link.confirmed).toBe(before);
  await interfere(agent);
  await link.look(stop.signal);
  expect(link.confirmed).toBe(0);
});

test('a gateway that hangs is silent since it was asked, not since that was noticed', async () => {
  const { agent, clock, link, run } = start(3);
  agent.mode = 'hangs';
  run();
  await clock.advance(900);
  expect(link.downForMs).toBeUndefined();
  await clock.advance(29_100);
  expect(link.downForMs).toBe(30_000);
});
