import { CausewayError } from '@causeway/base/error/causeway-error';
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

/** Rejects changes while an operator has frozen the gateway. */
export function refuseFrozen(frozen: { readonly reason: string } | undefined): void {
  if (frozen === undefined) return;
  throw new UpdateRejected('frozen', `this gateway is frozen: ${frozen.reason}`, 'Thaw it first.');
}

/** Rejects changes to a configuration that is not known. */
export function refuseInDoubt(doubt: string | undefined): void {
  if (doubt === undefined) return;
  throw new CausewayError('unavailable', `this gateway waits for an update: ${doubt}`, {
    hint: 'Wait until the controller has sent the full state.',
  });
}
