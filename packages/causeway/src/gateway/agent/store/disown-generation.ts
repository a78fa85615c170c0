import { emptyState } from './state.ts';
import type { Stored } from './read-steps.ts';

/**
 * Lowers the generation by one, and forgets undo steps. The controller sees a generation that it did not
 * confirm and sends the full state, also if the newest step was not among the lost ones.
 */
export function disownGeneration({ holder, undo }: Stored): void {
  const generation = Math.max(0, holder.current.generation - 1);
  holder.commit({ ...emptyState, generation });
  undo.length = 0;
}
