import type { Address } from '../../domain/address.ts';
import type { Clock } from '../../runtime/clock.ts';
import { withinFence, type WriteFence } from '../../runtime/write-fence.ts';
import type { AgentPort } from './agent-link.ts';

/**
 * The agent for as long as we lead. A leader that was paused and wakes up would otherwise tell the
 * gateway what was true before its successor took over. It does not ask, either: ch-k8s-lbaas's agent
 * can only be asked by telling it everything again.
 */
export function fencedAgent(agent: AgentPort, fence: WriteFence, clock: Clock): AgentPort {
  const limited = <T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>) =>
    withinFence(clock, fence, signal, 'speaking with the agent', work);
  const fenced: AgentPort = {
    status: (signal) => limited(signal, (inner) => agent.status(inner)),
    events: (signal) => agent.events(signal),
    push: async (lines: Iterable<string>, signal) => {
      try {
        return await limited(signal, (inner) => agent.push(lines, inner));
      } catch (error) {
        // Somebody was faster. Before we go beyond what they said: are we still the one to say something?
        if (isOvertaken(error)) await fence.confirm?.(signal);
        throw error;
      }
    },
    handSilent: (silent: Iterable<Address>, signal) =>
      limited(signal, (inner) => agent.handSilent(silent, inner)),
  };
  if (agent.counters === undefined) return fenced;
  const none = Promise.resolve([]);
  const counters: AgentPort['counters'] = (signal) =>
    limited(signal, (inner) => agent.counters?.(inner) ?? none);
  return { ...fenced, counters };
}

/** By its own word, over the wire and in memory. */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof Error && 'reason' in error)) return false;
  return error.reason === 'stale' || error.reason === 'base-mismatch';
}
