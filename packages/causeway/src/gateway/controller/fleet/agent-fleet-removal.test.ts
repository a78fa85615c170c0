import { afterEach, expect, test, vi } from 'vitest';
import { frontendKey, makeFrontend, type Frontend } from '../../protocol/frontend.ts';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { settled, SimulatedClock } from '@causeway/base/time/simulated-clock';
import { AgentFleet } from './agent-fleet.ts';
import { MemoryAgent } from './testing/memory-agent.ts';
import { followReasons } from './follow-reasons.testing.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';
import type { RemovalVerifier } from './removal-verifier.ts';
import { doubtsAll, verifiesAll } from './removal-verifiers.testing.ts';

// How the fleet verifies the removals that gateways withhold.

const frontend = (service: string, port = 80): Frontend =>
  makeFrontend({
    address: parseAddress('192.0.2.1'),
    protocol: 'TCP',
    port: parsePort(port),
    service: `default/${service}`,
    destinations: [],
  });

let stop = new AbortController();
let ended: Promise<void> | undefined;
let following: Promise<void> | undefined;
afterEach(async () => {
  stop.abort();
  await ended;
  await following;
});

async function start(verifier: RemovalVerifier, ...agents: MemoryAgent[]) {
  stop = new AbortController();
  const clock = new SimulatedClock();
  const reasons = new ReasonQueue();
  const fleet = new AgentFleet({
    agents: new Map(agents.map((agent, index) => [`g${index + 1}`, agent])),
    clock,
    random: seededRandom(1),
    log: discardLog,
    metrics: noMetrics,
    verifier,
    cluster: 'one',
    limitMs: 1_000,
    checkEveryMs: 60_000,
    reasons,
  });
  following = followReasons(reasons, fleet, stop.signal);
  const starting = fleet.start(stop.signal);
  await clock.advance(1_000);
  await starting;
  return { fleet, clock };
}

function run(fleet: AgentFleet): void {
  fleet.complete();
  ended = fleet.run(stop.signal);
}

/**
 * An agent with frontends that this controller does not know. It removes at most one frontend without a
 * confirmation.
 */
function strange(...services: string[]): MemoryAgent {
  const agent = new MemoryAgent();
  agent.mayLose = 1;
  for (const [index, service] of services.entries()) {
    const each = frontend(service, 1_000 + index);
    agent.holds.set(frontendKey(each), each);
  }
  return agent;
}

test('removes frontends without an owner, even if the controller never saw their Services', async () => {
  const [one, two] = [strange('x', 'y', 'z'), strange('x', 'y', 'z')];
  const { fleet, clock } = await start(verifiesAll, one, two);
  const generation = fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await clock.advance(5_000);
  for (const { holds, confirmations, pushes } of [one, two]) {
    expect([...holds.keys()]).toEqual([frontendKey(frontend('a'))]);
    expect(confirmations).toHaveLength(1);
    expect(pushes.every(({ header }) => !header.meansRemoval)).toBe(true);
  }
  expect(fleet.servingSince(generation, [frontend('a')])).toEqual({ kind: 'served' });
  expect(fleet.standings()).toMatchObject([{ isCurrent: true }, { isCurrent: true }]);
});

test('keeps and reports frontends in doubt, and verifies them again after a delay', async () => {
  const agent = strange('x', 'y', 'z');
  const verify = vi.fn(doubtsAll.verify.bind(doubtsAll));
  const { fleet, clock } = await start({ verify }, agent);
  const generation = fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(4);
  expect(agent.confirmations).toEqual([]);
  expect(fleet.servingSince(generation, [frontend('a')])).toEqual({ kind: 'served' });
  expect(fleet.withholding('default/x')).toEqual(['g1']);
  expect(fleet.mayAnnounce(parseAddress('192.0.2.1'))).toEqual(['g1']);
  expect(fleet.standings()).toMatchObject([
    {
      isCurrent: false,
      withheldRemovals: 3,
      complaints: [
        'still serves 3 frontends that the cluster no longer wants; 192.0.2.1:1000/TCP: a Service may have it',
      ],
    },
  ]);
  expect(verify.mock.calls.length).toBeLessThan(7);
});

test("confirms nothing while the API server can't be read", async () => {
  const agent = strange('x', 'y', 'z');
  let isUp = false;
  const verifier: RemovalVerifier = {
    verify: (frontends, signal) =>
      isUp
        ? verifiesAll.verify(frontends, signal)
        : Promise.reject(new CausewayError('unavailable', 'no route')),
  };
  const { fleet, clock } = await start(verifier, agent);
  run(fleet);
  await clock.advance(60_000);
  expect(agent.holds.size).toBe(3);
  expect(fleet.standings()[0]?.complaints[0]).toMatch(/no longer wants; .*: no route$/);
  isUp = true;
  await clock.advance(15_000);
  expect(agent.holds.size).toBe(0);
});

test('removes on all gateways what an operator has allowed on one, and nothing else', async () => {
  const names = ['w', 'x', 'y', 'z'];
  const [allowed, same, more] = [strange(...names), strange(...names), strange(...names, 'more')];
  const { fleet, clock } = await start(doubtsAll, allowed, same, more);
  run(fleet);
  await clock.advance(60_000);
  expect([allowed, same, more].map(({ holds }) => holds.size)).toEqual([4, 4, 5]);
  allowed.allowRemovals();
  await clock.advance(120_000);
  expect([allowed, same, more].map(({ holds }) => holds.size)).toEqual([0, 0, 1]);
});

test('does the same for agents of an older version, which remove all or nothing', async () => {
  const names = ['w', 'x', 'y', 'z'];
  const agents = [strange(...names), strange(...names), strange(...names, 'more')] as const;
  for (const agent of agents) agent.isOlderVersion = true;
  const { fleet, clock } = await start(doubtsAll, ...agents);
  run(fleet);
  await clock.advance(60_000);
  expect(agents.map(({ holds }) => holds.size)).toEqual([4, 4, 5]);
  agents[0].mayLose = Number.POSITIVE_INFINITY;
  await clock.advance(120_000);
  expect(agents.map(({ holds }) => holds.size)).toEqual([0, 0, 5]);
});

test('asks a gateway again after an older state was restored on it', async () => {
  const agent = new MemoryAgent();
  const { fleet, clock } = await start(doubtsAll, agent);
  fleet.setService('default/a', [frontend('a')]);
  run(fleet);
  await settled();
  const old = strange('x', 'y', 'z');
  agent.mayLose = 1;
  for (const [key, each] of old.holds) agent.holds.set(key, each);
  agent.generation = 7;
  await clock.advance(120_000);
  expect(agent.holds.size).toBe(4);
});
