import type { GatewayState } from '../store/state.ts';
import { UpdateRejected } from './admit.ts';

/** Rejects a confirmation that was verified against another generation or for another cluster. */
export function refuseOtherState(
  state: GatewayState,
  generation: number,
  cluster: string | undefined,
): void {
  if (generation !== state.generation) {
    throw new UpdateRejected(
      'base-mismatch',
      `the removals were verified against generation ${generation}, but ${state.generation} is served`,
      'Read the status and verify the removals that it lists.',
    );
  }
  if (state.cluster !== undefined && cluster !== state.cluster) {
    throw new UpdateRejected(
      'another-cluster',
      `the frontends belong to the cluster ${state.cluster}, but the controller is of ${cluster ?? 'no cluster'}`,
      'To remove them, run `causeway agent allow-removal` on the gateway.',
    );
  }
}
