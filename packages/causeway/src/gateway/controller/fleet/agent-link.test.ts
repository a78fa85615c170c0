import { afterEach, expect, test } from 'vitest';
import { frontendKey, makeFrontend, type FrontendKey } from '../../protocol/frontend.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { writeState } from '../../protocol/write-update.ts';
import { AgentLink } from './agent-link.ts';
import { MemoryAgent } from './testing/memory-agent.ts';
import { DesiredState } from './desired-state.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';

const frontends = [80, 81, 82].map((port) =>
  makeFrontend({
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

/** A gateway that has all frontends and removes at most one without a confirmation. */
function start(prepare: (agent: MemoryAgent) => void = () => {}) {
  stop = new AbortController();
  const clock = new SimulatedClock();
  const agent = new MemoryAgent();
  agent.mayLose = 1;
  prepare(agent);
  for (const each of frontends) agent.holds.set(frontendKey(each), each);
  const state = new DesiredState(1);
  const reasons = new ReasonQueue();
  const released = () =>
    reasons.take().flatMap((each) => (each.kind === 'removal-allowed' ? [each.frontend] : []));
  const link = new AgentLink({
    name: 'g1',
    agent,
    clock,
    random: seededRandom(1),
    log: discardLog,
    cluster: 'one',
    limitMs: 1_000,
    checkEveryMs: 60_000,
    desired: state,
    reasons,
    pushes: noMetrics.counter(fleetMetrics.pushes),
  });
  const run = () => running.push(link.run(stop.signal));
  return { agent, clock, link, state, released, run };
}

const keys = frontends.map(frontendKey);
const verdict = (verified: readonly FrontendKey[], cluster = 'one') => ({
  cluster,
  verified: new Set(verified),
  doubts: new Map(keys.filter((key) => !verified.includes(key)).map((key) => [key, 'in doubt'])),
});

test('treats an update with withheld removals as confirmed', async () => {
  const { agent, clock, link, state, run } = start();
  run();
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(3);
  expect(link).toMatchObject({ failure: undefined, confirmed: state.generation });
  expect([...link.removals.frontends.keys()]).toEqual(keys);
  expect(link.stillServes('192.0.2.1')).toBe(true);
  expect(link.removals.describe()).toContain('still serves 3 frontends');
});

test('confirms verified removals one by one, and once', async () => {
  const { agent, clock, link, state, run } = start();
  run();
  await clock.advance(1_000);
  link.judge(verdict(keys.slice(0, 2)));
  await clock.advance(120_000);
  expect([...agent.holds.keys()]).toEqual(keys.slice(2));
  expect(agent.confirmations.map(({ frontends: each }) => [...each])).toEqual([keys.slice(0, 2)]);
  expect(link.removals.describe()).toContain('still serves 1 frontend');
  // Updates continue from the same generation.
  state.setService('default/new', frontends.slice(0, 1));
  link.nudge();
  await clock.advance(1_000);
  expect(agent.pushes.map(({ header }) => header.kind)).toEqual(['state', 'delta']);
  expect(agent.holds.size).toBe(2);
  link.judge(verdict(keys.slice(2)));
  await clock.advance(1_000);
  // The last update is the full state, which removes everything kept for the withheld frontends.
  expect(agent.pushes.map(({ header }) => header.kind)).toEqual(['state', 'delta', 'state']);
  await clock.advance(120_000);
  expect(agent.pushes).toHaveLength(3);
  expect(link.confirmed).toBe(state.generation);
});

test('does not confirm the removal of a frontend that is wanted again, even if it was verified', async () => {
  const { agent, clock, link, state, run } = start();
  run();
  await clock.advance(1_000);
  state.setService('default/s80', frontends.slice(0, 1));
  link.judge(verdict(keys));
  await clock.advance(1_000);
  expect([...agent.holds.keys()]).toEqual(keys.slice(0, 1));
  expect(agent.confirmations.flatMap(({ frontends: each }) => [...each])).toEqual(keys.slice(1));
});

test('lets a gateway of another cluster keep its frontends and accept updates', async () => {
  const { agent, clock, link, state, run } = start((each) => {
    each.cluster = 'other';
  });
  run();
  await clock.advance(1_000);
  link.judge(verdict(keys));
  await clock.advance(1_000);
  expect(agent.holds.size).toBe(3);
  expect(link.failure).toBeUndefined();
  expect(link.removals.describe()).toContain('of another cluster');
  state.setService('default/s80', frontends.slice(0, 1));
  link.nudge();
  await clock.advance(1_000);
  expect(link.confirmed).toBe(state.generation);
});

test('detects removals that an operator allows on the gateway, and sends the full state', async () => {
  const { agent, clock, link, released, run } = start();
  run();
  await clock.advance(1_000);
  agent.allowRemovals();
  await link.check(stop.signal);
  expect(released()).toEqual(keys);
  await clock.advance(1_000);
  expect(agent.pushes.map(({ header }) => header.kind)).toEqual(['state', 'state']);
});

test('sends the removal to an older agent as intended when all of it is verified', async () => {
  const { agent, clock, link, run } = start((each) => {
    each.isOlderVersion = true;
  });
  run();
  await clock.advance(10_000);
  expect(agent.holds.size).toBe(3);
  expect(link.failure?.message).toBe('too many removals');
  link.judge(verdict(keys.slice(1)));
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(3);
  link.judge(verdict(keys));
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(0);
  expect(link.failure).toBeUndefined();
  expect(agent.pushes.map(({ header }) => header.meansRemoval)).toEqual([true]);
});

test('ignores an incomplete list of the frontends of an older agent', async () => {
  const { agent, clock, link, run } = start((each) => {
    each.isOlderVersion = true;
  });
  const list = agent.counters.bind(agent);
  agent.counters = async (signal) => (await list(signal)).slice(1);
  run();
  await clock.advance(10_000);
  link.judge(verdict(keys));
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(3);
});

test('ends at once when stopped during a request, and not at the next check', async () => {
  const { agent, clock, run } = start();
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

/** Another controller that believes to be the leader pushes a different state. */
async function interfere(agent: MemoryAgent): Promise<void> {
  const generation = agent.generation + 1;
  const whole = { frontends, policies: [], assignments: [], nodes: [] };
  await agent.push(writeState(whole, { generation }), stop.signal);
}

test('resends its state to a gateway with a higher generation', async () => {
  const { agent, clock, link, run } = start();
  agent.mayLose = 3;
  run();
  await clock.advance(1_000);
  const own = agent.generation;
  link.heard({ generation: own });
  link.heard({ generation: own - 1 });
  await clock.advance(1_000);
  expect(agent.pushes).toHaveLength(1);
  await interfere(agent);
  expect(link.confirmed).toBe(own);
  link.heard({ generation: agent.generation });
  expect(link.confirmed).toBe(0);
  await clock.advance(1_000);
  expect(link.confirmed).toBe(own + 2);
  link.judge(verdict(keys));
  await clock.advance(1_000);
  expect(agent.holds.size).toBe(0);
});

test('asks the agent to withhold each removal of a full state, however few they are', async () => {
  const { agent, clock, link, state, run } = start();
  agent.mayLose = 3;
  const [wanted, ...others] = frontends;
  if (wanted !== undefined) state.setService('default/s80', [wanted]);
  run();
  await clock.advance(1_000);
  expect(agent.pushes.map(({ header }) => header.withholdRemovals)).toEqual([true]);
  expect(agent.holds.size).toBe(3);
  link.judge(verdict(others.map(frontendKey)));
  await clock.advance(1_000);
  expect([...agent.holds.keys()]).toEqual(keys.slice(0, 1));
  const pushes = agent.pushes.length;
  state.setService('default/s80', []);
  link.nudge();
  await clock.advance(1_000);
  expect(agent.pushes.slice(pushes).map(({ header }) => header)).toMatchObject([
    { kind: 'delta', withholdRemovals: false },
  ]);
  expect(agent.holds.size).toBe(0);
});

test('sends no such request to an agent of revision 3', async () => {
  const { agent, clock, run } = start((each) => {
    each.revisions = { oldest: 1, newest: 3 };
  });
  agent.mayLose = 3;
  run();
  await clock.advance(1_000);
  expect(agent.pushes.map(({ header }) => header.withholdRemovals)).toEqual([false]);
  expect(agent.holds.size).toBe(0);
});

test('detects in a check that a gateway has lost its confirmed state', async () => {
  const { agent, clock, link, run } = start();
  agent.mayLose = 3;
  run();
  await clock.advance(1_000);
  const before = link.confirmed;
  await link.check(stop.signal);
  expect(link.confirmed).toBe(before);
  await interfere(agent);
  await link.check(stop.signal);
  expect(link.confirmed).toBe(0);
});

test('counts the downtime of a hung gateway from the request, not from its timeout', async () => {
  const { agent, clock, link, run } = start();
  agent.mode = 'hangs';
  run();
  await clock.advance(900);
  expect(link.downForMs).toBeUndefined();
  await clock.advance(29_100);
  expect(link.downForMs).toBe(30_000);
});
