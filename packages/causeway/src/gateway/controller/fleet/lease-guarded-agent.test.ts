import { expect, test } from 'vitest';
import { UpdateRejected } from '../../agent/apply/admit.ts';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { AgentFleet } from './agent-fleet.ts';
import type { AgentClient } from './agent-client-contract.ts';
import { leaseGuardedAgent } from './lease-guarded-agent.ts';
import { MemoryAgent } from './testing/memory-agent.ts';
import { followReasons } from './follow-reasons.testing.ts';
import { ReasonQueue } from '../reasons/reason-queue.ts';
import { doubtsAll } from './removal-verifiers.testing.ts';

const signal = new AbortController().signal;

test('sends nothing to a gateway after losing the lease, not even a query', async () => {
  const sent: string[] = [];
  const memory = new MemoryAgent();
  const agent: AgentClient = {
    status: (inner) => memory.status(inner),
    events: (inner) => memory.events(inner),
    push: () => Promise.reject(new Error('it was called')),
    sendUnhealthy: (unhealthy) => {
      sent.push(...unhealthy);
      return Promise.resolve();
    },
  };
  let isLeader = true;
  const remainingMs = () => {
    if (isLeader) return 1_000;
    throw new CausewayError('aborted', 'the lease is lost');
  };
  const fenced = leaseGuardedAgent(agent, { remainingMs }, new SimulatedClock());
  await expect(fenced.push([], signal)).rejects.toThrow('it was called');
  await fenced.sendUnhealthy([], signal);
  expect((await fenced.status(signal)).generation).toBe(0);
  isLeader = false;
  await expect(fenced.push([], signal)).rejects.toThrow('the lease is lost');
  await expect(fenced.sendUnhealthy([], signal)).rejects.toThrow('the lease is lost');
  await expect(fenced.status(signal)).rejects.toThrow('the lease is lost');
});

test('sends the optional requests under the lease, too', async () => {
  const remainingMs = () => 1_000;
  const memory = new MemoryAgent();
  const fenced = leaseGuardedAgent(memory, { remainingMs }, new SimulatedClock());
  expect(await fenced.counters?.(signal)).toEqual([]);
  const older: AgentClient = {
    status: (inner) => memory.status(inner),
    events: (inner) => memory.events(inner),
    push: (lines, inner) => memory.push(lines, inner),
    sendUnhealthy: (unhealthy, inner) => memory.sendUnhealthy(unhealthy, inner),
  };
  expect(leaseGuardedAgent(older, { remainingMs }, new SimulatedClock())).not.toHaveProperty(
    'counters',
  );
});

test('retries with a delay after losing the lease', async () => {
  const clock = new SimulatedClock();
  let tries = 0;
  const remainingMs = (): number => {
    tries += 1;
    throw new CausewayError('aborted', 'the lease is lost');
  };
  const stop = new AbortController();
  const reasons = new ReasonQueue();
  const fleet = new AgentFleet({
    verifier: doubtsAll,
    agents: new Map([['g1', leaseGuardedAgent(new MemoryAgent(), { remainingMs }, clock)]]),
    clock,
    random: seededRandom(1),
    log: discardLog,
    metrics: noMetrics,
    limitMs: 1_000,
    checkEveryMs: 60_000,
    reasons,
  });
  const following = followReasons(reasons, fleet, stop.signal);
  await fleet.start(stop.signal);
  fleet.complete();
  const running = fleet.run(stop.signal);
  await clock.advance(10_000);
  expect(tries).toBeLessThan(40);
  stop.abort();
  await running;
  await following;
});

test.each(['stale', 'base-mismatch'] as const)(
  'after a rejection as %s, confirms its lease before it uses a higher generation',
  async (reason) => {
    const agent = new MemoryAgent();
    agent.push = () =>
      Promise.reject(new UpdateRejected(reason, 'not newer', 'Send a larger one.'));
    let isLeader = true;
    const fence = {
      remainingMs: () => 1_000,
      confirm: () =>
        isLeader ? Promise.resolve() : Promise.reject(new CausewayError('gone', 'another leads')),
    };
    const fenced = leaseGuardedAgent(agent, fence, new SimulatedClock());
    await expect(fenced.push([], signal)).rejects.toThrow('not newer');
    isLeader = false;
    await expect(fenced.push([], signal)).rejects.toThrow('another leads');
  },
);
