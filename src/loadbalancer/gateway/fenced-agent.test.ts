import { expect, test } from 'vitest';
import { CausewayError } from '../../domain/error.ts';
import { SimulatedClock } from '../../runtime/simulated-clock.ts';
import type { AgentPort } from './agent-link.ts';
import { fencedAgent } from './fenced-agent.ts';
import { MemoryAgent } from './memory-agent.ts';

const signal = new AbortController().signal;

test('who no longer leads tells a gateway nothing, and may still ask', async () => {
  const told: string[] = [];
  const memory = new MemoryAgent();
  const agent: AgentPort = {
    status: (inner) => memory.status(inner),
    events: (inner) => memory.events(inner),
    push: () => Promise.reject(new Error('it was told')),
    handSilent: (silent) => {
      told.push(...silent);
      return Promise.resolve();
    },
  };
  let isLeader = true;
  const remainingMs = () => {
    if (isLeader) return 1_000;
    throw new CausewayError('aborted', 'the lease is lost');
  };
  const fenced = fencedAgent(agent, { remainingMs }, new SimulatedClock());
  await expect(fenced.push([], signal)).rejects.toThrow('it was told');
  await fenced.handSilent([], signal);
  isLeader = false;
  await expect(fenced.push([], signal)).rejects.toThrow('the lease is lost');
  await expect(fenced.handSilent([], signal)).rejects.toThrow('the lease is lost');
  expect((await fenced.status(signal)).generation).toBe(0);
});
