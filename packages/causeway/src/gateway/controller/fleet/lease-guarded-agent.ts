import type { RemovalConfirmation } from '../../protocol/removal-confirmation.ts';
import type { Address } from '@causeway/base/address/address';
import type { Clock } from '@causeway/base/time/clock';
import { withinLease, type LeaseGuard } from '@causeway/base/work/lease-guard';
import { reasonOf, type AgentClient } from './agent-client-contract.ts';

/**
 * An agent client that works only under the lease. Without it, a paused leader could send an outdated state
 * after its successor took over. Queries are covered too: the agent of ch-k8s-lbaas can only be queried by
 * resending the full state.
 */
export function leaseGuardedAgent(
  agent: AgentClient,
  fence: LeaseGuard,
  clock: Clock,
): AgentClient {
  const limited = <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) =>
    withinLease(clock, fence, signal, 'calling the agent', work);
  const confirmed = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      // Another controller was faster. Before this one uses a higher generation, it confirms that it still
      // leads.
      if (isOvertaken(error)) await fence.confirm?.(signal);
      throw error;
    }
  };
  const fenced: AgentClient = {
    status: (signal) => limited(signal, (inner) => agent.status(inner)),
    events: (signal) => agent.events(signal),
    push: (lines: Iterable<string>, signal) =>
      confirmed(signal, () => limited(signal, (inner) => agent.push(lines, inner))),
    sendUnhealthy: (unhealthy: Iterable<Address>, signal) =>
      limited(signal, (inner) => agent.sendUnhealthy(unhealthy, inner)),
  };
  return { ...fenced, ...optional(agent, limited, confirmed) };
}

type Limited = <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
type Confirmed = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** The requests that not every agent supports. */
function optional(
  agent: AgentClient,
  limited: Limited,
  confirmed: Confirmed,
): Pick<AgentClient, 'counters' | 'confirmRemovals' | 'sendRelief' | 'pins'> {
  const counters = agent.counters?.bind(agent);
  const confirmRemovals = agent.confirmRemovals?.bind(agent);
  const sendRelief = agent.sendRelief?.bind(agent);
  const { pins } = agent;
  return {
    ...(pins === undefined
      ? {}
      : {
          pins: {
            prepare: (lines, signal) => limited(signal, (inner) => pins.prepare(lines, inner)),
            collect: (since, signal) => limited(signal, (inner) => pins.collect(since, inner)),
            send: (each, signal) => limited(signal, (inner) => pins.send(each, inner)),
          },
        }),
    ...(counters === undefined
      ? {}
      : { counters: (signal: AbortSignal) => limited(signal, (inner) => counters(inner)) }),
    ...(sendRelief === undefined
      ? {}
      : {
          sendRelief: (isAvailable: boolean, signal: AbortSignal) =>
            limited(signal, (inner) => sendRelief(isAvailable, inner)),
        }),
    ...(confirmRemovals === undefined
      ? {}
      : {
          confirmRemovals: (removals: RemovalConfirmation, signal: AbortSignal) =>
            confirmed(signal, () => limited(signal, (inner) => confirmRemovals(removals, inner))),
        }),
  };
}

function isOvertaken(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason === 'stale' || reason === 'base-mismatch';
}
