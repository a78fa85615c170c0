import type { AgentFleet } from './agent-fleet.ts';
import { decideWork, type Work } from '../reasons/decide-work.ts';
import type { ReasonQueue } from '../reasons/reason-queue.ts';

/** Does the fleet's part of the gateway loop until the signal fires. `also` gets the same work. */
export async function followReasons(
  reasons: ReasonQueue,
  fleet: AgentFleet,
  signal: AbortSignal,
  also: (work: Work) => void = () => {},
): Promise<void> {
  while (!signal.aborted) {
    await reasons.next(signal);
    const work = decideWork(reasons.take());
    fleet.apply(work);
    also(work);
  }
}
