import { afterEach, expect, test } from 'vitest';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { settled, SimulatedClock } from '@causeway/base/time/simulated-clock';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { makeFrontend } from '../../protocol/frontend.ts';
import { AgentFleet } from './agent-fleet.ts';
import type { GatewayStanding } from './gateway-standing.ts';
import { MemoryAgent } from './testing/memory-agent.ts';
import { followReasons } from './follow-reasons.testing.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';
import { doubtsAll } from './removal-verifiers.testing.ts';

const checkEveryMs = 300_000;
let stop = new AbortController();
let ended: Promise<void> | undefined;
let following: Promise<void> | undefined;
afterEach(async () => {
  stop.abort();
  await ended;
  await following;
});

/** Starts a fleet with one gateway. `shown` returns the state of the gateway at its last publication. */
async function follow(agent: MemoryAgent, ...others: MemoryAgent[]) {
  stop = new AbortController();
  let shown: GatewayStanding | undefined;
  const clock = new SimulatedClock();
  const reasons = new ReasonQueue();
  const fleet = new AgentFleet({
    agents: new Map([agent, ...others].map((each, index) => [`g${index + 1}`, each])),
    ...{ clock, random: seededRandom(1), log: discardLog, metrics: noMetrics },
    ...{ limitMs: 1_000, checkEveryMs, verifier: doubtsAll },
    reasons,
  });
  following = followReasons(reasons, fleet, stop.signal, ({ actions }) => {
    if (actions.has('publish-gateways')) [shown] = fleet.standings();
  });
  await fleet.start(stop.signal);
  fleet.complete();
  ended = fleet.run(stop.signal);
  await settled();
  return { clock, fleet, shown: () => shown };
}

test("follows a gateway's status without waiting for the next check", async () => {
  const agent = new MemoryAgent();
  const { clock, shown } = await follow(agent);
  expect(shown()).toMatchObject({ role: 'standby', complaints: [] });
  agent.role = 'unable';
  agent.alarms = ['link-down: ext is down'];
  agent.sendStatus();
  await settled();
  expect(shown()).toMatchObject({ role: 'unable', complaints: ['link-down: ext is down'] });

  agent.mode = 'fails';
  agent.sendStatus();
  await clock.advance(1_000);
  expect(shown()).toMatchObject({ failure: 'no route', isActive: false });
  agent.mode = 'works';
  await clock.advance(20_000);
  expect(shown()).toMatchObject({ failure: undefined, role: 'unable' });
});

test('reports the Services that a gateway rejects or has not confirmed', async () => {
  const agent = new MemoryAgent();
  const { clock, fleet } = await follow(agent);
  const frontend = (service: string, port: number) =>
    makeFrontend({
      address: parseAddress('192.0.2.1'),
      protocol: 'TCP',
      port: parsePort(port),
      service,
      destinations: [],
    });
  agent.dislikes.add('192.0.2.1:80/TCP');
  fleet.setService('shop/web', [frontend('shop/web', 80)]);
  await settled();
  expect(fleet.report().gateways).toMatchObject([
    {
      rejected: {
        total: 1,
        services: [{ service: 'shop/web', message: 'TCP/80: rejected by the test' }],
      },
      unconfirmed: undefined,
    },
  ]);
  agent.isFrozen = true;
  fleet.setService('shop/api', [frontend('shop/api', 81)]);
  await settled();
  expect(fleet.report().gateways[0]?.unconfirmed).toMatchObject({ services: ['shop/api'] });
  await clock.advance(6_000);
  const [report] = fleet.report().gateways;
  expect(report).toMatchObject({ role: 'standby', unconfirmed: { total: 1, forMs: 6_000 } });
  expect(report?.downForMs).toBeGreaterThan(0);
});

test('says to a gateway that alone is cut off that another one can serve, while that is so', async () => {
  const [one, two] = [new MemoryAgent(), new MemoryAgent()];
  await follow(one, two);
  const alarms = ['cut-off: no backend answers this gateway over IPv4'];
  const becomes = async (agent: MemoryAgent, raised: readonly string[]) => {
    agent.alarms = raised;
    agent.sendStatus();
    await settled();
  };
  expect([one.relief, two.relief]).toEqual([undefined, undefined]);
  await becomes(one, alarms);
  expect([one.relief, two.relief]).toEqual([true, undefined]);
  await becomes(two, alarms);
  expect([one.relief, two.relief]).toEqual([false, undefined]);
  await becomes(one, []);
  expect([one.relief, two.relief]).toEqual([false, true]);
  await becomes(two, []);
  expect([one.relief, two.relief]).toEqual([false, false]);
});

test('sends the full state at once to a gateway that restarts with an older state file', async () => {
  const agent = new MemoryAgent();
  const { clock } = await follow(agent);
  const pushed = agent.generation;
  expect(agent.pushes).toHaveLength(1);
  agent.mode = 'fails';
  agent.sendStatus();
  await clock.advance(1_000);
  agent.generation = 1;
  agent.mode = 'works';
  await clock.advance(20_000);
  expect(agent.generation).toBe(pushed);
  expect(agent.pushes.map(({ header }) => header.kind)).toEqual(['state', 'state']);
});

test('gateways with different seeds are a problem of each, until the seeds are equal', async () => {
  const [first, second] = [new MemoryAgent(), new MemoryAgent()];
  first.seed = 'a1';
  second.seed = 'b2';
  const { shown } = await follow(first, second);
  expect(shown()?.complaints.join()).toContain('different-seeds: ');
  second.seed = 'a1';
  second.sendStatus();
  await settled();
  expect(shown()?.complaints).toEqual([]);
});
