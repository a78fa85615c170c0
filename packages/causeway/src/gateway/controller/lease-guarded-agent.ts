import type { RemovalConfirmation } from '../protocol/removal-confirmation.ts';
import type { Address } from '@causeway/base/address/address';
import type { Clock } from '@causeway/base/time/clock';
import { withinLease, type LeaseGuard } from '@causeway/base/work/lease-guard';
import { reasonOf, type AgentClient } from './agent-client-contract.ts';

/**
 * The agent for as long as we lead. A leader that was paused and wakes up would otherwise tell the
 * gateway what was true before its successor took over. It does not ask, either: ch-k8s-lbaas's agent
 * can only be asked by telling it everything again.
 */
export function leaseGuardedAgent(
  agent: AgentClient,
  fence: LeaseGuard,
  clock: Clock,
): AgentClient {
  const limited = <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) =>
    withinLease(clock, fence, signal, 'speaking with the agent', work);
  const confirmed = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      // Somebody was faster. Before we go beyond what they said: are we still the one to say something?
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

/** The requests that not every agent knows. */
function optional(
  agent: AgentClient,
  limited: Limited,
  confirmed: Confirmed,
): Pick<AgentClient, 'counters' | 'confirmRemovals'> {
  const counters = agent.counters?.bind(agent);
  const confirmRemovals = agent.confirmRemovals?.bind(agent);
  return {
    ...(counters === undefined
      ? {}
      : { counters: (signal: AbortSignal) => limited(signal, (inner) => counters(inner)) }),
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
